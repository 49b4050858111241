// The mouse on the timeline: click selects, dragging makes an area, with Shift it pans; the wheel scrolls lanes, with
// Ctrl it zooms where the mouse is, with Shift it pans.
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "analyzer/base/text.h"
#include "analyzer/trace/kernel_names.h"
#include "gui/core/tool_tip.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kDragDistance = 4;  // pixels; less is a click of an unsteady hand
constexpr int kEdge = 3;          // pixels beside the header's edge that move it
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
  const bool is_at_edge = std::abs(event->pos().x() - header_width()) <= kEdge;
  drag_ = pans                                        ? Drag::kPan
          : is_at_edge                                ? Drag::kHeader
          : row_with_edge_at(event->pos()) != nullptr ? Drag::kHeight
                                                      : Drag::kPress;
  drag_start_ = drag_last_ = event->pos();
  since_step_.invalidate();
  if (pans) setCursor(Qt::ClosedHandCursor);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (!history_) return;
  hover(event->pos());
  if (drag_ == Drag::kNone) return;
  if (drag_ == Drag::kHeader) {
    wanted_width_ = event->pos().x();
    arrange();
    return;
  }
  if (drag_ == Drag::kHeight) return drag_height(event->pos().y());
  if (drag_ == Drag::kRow) return;
  if (drag_ == Drag::kPan) {
    const int moved = drag_last_.x() - event->pos().x();
    verticalScrollBar()->setValue(verticalScrollBar()->value() + drag_last_.y() - event->pos().y());
    drag_last_ = event->pos();
    if (moved != 0) set_view(panned(view(), std::lround(moved * pixel_ratio())), true);
    return;
  }
  if (drag_ == Drag::kPress && (event->pos() - drag_start_).manhattanLength() < kDragDistance) return;
  if (take_row(drag_start_)) return;
  drag_ = Drag::kArea;
  drag_area(event->pos());
}

// By its name, to move it.
bool TimelineView::take_row(QPoint at) {
  const LaneRow* row = at.x() < header_width() && at.y() >= ruler_height() ? row_at(at.y()) : nullptr;
  if (row == nullptr || row->is_on_top || (!row->group && row->lanes.empty())) return false;
  dragged_ = row->group ? LaneItem{row->group} : LaneItem{{}, row->lanes.front()};
  drag_ = Drag::kRow;
  setCursor(Qt::ClosedHandCursor);
  return true;
}

// From the ruler over all lanes.
void TimelineView::drag_area(QPoint to) {
  drag_last_ = to;
  const std::int64_t a = time_at(std::max(drag_start_.x(), header_width()));
  const std::int64_t b = time_at(std::max(drag_last_.x(), header_width()));
  area_ = TimelineArea{{std::min(a, b), std::max(a, b)}, lanes_between(drag_start_.y(), drag_last_.y())};
  viewport()->update();
}

// A line at the time below the mouse; at the edge of the header the cursor says that it can be moved.
void TimelineView::hover(QPoint position) {
  const bool is_inside = position.x() >= header_width();
  const std::optional<int> x = is_inside ? std::optional(position.x()) : std::nullopt;
  if (drag_ == Drag::kNone) {
    if (std::abs(position.x() - header_width()) <= kEdge) {
      setCursor(Qt::SplitHCursor);
    } else if (row_with_edge_at(position) != nullptr) {
      setCursor(Qt::SplitVCursor);
    } else {
      unsetCursor();
    }
  }
  if (x == hover_x_) return;
  hover_x_ = x;
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::kNone);
  unsetCursor();
  if (!history_) return;
  if (was == Drag::kArea) {
    Q_EMIT area_changed();
  } else if (was == Drag::kRow) {
    drop_row(event->pos());
  } else if (was == Drag::kPress) {
    click(event->pos());
  }
}

// Selects what is there: an event, or a layer with the time of its work on the device. A group's name folds it.
void TimelineView::click(QPoint position) {
  const LaneRow* row = position.y() < ruler_height() ? nullptr : row_at(position.y());
  if (row != nullptr && row->group && (position.x() < header_width() || row->is_heading())) {
    toggle_group(*row->group);
  } else if (const auto layer = layer_at(position)) {
    select_layer(*layer);
  } else if (const auto hit = event_at(position)) {
    select(*hit);
  } else {
    clear_selection();
  }
}

void TimelineView::select_layer(TimelineEventId id) {
  const LaneEvent piece = layers_->timeline.event(id);
  const LaneKey& key = layers_->timeline.lanes[id.lane].key;
  TimelineArea area{{piece.start_ns, piece.end_ns()}, {}};
  for (const LaneId lane : rows_.lanes()) {
    const LaneKey& other = timeline_->lanes[lane].key;
    if (is_gpu(other.kind) && other.process == key.process && other.device == key.device) area.lanes.push_back(lane);
  }
  clear_selection();
  select_area(std::move(area));
  Q_EMIT layer_selected(QString::fromStdString(layers_->paths[piece.ref]));
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && event_at(event->pos())) zoom_to_selection();
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse) {
    const auto hit = event_at(event->pos());
    if (hit) select(*hit);
    if (!hit && event->pos().x() >= header_width()) clear_selection();
    Q_EMIT menu_requested(event->globalPos());
    return;
  }
  QPoint place = viewport()->rect().center();
  if (selection_) place = event_rect(*selection_).intersected(QRectF(lanes_rect())).center().toPoint();
  Q_EMIT menu_requested(viewport()->mapToGlobal(place));
}

// Short name, duration, lane and, of work on a GPU, how long behind its launch it began.
QString TimelineView::event_tip(TimelineEventId id) const {
  constexpr std::size_t kLongest = 120;
  const bool on_gpu = is_gpu(timeline_->lanes[id.lane].key.kind);
  const std::string_view name = timeline_->name(id);
  QStringList lines{QString::fromStdString(on_gpu ? readable_kernel_name(name) : std::string(name.substr(0, kLongest))),
                    QString::fromStdString(format_duration(timeline_->event(id).duration_ns)),
                    full_label(*timeline_, id.lane)};
  if (on_gpu) {
    for (const LaunchLink& link : links_of(*timeline_, id, 1))
      lines
          << QStringLiteral("%1 behind its launch").arg(QString::fromStdString(format_duration(link.launch_delay_ns)));
  }
  return lines.join(QLatin1Char('\n'));
}

QString TimelineView::header_tip(int y) const {
  const LaneRow* row = y < ruler_height() ? nullptr : row_at(y);
  if (row == nullptr) return {};
  if (row->counter) return full_label(*timeline_, timeline_->counters[*row->counter]);
  if (row->layer) return QStringLiteral("When the GPU did the work that each layer launched");
  if (const auto lane = row->lane()) return full_label(*timeline_, *lane);
  if (row->lanes.empty() && !row->group) return {};
  return row->is_folded
             ? QStringLiteral("%1: %2 lanes in one row; a click unfolds them").arg(row->label).arg(row->lanes.size())
             : QStringLiteral("%1: a click folds it to one row").arg(row->label);
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hover_x_.reset();
    viewport()->update();
  }
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString text;
  if (const auto hit = event_at(help->pos())) {
    text = event_tip(*hit);
  } else if (const auto layer = layer_at(help->pos())) {
    const LaneEvent piece = layers_->timeline.event(*layer);
    text = QStringLiteral("%1\n%2").arg(QString::fromStdString(layers_->paths[piece.ref]),
                                        QString::fromStdString(format_duration(piece.duration_ns)));
  } else if (help->pos().x() < header_width() && timeline_ != nullptr) {
    text = header_tip(help->pos().y());
  } else if (const CounterSeries* series = counter_at(help->pos())) {
    text = QStringLiteral("%1\n%2").arg(full_label(*timeline_, *series),
                                        counter_text(*series, series->at(time_at(help->pos().x()))));
  }
  QToolTip::showText(help->globalPos(), tooltip_of(text), this);
  return true;
}

}  // namespace swinscope::gui
