#include "gui/pages/timeline/timeline_view.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/pages/timeline/timeline_painter.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kRulerHeight = 26;
constexpr std::int64_t kContinuedMs = 600;  // steps that follow faster are one movement, undone at once

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent) {
  setObjectName(QStringLiteral("timeline"));
  setAccessibleName(QStringLiteral("Timeline"));
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &TimelineView::invalidate);
}

int TimelineView::header_width() const { return header_width_; }
int TimelineView::ruler_height() const { return kRulerHeight; }

QRect TimelineView::lanes_rect() const { return viewport()->rect().adjusted(header_width_, kRulerHeight, 0, 0); }

int TimelineView::view_pixels() const {
  return std::max(1, static_cast<int>(std::lround((viewport()->width() - header_width_) * pixel_ratio())));
}

// Never empty, so that it can be fitted.
Interval TimelineView::span() const {
  Interval span = timeline_->span();
  span.end_ns = std::max(span.end_ns, span.begin_ns + 1);
  return span;
}

void TimelineView::set_timeline(std::shared_ptr<const Timeline> timeline, bool fresh) {
  const bool is_same_path = timeline_ != nullptr && timeline != nullptr && timeline_->path == timeline->path;
  timeline_ = std::move(timeline);
  // Positions of a preview mean nothing in the whole timeline, and neither do those of another one.
  selection_.reset();
  links_.clear();
  collective_ = {};
  area_.reset();
  layers_.reset();
  if (!is_same_path) {
    choice_.pinned.clear();
    choice_.toggled.clear();
  }
  if (fresh) highlighted_.clear();
  if (fresh || timeline_ == nullptr) history_.reset();
  groups_ = timeline_ == nullptr ? std::vector<LaneGroup>() : group_lanes(*timeline_);
  const LaneOrder* order = timeline_ == nullptr ? nullptr : kept_.order_of(timeline_->path);
  if (order != nullptr) restore_order(*timeline_, *order, groups_);
  name_colors_ = timeline_ == nullptr ? std::vector<Color>() : gui::name_colors(timeline_->names);
  update_colors();
  arrange();
  // The steps may not have been known before.
  if (timeline_ != nullptr && (!history_ || (history_->current() == opening_ && !history_->can_undo()))) {
    opening_ = opening_view();
    history_.emplace(*opening_);
  }
  Q_EMIT selection_changed();
  Q_EMIT area_changed();
  Q_EMIT window_changed();
}

Viewport TimelineView::opening_view() const {
  return clamped(fit_part(fit(span(), view_pixels()), opening_window(*timeline_)), span());
}

void TimelineView::set_layers(std::shared_ptr<const LayerLanes> layers) {
  layers_ = std::move(layers);
  layer_colors_ = layers_ == nullptr ? std::vector<Color>() : gui::name_colors(layers_->timeline.names);
  arrange();
}

void TimelineView::set_filter(const Filter& filter) {
  choice_.filter = filter;
  arrange();
}

void TimelineView::set_highlighted(std::vector<bool> names) {
  highlighted_ = std::move(names);
  update_colors();
  invalidate();
}

void TimelineView::set_bookmarks(std::vector<std::int64_t> times_ns) {
  bookmarks_ = std::move(times_ns);
  viewport()->update();
}

void TimelineView::update_colors() {
  constexpr int kDimAlpha = 40;
  colors_ = name_colors_;
  if (highlighted_.size() != colors_.size()) return;
  const Color background = palette().color(QPalette::Base).rgb();
  for (std::size_t i = 0; i < colors_.size(); ++i) {
    if (!highlighted_[i]) colors_[i] = blend(background, colors_[i], kDimAlpha);
  }
}

void TimelineView::invalidate() {
  image_is_valid_ = false;
  viewport()->update();
}

Interval TimelineView::seen() const { return history_ ? view().range() : Interval{}; }

void TimelineView::set_view(const Viewport& wanted, bool is_continued) {
  const Viewport view = clamped(wanted, span());
  if (view == history_->current()) return;
  if (is_continued && since_step_.isValid() && since_step_.elapsed() < kContinuedMs) {
    history_->replace(view);
  } else {
    history_->push(view);
  }
  if (is_continued) {
    since_step_.start();
  } else {
    since_step_.invalidate();
  }
  invalidate();
  Q_EMIT window_changed();
}

void TimelineView::show_window(Interval window) {
  if (history_) set_view(fit_part(view(), window), false);
}

void TimelineView::zoom(double factor) {
  if (!history_) return;
  double x = view().width / 2.0;
  // Around what the user looks at: the selection where it is in sight.
  if (selection_) {
    const LaneEvent event = timeline_->event(*selection_);
    const double middle = view().x_of(event.start_ns + event.duration_ns / 2);
    if (middle >= 0 && middle < view().width) x = middle;
  }
  set_view(zoomed(view(), factor, x), true);
}

void TimelineView::pan(double widths) {
  if (history_) set_view(panned(view(), std::llround(widths * view().width)), true);
}

void TimelineView::scroll_lanes(int rows) {
  verticalScrollBar()->setValue(verticalScrollBar()->value() + rows * verticalScrollBar()->singleStep());
}

void TimelineView::fit_all() {
  if (history_) set_view(fit(span(), view_pixels()), false);
}

void TimelineView::zoom_to_selection() {
  if (!history_) return;
  Interval target;
  if (area_) {
    target = area_->window;
  } else if (selection_) {
    const LaneEvent event = timeline_->event(*selection_);
    // With its surroundings: an event that fills the window shows nothing else.
    target = {event.start_ns - event.duration_ns / 2, event.end_ns() + event.duration_ns / 2};
  } else {
    fit_all();
    return;
  }
  const Viewport wanted = clamped(fit_part(view(), target), span());
  if (wanted == view()) {
    fit_all();
  } else {
    set_view(wanted, false);
  }
}

void TimelineView::undo_zoom() {
  if (!can_undo()) return;
  history_->undo();
  since_step_.invalidate();
  history_->replace(resized(view(), view_pixels()));
  invalidate();
  Q_EMIT window_changed();
}

void TimelineView::redo_zoom() {
  if (!can_redo()) return;
  history_->redo();
  since_step_.invalidate();
  history_->replace(resized(view(), view_pixels()));
  invalidate();
  Q_EMIT window_changed();
}

void TimelineView::select(TimelineEventId event) {
  selection_ = event;
  links_ = links_of(*timeline_, event);
  collective_ = {};
  reveal(event);
  viewport()->update();
  Q_EMIT selection_changed();
}

void TimelineView::clear_selection() {
  selection_.reset();
  links_.clear();
  collective_ = {};
  area_.reset();
  viewport()->update();
  Q_EMIT selection_changed();
  Q_EMIT area_changed();
}

void TimelineView::select_area(TimelineArea area) {
  area_ = std::move(area);
  viewport()->update();
  Q_EMIT area_changed();
}

void TimelineView::reveal(TimelineEventId id) {
  const LaneEvent event = timeline_->event(id);
  const Interval shown = seen();
  if (event.end_ns() < shown.begin_ns || event.start_ns > shown.end_ns) {
    const double to = view().x_of(event.start_ns + event.duration_ns / 2) - view().width / 2.0;
    set_view(panned(view(), std::llround(to)), false);
  }
  const LaneRow* row = row_of(id.lane);
  if (row == nullptr || row->is_on_top) return;
  QScrollBar* bar = verticalScrollBar();
  if (row->top < bar->value()) bar->setValue(row->top);
  if (row->top + row->height > bar->value() + bar->pageStep()) bar->setValue(row->top + row->height - bar->pageStep());
}

void TimelineView::select_neighbour(bool forward) {
  if (timeline_ == nullptr) return;
  if (!selection_) {
    select_in_other_lane(true);
  } else if (const auto next = next_in_lane(*timeline_, *selection_, forward)) {
    select(*next);
  }
}

// The event there that is nearest in time; without a selection, the first in sight.
void TimelineView::select_in_other_lane(bool below) {
  if (timeline_ == nullptr) return;
  const std::vector<LaneId> lanes = rows_.lanes();
  if (lanes.empty()) return;
  std::size_t at = 0;
  std::int64_t time = seen().begin_ns;
  if (selection_) {
    const auto here = std::find(lanes.begin(), lanes.end(), selection_->lane);
    if (here == lanes.end() || (below ? here + 1 == lanes.end() : here == lanes.begin())) return;
    at = static_cast<std::size_t>(here - lanes.begin());
    at = below ? at + 1 : at - 1;
    time = timeline_->event(*selection_).start_ns;
  }
  const TimelineLane& lane = timeline_->lanes[lanes[at]];
  select({lanes[at], std::min(lane.first_from(time), lane.size() - 1)});
}

void TimelineView::follow_link(bool forward) {
  if (!selection_ || links_.empty()) return;
  const TimelineEventId target = forward ? links_.front().work : links_.front().call;
  if (!(target == *selection_)) select(target);
}

void TimelineView::select_area_of_selection() {
  if (!selection_) return;
  const LaneEvent event = timeline_->event(*selection_);
  select_area({{event.start_ns, std::max(event.end_ns(), event.start_ns + 1)}, rows_.lanes()});
}

double TimelineView::x_of(std::int64_t time_ns) const { return header_width_ + view().x_of(time_ns) / pixel_ratio(); }

std::int64_t TimelineView::time_at(double x) const {
  return view().time_at(static_cast<int>(std::lround((x - header_width_) * pixel_ratio())));
}

QRectF TimelineView::event_rect(TimelineEventId id) const {
  const QRect lane = lane_rect(id.lane);
  if (lane.isEmpty()) return {};
  const LaneEvent event = timeline_->event(id);
  const double left = x_of(event.start_ns);
  return {left, static_cast<double>(lane.top()), std::max(1.0, x_of(event.end_ns()) - left),
          static_cast<double>(lane.height())};
}

void TimelineView::paintEvent(QPaintEvent*) {
  if (timeline_ != nullptr && !image_is_valid_) draw_image();
  TimelinePainter(*this).paint();
}

void TimelineView::resizeEvent(QResizeEvent*) {
  if (history_) {
    const bool was_all = view() == fit(span(), view().width);
    if (view() == opening_) {
      history_->replace(opening_view());
      opening_ = view();
    } else {
      history_->replace(was_all ? fit(span(), view_pixels()) : resized(view(), view_pixels()));
    }
  }
  arrange();
  if (history_) Q_EMIT window_changed();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::StyleChange) return;
  update_colors();
  invalidate();
}

}  // namespace swinscope::gui
