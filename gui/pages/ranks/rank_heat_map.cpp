#include "gui/pages/ranks/rank_heat_map.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/base/text.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kMapHeight = 176;
constexpr int kLowestRow = 3;
constexpr int kHighestRow = 26;
constexpr int kNamedRow = 13;  // lower ones have no room for text
constexpr int kLegendHeight = 22;
constexpr int kLegendBar = 120;
constexpr int kTextWidth = 62;  // of a cell that has room for its value
constexpr int kLonger = 1;      // series colours: vermilion,
constexpr int kShorter = 0;     // and blue

QColor mix(const QColor& from, const QColor& to, double share) {
  const auto of = [&](int a, int b) { return static_cast<int>(std::lround(a + share * (b - a))); };
  return {of(from.red(), to.red()), of(from.green(), to.green()), of(from.blue(), to.blue())};
}

QString duration(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

RankHeatMap::RankHeatMap(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("rank_heat_map"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  describe();
}

void RankHeatMap::set_grid(RankGrid grid) {
  grid_ = std::move(grid);
  row_ = step_ = 0;
  if (const auto worst = grid_.worst(value_)) std::tie(row_, step_) = *worst;
  largest_ = grid_.largest(value_);
  label_width_ = 0;
  for (const RankGridRow& row : grid_.rows)
    label_width_ = std::max(label_width_, fontMetrics().horizontalAdvance(row.label) + 16);
  updateGeometry();
  describe();
  update();
  Q_EMIT current_changed();
}

void RankHeatMap::set_value(GridValue value) {
  value_ = value;
  set_grid(std::move(grid_));
}

void RankHeatMap::set_current(std::size_t row, std::size_t step) {
  if (!has_cells()) return;
  row_ = std::min(row, grid_.rows.size() - 1);
  step_ = std::min(step, grid_.steps - 1);
  describe();
  update();
  Q_EMIT current_changed();
}

QString RankHeatMap::current_text() const { return has_cells() ? grid_.text(value_, row_, step_) : QString(); }

// Whoever cannot see the map hears its size, its worst cell and the current one.
void RankHeatMap::describe() {
  setAccessibleName(value_ == GridValue::kDelay
                        ? QStringLiteral("Heat map: how long the others wait for a rank, by step")
                        : QStringLiteral("Heat map: how much longer a rank's step takes, by step"));
  QString text = QStringLiteral("%1 rows, %2 steps").arg(grid_.rows.size()).arg(grid_.steps);
  if (const auto worst = grid_.worst(value_))
    text += QStringLiteral(". Most: ") + grid_.text(value_, worst->first, worst->second);
  if (has_cells()) text += QStringLiteral(". Here: ") + current_text();
  setAccessibleDescription(text);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
}

int RankHeatMap::row_height() const {
  const int rows = std::max(1, static_cast<int>(grid_.rows.size()));
  return std::clamp(kMapHeight / rows, kLowestRow, kHighestRow);
}

QSize RankHeatMap::sizeHint() const {
  return {400, kLegendHeight + std::max(1, static_cast<int>(grid_.rows.size())) * row_height() + 4};
}

QRect RankHeatMap::cells_rect() const {
  return {label_width_, kLegendHeight, std::max(1, width() - label_width_ - 4),
          static_cast<int>(grid_.rows.size()) * row_height()};
}

QRect RankHeatMap::cell_rect(std::size_t row, std::size_t step) const {
  const QRect all = cells_rect();
  const auto x_of = [&](std::size_t at) {
    return all.left() + static_cast<int>(static_cast<double>(all.width()) * static_cast<double>(at) /
                                         static_cast<double>(std::max<std::size_t>(1, grid_.steps)));
  };
  return {x_of(step), all.top() + static_cast<int>(row) * row_height(), std::max(1, x_of(step + 1) - x_of(step)),
          row_height()};
}

std::optional<std::pair<std::size_t, std::size_t>> RankHeatMap::cell_at(QPoint position) const {
  const QRect all = cells_rect();
  if (!has_cells() || !all.contains(position)) return std::nullopt;
  const double share = static_cast<double>(position.x() - all.left()) / all.width();
  return std::pair(static_cast<std::size_t>((position.y() - all.top()) / row_height()),
                   std::min(grid_.steps - 1, static_cast<std::size_t>(share * static_cast<double>(grid_.steps))));
}

// From the background to vermilion for what is above 0, to blue for what is below.
QColor RankHeatMap::color_of(std::int64_t value) const {
  const double share = largest_ == 0 ? 0 : static_cast<double>(std::abs(value)) / static_cast<double>(largest_);
  return mix(colors_of(palette()).grid, series_color(value < 0 ? kShorter : kLonger, palette()), std::sqrt(share));
}

void RankHeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (!has_cells()) return;
  for (std::size_t row = 0; row < grid_.rows.size(); ++row)
    paint_row(painter, row);
  paint_labels(painter);
  paint_legend(painter);
  const QRectF current = QRectF(cell_rect(row_, step_)).adjusted(0.5, 0.5, -1.5, -1.5);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette().color(QPalette::Base), 4));
  painter.drawRect(current.adjusted(-1, -1, 1, 1));
  painter.setPen(QPen(colors_of(palette()).selection, 2));
  painter.drawRect(current.adjusted(-1, -1, 1, 1));
  if (!hasFocus()) return;
  painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

// Each step, or each pixel where there are more steps than pixels: then the largest of the steps that begin in it.
void RankHeatMap::paint_row(QPainter& painter, std::size_t row) {
  const QRect all = cells_rect();
  const int gap = row_height() > kNamedRow ? 1 : 0;
  const auto pixels = static_cast<std::size_t>(all.width());
  if (grid_.steps <= pixels) {
    for (std::size_t step = 0; step < grid_.steps; ++step) {
      const QRect place = cell_rect(row, step).adjusted(0, 0, 0, -gap);
      if (const auto value = grid_.value(value_, row, step))
        paint_cell(painter, place.width() > 4 ? place.adjusted(0, 0, -gap, 0) : place, *value);
    }
    return;
  }
  const auto first_of = [&](std::size_t pixel) { return (pixel * grid_.steps + pixels - 1) / pixels; };
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    std::optional<std::int64_t> most;
    for (std::size_t step = first_of(pixel); step < first_of(pixel + 1); ++step) {
      const auto value = grid_.value(value_, row, step);
      if (value && (!most || std::abs(*value) > std::abs(*most))) most = value;
    }
    const QRect place(all.left() + static_cast<int>(pixel), cell_rect(row, 0).top(), 1, row_height() - gap);
    if (most) paint_cell(painter, place, *most);
  }
}

void RankHeatMap::paint_cell(QPainter& painter, const QRect& cell, std::int64_t value) {
  painter.fillRect(cell, color_of(value));
  if (value == 0 || cell.width() < kTextWidth || cell.height() < kNamedRow) return;
  painter.setPen(text_on(color_of(value)));
  painter.drawText(cell, Qt::AlignCenter, duration(value));
}

void RankHeatMap::paint_labels(QPainter& painter) {
  // Of many rows as many as have room.
  const int every = std::max(1, (fontMetrics().height() + row_height() - 1) / row_height());
  painter.setPen(palette().color(QPalette::WindowText));
  for (std::size_t row = 0; row < grid_.rows.size(); row += static_cast<std::size_t>(every)) {
    const QRect place(8, cell_rect(row, 0).top(), label_width_ - 12, every * row_height());
    const Qt::Alignment alignment = Qt::AlignLeft | (every > 1 ? Qt::AlignTop : Qt::AlignVCenter);
    painter.drawText(place, static_cast<int>(alignment), grid_.rows[row].label);
  }
}

void RankHeatMap::paint_legend(QPainter& painter) {
  const QRect line(label_width_, 0, width() - label_width_ - 4, kLegendHeight);
  painter.setPen(colors_of(palette()).muted);
  const std::int64_t last = grid_.first_step + static_cast<std::int64_t>(grid_.steps) - 1;
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   QStringLiteral("steps %1 to %2").arg(grid_.first_step).arg(last));
  const QString most = duration(largest_);
  const QString least = value_ == GridValue::kDelay ? QStringLiteral("0") : duration(-largest_);
  const int most_width = fontMetrics().horizontalAdvance(most);
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, most);
  const QRect bar(line.right() - most_width - 8 - kLegendBar, 6, kLegendBar, kLegendHeight - 12);
  for (int x = 0; x < bar.width(); ++x) {
    const double share = static_cast<double>(x) / (bar.width() - 1);
    const double value = value_ == GridValue::kDelay ? share : 2 * share - 1;
    painter.fillRect(bar.left() + x, bar.top(), 1, bar.height(),
                     color_of(std::llround(value * static_cast<double>(largest_))));
  }
  painter.drawText(QRect(line.left(), 0, bar.left() - line.left() - 6, kLegendHeight),
                   Qt::AlignRight | Qt::AlignVCenter, least);
}

bool RankHeatMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<const QHelpEvent*>(event);
  if (const auto cell = cell_at(help->pos())) {
    QToolTip::showText(help->globalPos(), tooltip_of(grid_.text(value_, cell->first, cell->second)), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void RankHeatMap::keyPressEvent(QKeyEvent* event) {
  if (!has_cells()) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      return set_current(row_, step_ == 0 ? 0 : step_ - 1);
    case Qt::Key_Right:
      return set_current(row_, step_ + 1);
    case Qt::Key_Up:
      return set_current(row_ == 0 ? 0 : row_ - 1, step_);
    case Qt::Key_Down:
      return set_current(row_ + 1, step_);
    case Qt::Key_Home:
      return set_current(row_, 0);
    case Qt::Key_End:
      return set_current(row_, grid_.steps - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT activated(row_, step_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void RankHeatMap::mousePressEvent(QMouseEvent* event) {
  if (const auto cell = cell_at(event->pos())) set_current(cell->first, cell->second);
}

void RankHeatMap::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto cell = cell_at(event->pos())) Q_EMIT activated(cell->first, cell->second);
}

}  // namespace swinscope::gui
