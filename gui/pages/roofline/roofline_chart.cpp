#include "gui/pages/roofline/roofline_chart.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>

#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kLeft = 64;
constexpr int kTop = 24;
constexpr int kRight = 16;
constexpr int kBottom = 40;
constexpr int kOpaque = 150;  // of 255: dots that lie over each other are all seen

constexpr std::array kSeries = {"products", "attention", "other"};
// Of kSeries.
int series_of(const std::string& operation) {
  if (operation == "gemm" || operation == "conv") return 0;
  return operation == "attention" ? 1 : 2;
}

}  // namespace

RooflineChart::RooflineChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("roofline_chart"));
  setFocusPolicy(Qt::StrongFocus);
  describe();
}

void RooflineChart::set_roofline(Roofline roofline, const QString& unit) {
  unit_ = unit;
  current_ = 0;
  lay_out(std::move(roofline));
  describe();
  Q_EMIT current_changed();
}

void RooflineChart::lay_out(Roofline roofline) {
  plot_ = RooflinePlot(std::move(roofline), QRectF(kLeft, kTop, std::max(1, width() - kLeft - kRight),
                                                   std::max(1, height() - kTop - kBottom)));
  update();
}

void RooflineChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  lay_out(plot_.roofline());
}

std::optional<std::size_t> RooflineChart::current_point() const {
  return current_ < plot_.dots().size() ? std::optional(plot_.dots()[current_].point) : std::nullopt;
}

void RooflineChart::set_current_point(std::size_t point) {
  const auto dot = std::ranges::find(plot_.dots(), point, &RooflineDot::point);
  if (dot != plot_.dots().end()) set_current(static_cast<std::size_t>(dot - plot_.dots().begin()));
}

void RooflineChart::set_current(std::size_t dot) {
  if (dot >= plot_.dots().size() || dot == current_) return;
  current_ = dot;
  describe();
  update();
  Q_EMIT current_changed();
}

QString RooflineChart::current_text() const {
  const auto point = current_point();
  return point ? text_of(plot_.roofline().points[*point], unit_) : QString();
}

void RooflineChart::describe() {
  setAccessibleName(QStringLiteral("Roofline: TFLOP/s of the layers by their FLOP a byte"));
  QString text = QStringLiteral("%1 dots").arg(plot_.dots().size());
  for (const RoofLine& roof : plot_.roofs())
    text += QStringLiteral(", roof ") + roof.label;
  if (current_point()) text += QStringLiteral(". Here: ") + current_text();
  setAccessibleDescription(text);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
}

void RooflineChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), palette().base());
  if (!plot_.dots().empty()) {
    paint_axes(painter);
    painter.setClipRect(plot_.area().adjusted(0, -kTop, kRight, 0));
    for (const RooflineDot& dot : plot_.dots())
      paint_dot(painter, dot);
    paint_roofs(painter);
    painter.setClipping(false);
    const RooflineDot& current = plot_.dots()[current_];
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Base), 4));
    painter.drawEllipse(current.place, current.radius + 2, current.radius + 2);
    painter.setPen(QPen(colors_of(palette()).selection, 2));
    painter.drawEllipse(current.place, current.radius + 2, current.radius + 2);
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void RooflineChart::paint_axes(QPainter& painter) const {
  const Colors colors = colors_of(palette());
  const QRectF& area = plot_.area();
  const auto number = [](double value) { return QString::number(value, 'g', 4); };
  for (const auto& [value, x] : plot_.x_ticks()) {
    painter.setPen(colors.grid);
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(colors.muted);
    painter.drawText(QRectF(x - 40, area.bottom() + 2, 80, 16), Qt::AlignHCenter | Qt::AlignTop, number(value));
  }
  for (const auto& [value, y] : plot_.y_ticks()) {
    painter.setPen(colors.grid);
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(colors.muted);
    painter.drawText(QRectF(0, y - 8, kLeft - 6, 16), Qt::AlignRight | Qt::AlignVCenter, number(value));
  }
  painter.drawText(QRectF(area.left(), area.bottom() + 18, area.width(), 18), Qt::AlignHCenter,
                   QStringLiteral("FLOP a byte"));
  painter.drawText(QRectF(4, 2, area.width(), 18), Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("TFLOP/s"));
  double x = area.left() + 24;
  for (std::size_t series = 0; series < kSeries.size(); ++series) {
    painter.setBrush(series_color(static_cast<int>(series), palette()));
    painter.drawEllipse(QPointF(x, 11), 4, 4);
    painter.drawText(QRectF(x + 10, 2, 100, 18), Qt::AlignLeft | Qt::AlignVCenter, QLatin1String(kSeries[series]));
    x += fontMetrics().horizontalAdvance(QLatin1String(kSeries[series])) + 32;
  }
}

void RooflineChart::paint_roofs(QPainter& painter) const {
  painter.setBrush(Qt::NoBrush);
  for (const RoofLine& roof : plot_.roofs()) {
    painter.setPen(QPen(palette().color(QPalette::WindowText), 1.5));
    painter.drawLine(roof.from, roof.to);
    // Level ones above where they begin: layers that do much for a byte, on the right, have large dots there.
    const bool is_level = roof.from.y() == roof.to.y();
    const QPointF corner = roof.from + (is_level ? QPointF(4, -18) : QPointF(8, 2));
    painter.drawText(QRectF(corner, QSizeF(plot_.area().width(), 16)), Qt::AlignLeft | Qt::AlignVCenter, roof.label);
  }
}

void RooflineChart::paint_dot(QPainter& painter, const RooflineDot& dot) const {
  const RooflinePoint& point = plot_.roofline().points[dot.point];
  const QColor color = series_color(series_of(point.operation), palette());
  QColor inside = color;
  inside.setAlpha(point.is_estimated ? 0 : kOpaque);
  painter.setPen(QPen(color, 1.5));
  painter.setBrush(inside);
  painter.drawEllipse(dot.place, dot.radius, dot.radius);
  if (!point.is_above()) return;
  painter.setPen(QPen(colors_of(palette()).error, 2));
  const QPointF reach(dot.radius, dot.radius);
  painter.drawLine(dot.place - reach, dot.place + reach);
}

bool RooflineChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<const QHelpEvent*>(event);
  if (const auto dot = plot_.dot_at(help->pos())) {
    const QString text = text_of(plot_.roofline().points[plot_.dots()[*dot].point], unit_);
    QToolTip::showText(help->globalPos(), tooltip_of(text), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void RooflineChart::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = plot_.dots().size();
  if (count == 0) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
      return set_current(current_ == 0 ? 0 : current_ - 1);
    case Qt::Key_Right:
    case Qt::Key_Down:
      return set_current(std::min(count - 1, current_ + 1));
    case Qt::Key_Home:
      return set_current(0);
    case Qt::Key_End:
      return set_current(count - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT activated(*current_point());
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void RooflineChart::mousePressEvent(QMouseEvent* event) {
  if (const auto dot = plot_.dot_at(event->position())) set_current(*dot);
}

void RooflineChart::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto dot = plot_.dot_at(event->position())) Q_EMIT activated(plot_.dots()[*dot].point);
}

}  // namespace swinscope::gui
