#include "gui/pages/timeline/timeline_view.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/core/raster.h"
#include "gui/pages/timeline/timeline_painter.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kNarrowestHeader = 110;
constexpr int kWidestHeader = 240;
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
  timeline_ = std::move(timeline);
  // Positions of a preview mean nothing in the whole timeline, and neither do those of another one.
  selection_.reset();
  links_.clear();
  collective_ = {};
  area_.reset();
  if (fresh) {
    pinned_.clear();
    highlighted_.clear();
    history_.reset();
  }
  name_colors_ = timeline_ == nullptr ? std::vector<Color>() : gui::name_colors(timeline_->names);
  if (timeline_ == nullptr) history_.reset();
  update_colors();
  arrange();
  if (timeline_ != nullptr && !history_) history_.emplace(fit(span(), view_pixels()));
  Q_EMIT selection_changed();
  Q_EMIT area_changed();
  Q_EMIT window_changed();
}

void TimelineView::set_filter(const Filter& filter) {
  filter_ = filter;
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

void TimelineView::arrange() {
  rows_ = timeline_ == nullptr ? LaneRows() : arrange_lanes(*timeline_, filter_, pinned_);
  int widest = 0;
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    for (const LaneRow& row : *part) {
      QString text = row.label;
      if (row.counter)
        text +=
            QLatin1Char(' ') + counter_text(timeline_->counters[*row.counter], timeline_->counters[*row.counter].top);
      widest = std::max(widest, fontMetrics().horizontalAdvance(text));
    }
  }
  header_width_ = std::clamp(widest + 20, kNarrowestHeader, kWidestHeader);
  if (history_) history_->replace(resized(view(), view_pixels()));
  const int visible = std::max(0, lanes_rect().height() - rows_.pinned_height);
  verticalScrollBar()->setRange(0, std::max(0, rows_.scrolled_height - visible));
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(20);
  invalidate();
  Q_EMIT lanes_changed();
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
  bool is_pinned = false;
  const LaneRow* row = row_of(id.lane, &is_pinned);
  if (row == nullptr || is_pinned) return;
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

void TimelineView::toggle_pin() {
  if (!selection_) return;
  const LaneKey key = timeline_->lanes[selection_->lane].key;
  const auto found = std::find(pinned_.begin(), pinned_.end(), key);
  if (found == pinned_.end()) {
    pinned_.push_back(key);
  } else {
    pinned_.erase(found);
  }
  arrange();
}

void TimelineView::select_area_of_selection() {
  if (!selection_) return;
  const LaneEvent event = timeline_->event(*selection_);
  select_area({{event.start_ns, std::max(event.end_ns(), event.start_ns + 1)}, rows_.lanes()});
}

const LaneRow* TimelineView::row_of(LaneId lane, bool* is_pinned) const {
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    const auto found = std::find_if(part->begin(), part->end(), [&](const LaneRow& row) { return row.lane == lane; });
    if (found == part->end()) continue;
    if (is_pinned != nullptr) *is_pinned = part == &rows_.pinned;
    return &*found;
  }
  return nullptr;
}

QRect TimelineView::lane_rect(LaneId lane) const {
  bool is_pinned = false;
  const LaneRow* row = row_of(lane, &is_pinned);
  if (row == nullptr) return {};
  return is_pinned ? QRect(0, kRulerHeight + row->top, viewport()->width(), row->height) : row_rect(*row);
}

QRect TimelineView::row_rect(const LaneRow& row) const {
  const int top = row.top + rows_.pinned_height - verticalScrollBar()->value();
  return {0, kRulerHeight + top, viewport()->width(), row.height};
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

const LaneRow* TimelineView::row_at(int y) const {
  const bool is_pinned = y < kRulerHeight + rows_.pinned_height;
  const int in_part =
      is_pinned ? y - kRulerHeight : y - kRulerHeight - rows_.pinned_height + verticalScrollBar()->value();
  for (const LaneRow& row : is_pinned ? rows_.pinned : rows_.scrolled) {
    if (in_part >= row.top && in_part < row.top + row.height) return &row;
  }
  return nullptr;
}

std::vector<LaneId> TimelineView::lanes_between(int y1, int y2) const {
  std::vector<LaneId> lanes;
  for (const LaneId lane : rows_.lanes()) {
    const QRect place = lane_rect(lane);
    if (place.bottom() >= std::min(y1, y2) && place.top() <= std::max(y1, y2)) lanes.push_back(lane);
  }
  return lanes;
}

std::optional<TimelineEventId> TimelineView::event_at(QPoint position) const {
  if (timeline_ == nullptr || !lanes_rect().contains(position)) return std::nullopt;
  const LaneRow* row = row_at(position.y());
  if (row == nullptr || !row->lane) return std::nullopt;
  const int x = static_cast<int>((position.x() - header_width_) * pixel_ratio());
  return hit_test(*timeline_, *row->lane, view(), x, static_cast<int>(std::lround(3 * pixel_ratio())));
}

const CounterSeries* TimelineView::counter_at(QPoint position) const {
  const LaneRow* row = timeline_ == nullptr ? nullptr : row_at(position.y());
  return row != nullptr && row->counter ? &timeline_->counters[*row->counter] : nullptr;
}

void TimelineView::draw_image() {
  const double ratio = pixel_ratio();
  if (view().width != view_pixels()) history_->replace(resized(view(), view_pixels()));  // on another screen
  const int height = std::max(1, static_cast<int>(std::lround(lanes_rect().height() * ratio)));
  if (image_.width() != view().width || image_.height() != height) {
    image_ = QImage(view().width, height, QImage::Format_RGB32);
  }
  image_.setDevicePixelRatio(ratio);
  std::vector<LaneBand> bands;
  const auto add = [&](const LaneRow& row, int shift, int clip_top) {
    constexpr int kGap = 2;
    const int top = std::max(row.top + shift + kGap / 2, clip_top);
    const int bottom = row.top + shift + row.height - kGap / 2;
    if (!row.lane || bottom <= top || top > lanes_rect().height()) return;
    const int first = static_cast<int>(std::lround(top * ratio));
    bands.push_back({*row.lane, first, static_cast<int>(std::lround(bottom * ratio)) - first});
  };
  for (const LaneRow& row : rows_.pinned)
    add(row, 0, 0);
  for (const LaneRow& row : rows_.scrolled)
    add(row, rows_.pinned_height - verticalScrollBar()->value(), rows_.pinned_height);
  const RasterStyle style{palette().color(QPalette::Base).rgb(), colors_};
  rasterise(*timeline_, view(), bands, style,
            {reinterpret_cast<Color*>(image_.bits()), image_.width(), image_.height(), image_.bytesPerLine() / 4});
  image_is_valid_ = true;
}

void TimelineView::paintEvent(QPaintEvent*) {
  if (timeline_ != nullptr && !image_is_valid_) draw_image();
  TimelinePainter(*this).paint();
}

void TimelineView::resizeEvent(QResizeEvent*) {
  if (history_) {
    const bool was_all = view() == fit(span(), view().width);
    history_->replace(was_all ? fit(span(), view_pixels()) : resized(view(), view_pixels()));
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
