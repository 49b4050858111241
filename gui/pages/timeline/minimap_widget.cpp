#include "gui/pages/timeline/minimap_widget.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/base/text.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kStepsHeight = 10;     // of the strip above, with steps and bookmarks
constexpr int kHitsHeight = 6;       // of the strip below
constexpr double kEdge = 4;          // pixels beside an end of the window that move it
constexpr double kDragDistance = 4;  // less is a click of an unsteady hand

}  // namespace

MinimapWidget::MinimapWidget(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("minimap"));
  setAccessibleName(QStringLiteral("Overview of the whole trace"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setToolTip(QStringLiteral(
      "The whole trace: GPU above, host below; ticks are steps. Click to go there, drag to see a part."));
}

void MinimapWidget::set_timeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  span_ = timeline_ == nullptr ? Interval{} : timeline_->span();
  span_.end_ns = std::max(span_.end_ns, span_.begin_ns + 1);
  compute();
}

// Beside the window: it looks at every lane.
void MinimapWidget::compute() {
  if (timeline_ == nullptr || width() <= 0) {
    background_.forget();
    minimap_ = {};
    update();
    return;
  }
  background_.start([timeline = timeline_, columns = width()] { return make_minimap(*timeline, columns, 1); },
                    [this](Minimap minimap) {
                      minimap_ = std::move(minimap);
                      setAccessibleDescription(QString::fromStdString(
                          format_counted(static_cast<std::int64_t>(minimap_.steps_ns.size()), "steps")));
                      update();
                    });
}

void MinimapWidget::set_window(Interval window) {
  window_ = window;
  update();
}

void MinimapWidget::set_ticks(std::vector<std::uint32_t> ticks) {
  ticks_ = std::move(ticks);
  update();
}

void MinimapWidget::set_bookmarks(std::vector<std::int64_t> times_ns) {
  bookmarks_ = std::move(times_ns);
  update();
}

double MinimapWidget::x_of(std::int64_t time_ns) const {
  return static_cast<double>(time_ns - span_.begin_ns) / static_cast<double>(span_.length()) * width();
}

void MinimapWidget::paint_busy(QPainter& painter, const std::vector<float>& busy, int series, int top,
                               int height) const {
  const double column = busy.empty() ? 0 : static_cast<double>(width()) / static_cast<double>(busy.size());
  const QColor color = series_color(series, palette());
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const double filled = std::clamp(static_cast<double>(busy[i]), 0.0, 1.0) * height;
    if (filled <= 0) continue;
    painter.fillRect(QRectF(static_cast<double>(i) * column, top + height - filled, std::max(1.0, column), filled),
                     color);
  }
}

void MinimapWidget::paint_ticks(QPainter& painter) const {
  const Colors colors = colors_of(palette());
  painter.setPen(colors.muted);
  for (const std::int64_t step : minimap_.steps_ns)
    painter.drawLine(QPointF(x_of(step), 0), QPointF(x_of(step), kStepsHeight));
  const double column = ticks_.empty() ? 0 : static_cast<double>(width()) / static_cast<double>(ticks_.size());
  for (std::size_t i = 0; i < ticks_.size(); ++i) {
    if (ticks_[i] > 0)
      painter.fillRect(
          QRectF(static_cast<double>(i) * column, height() - kHitsHeight, std::max(2.0, column), kHitsHeight),
          colors.hit);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(colors.hit);
  for (const std::int64_t bookmark : bookmarks_) {
    const double x = x_of(bookmark);
    painter.drawPolygon(QPolygonF({QPointF(x - 4, 0), QPointF(x + 4, 0), QPointF(x, 7)}));
  }
}

void MinimapWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (timeline_ == nullptr) return;
  const int half = (height() - kStepsHeight - kHitsHeight) / 2;
  paint_busy(painter, minimap_.gpu, 0, kStepsHeight, half);
  paint_busy(painter, minimap_.host, 4, kStepsHeight + half, half);
  paint_ticks(painter);
  const QRectF seen(QPointF(x_of(window_.begin_ns), 0), QPointF(x_of(window_.end_ns), height() - 1));
  QColor outside = palette().color(QPalette::Window);
  outside.setAlpha(150);
  painter.fillRect(QRectF(0, 0, seen.left(), height()), outside);
  painter.fillRect(QRectF(seen.right(), 0, width() - seen.right(), height()), outside);
  painter.setPen(QPen(palette().color(QPalette::Highlight), hasFocus() ? 3 : 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(seen.adjusted(1, 1, -1, -1));
}

void MinimapWidget::resizeEvent(QResizeEvent*) { compute(); }

std::int64_t MinimapWidget::time_at(double x) const {
  const double share = std::clamp(x / std::max(1, width()), 0.0, 1.0);
  return span_.begin_ns + static_cast<std::int64_t>(share * static_cast<double>(span_.length()));
}

void MinimapWidget::mousePressEvent(QMouseEvent* event) {
  if (timeline_ == nullptr || event->button() != Qt::LeftButton) return;
  const double x = event->position().x();
  const double begin = x_of(window_.begin_ns);
  const double end = x_of(window_.end_ns);
  pressed_x_ = x;
  pressed_window_ = window_;
  if (end - begin > 4 * kEdge && std::abs(x - begin) <= kEdge) {
    drag_ = Drag::kBegin;
  } else if (end - begin > 4 * kEdge && std::abs(x - end) <= kEdge) {
    drag_ = Drag::kEnd;
  } else {
    drag_ = Drag::kPress;
  }
}

// From within the window it moves, from elsewhere a new one is spanned; a window of everything cannot move.
void MinimapWidget::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  if (drag_ == Drag::kPress && std::abs(x - pressed_x_) >= kDragDistance) {
    const bool is_within = x_of(window_.begin_ns) <= pressed_x_ && pressed_x_ <= x_of(window_.end_ns);
    const bool is_all = window_.begin_ns <= span_.begin_ns && window_.end_ns >= span_.end_ns;
    drag_ = is_within && !is_all ? Drag::kWindow : Drag::kRange;
  }
  const std::int64_t time = time_at(x);
  const std::int64_t from = time_at(pressed_x_);
  switch (drag_) {
    case Drag::kBegin:
      return Q_EMIT window_requested({std::min(time, window_.end_ns - 1), window_.end_ns});
    case Drag::kEnd:
      return Q_EMIT window_requested({window_.begin_ns, std::max(time, window_.begin_ns + 1)});
    case Drag::kWindow:
      return Q_EMIT centre_requested(pressed_window_.begin_ns + pressed_window_.length() / 2 + time - from);
    case Drag::kRange:
      return Q_EMIT window_requested({std::min(time, from), std::max({time, from, std::min(time, from) + 1})});
    case Drag::kNone:
    case Drag::kPress:
      break;
  }
}

void MinimapWidget::mouseReleaseEvent(QMouseEvent*) {
  if (std::exchange(drag_, Drag::kNone) == Drag::kPress) Q_EMIT centre_requested(time_at(pressed_x_));
}

void MinimapWidget::keyPressEvent(QKeyEvent* event) {
  const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (direction == 0 || timeline_ == nullptr) {
    QWidget::keyPressEvent(event);
    return;
  }
  const std::int64_t middle = window_.begin_ns + window_.length() / 2;
  Q_EMIT centre_requested(middle + direction * std::max<std::int64_t>(1, window_.length() / 2));
}

}  // namespace swinscope::gui
