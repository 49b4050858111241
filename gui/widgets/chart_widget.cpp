#include "gui/widgets/chart_widget.h"

#include <QAccessible>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QHelpEvent>
#include <QMenu>
#include <QPainter>
#include <QStatusTipEvent>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analyzer/table/svg.h"
#include "gui/core/tool_tip.h"
#include "gui/core/write_whole.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/file_dialogs.h"
#include "gui/widgets/png.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr std::array<Qt::BrushStyle, 4> kPatterns = {Qt::NoBrush, Qt::BDiagPattern, Qt::FDiagPattern, Qt::HorPattern};
constexpr double kReach = 6;  // pixels from a mark that still point at it

QFont chart_font(bool is_title) {
  QFont font;
  font.setPixelSize(static_cast<int>(kChartFontSize));
  font.setWeight(is_title ? QFont::DemiBold : QFont::Normal);
  return font;
}

QPen pen_of(const Mark& mark, const QPalette& palette) {
  const Colors colors = colors_of(palette);
  switch (mark.role) {
    case MarkRole::kGrid:
      return QPen(colors.grid, 1);
    case MarkRole::kReference:
      return QPen(colors.muted, 1.5, Qt::DashLine);
    case MarkRole::kSeries:
      return QPen(series_color(mark.series, palette), 2);
    case MarkRole::kAxis:
      return QPen(colors.muted, 1);
    case MarkRole::kOnSeries:
      return QPen(palette.color(QPalette::Base), 2);
    case MarkRole::kError:
    case MarkRole::kText:
    case MarkRole::kTitle:
    case MarkRole::kReach:
      break;
  }
  return QPen(colors.ink, 1);
}

void draw_text(QPainter& painter, const Mark& mark, const QPalette& palette) {
  painter.save();
  painter.setFont(chart_font(mark.role == MarkRole::kTitle));
  painter.setPen(colors_of(palette).ink);
  painter.translate(mark.x, mark.y);
  if (mark.y2 != 0) painter.rotate(-90);
  const QString text = QString::fromStdString(mark.text);
  const double width = painter.fontMetrics().horizontalAdvance(text);
  const double shift = mark.anchor == Anchor::kStart ? 0 : mark.anchor == Anchor::kMiddle ? width / 2 : width;
  painter.drawText(QPointF(-shift, 0), text);
  painter.restore();
}

void draw_rectangle(QPainter& painter, const Mark& mark, const QPalette& palette) {
  const QRectF place(QPointF(mark.x, mark.y), QPointF(mark.x2, mark.y2));
  QColor color = pen_of(mark, palette).color();
  color.setAlphaF(static_cast<float>(mark.shade));
  if (mark.is_hollow) {
    painter.setPen(QPen(color, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(place);
    return;
  }
  painter.fillRect(place, color);
  const Qt::BrushStyle pattern = kPatterns[static_cast<std::size_t>(mark.series) % kPatterns.size()];
  if (mark.role == MarkRole::kSeries && pattern != Qt::NoBrush && mark.shade >= 1)
    painter.fillRect(place, QBrush(QColor(255, 255, 255, 165), pattern));
}

void draw_mark(QPainter& painter, const Mark& mark, const QPalette& palette) {
  if (mark.role == MarkRole::kReach) return;
  const QPen pen = pen_of(mark, palette);
  switch (mark.shape) {
    case MarkShape::kLine:
      painter.setPen(pen);
      painter.drawLine(QPointF(mark.x, mark.y), QPointF(mark.x2, mark.y2));
      return;
    case MarkShape::kCircle:
      painter.setPen(pen);
      painter.setBrush(mark.is_hollow ? QBrush(Qt::NoBrush) : QBrush(pen.color()));
      painter.drawEllipse(QPointF(mark.x, mark.y), mark.x2, mark.x2);
      return;
    case MarkShape::kRect:
      draw_rectangle(painter, mark, palette);
      return;
    case MarkShape::kText:
      draw_text(painter, mark, palette);
  }
}

bool is_at(const Mark& mark, QPointF position) {
  if (mark.text.empty() || mark.role == MarkRole::kText || mark.role == MarkRole::kTitle) return false;
  if (mark.shape == MarkShape::kCircle)
    return std::hypot(position.x() - mark.x, position.y() - mark.y) <= mark.x2 + kReach;
  return mark.shape == MarkShape::kRect &&
         QRectF(QPointF(mark.x, mark.y), QPointF(mark.x2, mark.y2)).contains(position);
}

}  // namespace

void draw_chart(QPainter& painter, const ChartLayout& layout, const QPalette& palette) {
  painter.setRenderHint(QPainter::Antialiasing);
  for (const Mark& mark : layout.marks)
    draw_mark(painter, mark, palette);
}

ChartWidget::ChartWidget(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ChartWidget::set_chart(Chart chart) {
  chart_ = std::move(chart);
  current_ = -1;
  setAccessibleName(QString::fromStdString(chart_.title));
  setAccessibleDescription(QString::fromStdString(chart_.description));
  lay_out_again();
}

void ChartWidget::lay_out_again() {
  layout_ = chart_.categories.empty() && chart_.points.empty() ? ChartLayout() : lay_out(chart_, width(), height());
  update();
}

void ChartWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  draw_chart(painter, layout_, palette());
  if (hasFocus()) {
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
}

void ChartWidget::resizeEvent(QResizeEvent*) { lay_out_again(); }

const Mark* ChartWidget::mark_at(QPointF position) const {
  const auto& marks = layout_.marks;
  const auto found =
      std::find_if(marks.rbegin(), marks.rend(), [&](const Mark& mark) { return is_at(mark, position); });
  return found == marks.rend() ? nullptr : &*found;
}

QString ChartWidget::text_at(QPointF position) const {
  const Mark* mark = mark_at(position);
  return mark == nullptr ? QString() : QString::fromStdString(mark->text);
}

// The one whose label is nearest.
int ChartWidget::category_at(QPointF position) const {
  int nearest = -1;
  double distance = std::numeric_limits<double>::max();
  for (const Mark& mark : layout_.marks) {
    if (mark.shape != MarkShape::kText || mark.anchor != Anchor::kMiddle || mark.y2 != 0) continue;
    const auto category = std::find(chart_.categories.begin(), chart_.categories.end(), mark.text);
    if (category == chart_.categories.end() || std::abs(mark.x - position.x()) >= distance) continue;
    distance = std::abs(mark.x - position.x());
    nearest = static_cast<int>(category - chart_.categories.begin());
  }
  return nearest;
}

bool ChartWidget::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tooltip_of(text_at(help->pos())), this);
    return true;
  }
  return QWidget::event(event);
}

void ChartWidget::mouseMoveEvent(QMouseEvent* event) {
  setCursor(mark_at(event->position()) == nullptr ? Qt::ArrowCursor : Qt::PointingHandCursor);
}

void ChartWidget::mouseReleaseEvent(QMouseEvent* event) {
  const Mark* mark = mark_at(event->position());
  if (event->button() != Qt::LeftButton || mark == nullptr) return;
  const int series = mark->role == MarkRole::kSeries ? mark->series : -1;
  const int category = mark->category >= 0 ? mark->category : category_at(event->position());
  if (category >= 0) Q_EMIT category_activated(category, series);
}

void ChartWidget::keyPressEvent(QKeyEvent* event) {
  const int count = static_cast<int>(chart_.categories.size());
  const bool has_rows = chart_.kind == ChartKind::kWaterfall;
  const bool is_next = event->key() == Qt::Key_Right || (has_rows && event->key() == Qt::Key_Down);
  const bool is_previous = event->key() == Qt::Key_Left || (has_rows && event->key() == Qt::Key_Up);
  if (is_next && current_ + 1 < count) {
    ++current_;
    announce();
  } else if (is_previous && current_ > 0) {
    --current_;
    announce();
  } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && current_ >= 0) {
    Q_EMIT category_activated(current_, -1);
  } else {
    QWidget::keyPressEvent(event);
  }
}

// Says the values at the current category, for those who use the keyboard or a screen reader.
void ChartWidget::announce() {
  const auto at = static_cast<std::size_t>(current_);
  QString text = QString::fromStdString(chart_.categories[at]);
  for (const Series& series : chart_.series) {
    if (at >= series.values.size() || !series.values[at]) continue;
    text += QStringLiteral("\n%1: %2").arg(QString::fromStdString(series.name)).arg(*series.values[at], 0, 'g', 4);
  }
  QToolTip::showText(mapToGlobal(rect().center()), tooltip_of(text), this);
  setAccessibleDescription(text);
}

void ChartWidget::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(QStringLiteral("Save as &PNG…"), this, [this] { save(QStringLiteral("png")); });
  menu.addAction(QStringLiteral("Save as &SVG…"), this, [this] { save(QStringLiteral("svg")); });
  menu.exec(event->globalPos());
}

void ChartWidget::save(const QString& suffix) {
  const QString title = QString::fromStdString(chart_.title).replace(QLatin1Char('/'), QLatin1Char('-'));
  const QString name = ask_where_to_save(this, QStringLiteral("Save the chart"), title + QLatin1Char('.') + suffix,
                                         QStringLiteral("Images (*.%1)").arg(suffix));
  if (name.isEmpty()) return;
  const QByteArray content =
      suffix == QLatin1String("png") ? png_of(*this) : QByteArray::fromStdString(svg_file(chart_, width(), height()));
  if (const auto problem = write_whole(name, content)) {
    Banner::show_in(*window(), *problem);
    return;
  }
  QStatusTipEvent wrote(QStringLiteral("wrote %1").arg(name));  // the window around takes it for its status bar
  QCoreApplication::sendEvent(this, &wrote);
}

}  // namespace swinscope::gui
