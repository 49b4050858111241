// The mouse on the timeline: click selects, dragging makes an area, with Shift it pans; the wheel scrolls lanes, with
// Ctrl it zooms where the mouse is, with Shift it pans.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "analyzer/base/text.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kDragDistance = 4;  // pixels; less is a click of an unsteady hand
constexpr double kNotch = 120;    // of a wheel, in the units of Qt

}  // namespace

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / kNotch;
  if (!history_ || notches == 0) return;
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    set_view(zoomed(view(), std::pow(1.25, notches), (event->position().x() - header_width()) * pixel_ratio()), true);
  } else if (event->modifiers().testFlag(Qt::ShiftModifier) || delta.y() == 0) {
    pan(-0.1 * notches);
  } else {
    scroll_lanes(static_cast<int>(std::lround(-3 * notches)));
  }
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (!history_) return;
  const bool pans = event->button() == Qt::MiddleButton ||
                    (event->button() == Qt::LeftButton && event->modifiers().testFlag(Qt::ShiftModifier));
  if (!pans && event->button() != Qt::LeftButton) return;
  drag_ = pans ? Drag::kPan : Drag::kPress;
  drag_start_ = drag_last_ = event->pos();
  since_step_.invalidate();
  if (pans) setCursor(Qt::ClosedHandCursor);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (!history_ || drag_ == Drag::kNone) return;
  if (drag_ == Drag::kPan) {
    const int moved = drag_last_.x() - event->pos().x();
    verticalScrollBar()->setValue(verticalScrollBar()->value() + drag_last_.y() - event->pos().y());
    drag_last_ = event->pos();
    if (moved != 0) set_view(panned(view(), std::lround(moved * pixel_ratio())), true);
    return;
  }
  if (drag_ == Drag::kPress && (event->pos() - drag_start_).manhattanLength() < kDragDistance) return;
  drag_ = Drag::kArea;
  drag_last_ = event->pos();
  const std::int64_t a = time_at(std::max(drag_start_.x(), header_width()));
  const std::int64_t b = time_at(std::max(drag_last_.x(), header_width()));
  area_ = TimelineArea{{std::min(a, b), std::max(a, b)}, lanes_between(drag_start_.y(), drag_last_.y())};
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::kNone);
  unsetCursor();
  if (!history_) return;
  if (was == Drag::kArea) {
    Q_EMIT area_changed();
  } else if (was == Drag::kPress) {
    if (const auto hit = event_at(event->pos())) {
      select(*hit);
    } else {
      clear_selection();
    }
  }
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && event_at(event->pos())) zoom_to_selection();
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString text;
  if (const auto hit = event_at(help->pos())) {
    text = QStringLiteral("%1\n%2").arg(
        QString::fromUtf8(timeline_->name(*hit).data(), static_cast<qsizetype>(timeline_->name(*hit).size())),
        QString::fromStdString(format_duration(timeline_->event(*hit).duration_ns)));
  } else if (help->pos().x() < header_width() && timeline_ != nullptr) {
    const LaneRow* row = row_at(help->pos().y());
    if (row != nullptr && row->lane) text = full_label(*timeline_, *row->lane);
    if (row != nullptr && row->counter) text = full_label(*timeline_, timeline_->counters[*row->counter]);
  } else if (const CounterSeries* series = counter_at(help->pos())) {
    text = QStringLiteral("%1\n%2").arg(full_label(*timeline_, *series),
                                        counter_text(*series, series->at(time_at(help->pos().x()))));
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace swinscope::gui
