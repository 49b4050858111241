// The rows of the timeline: which there are, where they are drawn, what is below a place, and folding and pinning them.
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "gui/core/raster.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kNarrowestHeader = 110;
constexpr int kWidestHeader = 220;  // unless the user wants it wider
constexpr int kHeaderMargin = 24;
constexpr int kIndent = 10;

void toggle(std::vector<GroupKey>& keys, const GroupKey& key) {
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) {
    keys.push_back(key);
  } else {
    keys.erase(found);
  }
}

// Each group, the outer ones first.
template <typename Visit>
void visit_groups(const std::vector<LaneGroup>& groups, const Visit& visit) {
  for (const LaneGroup& group : groups) {
    visit(group);
    visit_groups(group.groups, visit);
  }
}

}  // namespace

void TimelineView::arrange() {
  rows_ = timeline_ == nullptr
              ? LaneRows()
              : arrange_lanes(*timeline_, groups_, layers_ == nullptr ? nullptr : &layers_->timeline, choice_);
  fit_header();
  if (history_) history_->replace(resized(view(), view_pixels()));
  const int visible = std::max(0, lanes_rect().height() - rows_.pinned_height);
  verticalScrollBar()->setRange(0, std::max(0, rows_.scrolled_height - visible));
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setSingleStep(20);
  invalidate();
  Q_EMIT lanes_changed();
}

void TimelineView::fit_header() {
  int widest = 0;
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    for (const LaneRow& row : *part) {
      QString text = row.label;
      if (row.counter)
        text +=
            QLatin1Char(' ') + counter_text(timeline_->counters[*row.counter], timeline_->counters[*row.counter].top);
      widest = std::max(widest, fontMetrics().horizontalAdvance(text) + kIndent * row.level);
    }
  }
  header_width_ = wanted_width_ ? std::clamp(*wanted_width_, kNarrowestHeader, std::max(kNarrowestHeader, width() / 2))
                                : std::clamp(widest + kHeaderMargin, kNarrowestHeader, kWidestHeader);
}

bool TimelineView::is_folded(const LaneGroup& group) const {
  const bool is_toggled = std::ranges::find(choice_.toggled, group.key) != choice_.toggled.end();
  return group.is_folded_at_first != is_toggled;
}

void TimelineView::toggle_group(const GroupKey& group) {
  toggle(choice_.toggled, group);
  arrange();
}

// Of the selection, or the first in sight.
const LaneRow* TimelineView::row_here() const {
  const int in_sight = verticalScrollBar()->value();
  const auto is_here = [&](const LaneRow& row) {
    return selection_ ? std::ranges::find(row.lanes, selection_->lane) != row.lanes.end()
                      : row.top + row.height > in_sight;
  };
  const auto here = std::ranges::find_if(rows_.scrolled, is_here);
  return here == rows_.scrolled.end() ? nullptr : &*here;
}

// Itself, or the heading above it.
const LaneRow* TimelineView::heading_of(const LaneRow& row) const {
  const auto behind = rows_.scrolled.begin() + (&row - rows_.scrolled.data()) + 1;
  const auto heading = std::find_if(std::make_reverse_iterator(behind), rows_.scrolled.rend(),
                                    [](const LaneRow& other) { return other.group.has_value(); });
  return heading == rows_.scrolled.rend() ? nullptr : &*heading;
}

void TimelineView::toggle_group_here() {
  const LaneRow* row = row_here();
  const LaneRow* heading = row == nullptr ? nullptr : heading_of(*row);
  if (heading != nullptr) toggle_group(*heading->group);
}

void TimelineView::toggle_all_groups() {
  bool unfolds = false;
  visit_groups(groups_, [&](const LaneGroup& group) { unfolds = unfolds || is_folded(group); });
  visit_groups(groups_, [&](const LaneGroup& group) {
    // Folded are what is within processes: these stay to be seen.
    const bool wants_fold = !unfolds && group.key.kind != GroupKind::kProcess;
    if (is_folded(group) != wants_fold) toggle(choice_.toggled, group.key);
  });
  arrange();
}

void TimelineView::toggle_pin() {
  if (!selection_) return;
  const LaneKey key = timeline_->lanes[selection_->lane].key;
  const auto found = std::find(choice_.pinned.begin(), choice_.pinned.end(), key);
  if (found == choice_.pinned.end()) {
    choice_.pinned.push_back(key);
  } else {
    choice_.pinned.erase(found);
  }
  arrange();
}

const LaneRow* TimelineView::row_of(LaneId lane) const {
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    const auto found = std::find_if(part->begin(), part->end(), [&](const LaneRow& row) {
      return std::find(row.lanes.begin(), row.lanes.end(), lane) != row.lanes.end();
    });
    if (found != part->end()) return &*found;
  }
  return nullptr;
}

QRect TimelineView::lane_rect(LaneId lane) const {
  const LaneRow* row = row_of(lane);
  return row == nullptr ? QRect() : row_rect(*row);
}

QRect TimelineView::row_rect(const LaneRow& row) const {
  const int top = row.is_on_top ? row.top : row.top + rows_.pinned_height - verticalScrollBar()->value();
  return {0, ruler_height() + top, viewport()->width(), row.height};
}

const LaneRow* TimelineView::row_at(int y) const {
  const bool is_pinned = y < ruler_height() + rows_.pinned_height;
  const int in_part =
      is_pinned ? y - ruler_height() : y - ruler_height() - rows_.pinned_height + verticalScrollBar()->value();
  for (const LaneRow& row : is_pinned ? rows_.pinned : rows_.scrolled) {
    if (in_part >= row.top && in_part < row.top + row.height) return &row;
  }
  return nullptr;
}

// From the ruler: all.
std::vector<LaneId> TimelineView::lanes_between(int y1, int y2) const {
  if (y1 < ruler_height()) return rows_.lanes();
  std::vector<LaneId> lanes;
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    for (const LaneRow& row : *part) {
      const QRect place = row_rect(row);
      if (place.bottom() < std::min(y1, y2) || place.top() > std::max(y1, y2)) continue;
      std::ranges::copy_if(row.lanes, std::back_inserter(lanes),
                           [&](LaneId lane) { return row.is_on_top || !rows_.is_pinned(lane); });
    }
  }
  return lanes;
}

std::optional<TimelineEventId> TimelineView::event_at(QPoint position) const {
  if (timeline_ == nullptr || !lanes_rect().contains(position)) return std::nullopt;
  const LaneRow* row = row_at(position.y());
  if (row == nullptr) return std::nullopt;
  const int x = static_cast<int>((position.x() - header_width_) * pixel_ratio());
  // Of several lanes in the row the longest event, and only then one beside the place.
  for (const int reach : {0, static_cast<int>(std::lround(3 * pixel_ratio()))}) {
    std::optional<TimelineEventId> best;
    for (const LaneId lane : row->drawn) {
      const auto hit = hit_test(*timeline_, lane, view(), x, reach);
      if (hit && (!best || timeline_->event(*hit).duration_ns > timeline_->event(*best).duration_ns)) best = hit;
    }
    if (best) return best;
  }
  return std::nullopt;
}

std::optional<TimelineEventId> TimelineView::layer_at(QPoint position) const {
  if (layers_ == nullptr || !lanes_rect().contains(position)) return std::nullopt;
  const LaneRow* row = row_at(position.y());
  if (row == nullptr || !row->layer) return std::nullopt;
  const int x = static_cast<int>((position.x() - header_width_) * pixel_ratio());
  return hit_test(layers_->timeline, static_cast<LaneId>(*row->layer), view(), x);
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
  for (const auto* part : {&rows_.pinned, &rows_.scrolled}) {
    for (const LaneRow& row : *part) {
      const auto [top, bottom] = band_of(row);
      if (row.drawn.empty() || bottom <= top) continue;
      bands.push_back({row.drawn.front(), top, bottom - top, std::span(row.drawn).subspan(1)});
    }
  }
  const RasterStyle style{palette().color(QPalette::Base).rgb(), colors_};
  rasterise(*timeline_, view(), bands, style,
            {reinterpret_cast<Color*>(image_.bits()), image_.width(), image_.height(), image_.bytesPerLine() / 4});
  draw_layers();
  image_is_valid_ = true;
}

// In the pixels of the image, with a gap to the rows above and below; empty where it is out of sight.
std::pair<int, int> TimelineView::band_of(const LaneRow& row) const {
  constexpr int kGap = 1;
  const QRect place = row_rect(row).translated(0, -ruler_height());
  const int top = std::max(place.top() + kGap, row.is_on_top ? 0 : rows_.pinned_height);
  const int bottom = std::min(place.bottom() + 1 - kGap, lanes_rect().height());
  const auto pixels = [&](int y) { return static_cast<int>(std::lround(y * pixel_ratio())); };
  return {pixels(top), pixels(bottom)};
}

void TimelineView::draw_layers() {
  if (layers_ == nullptr) return;
  const RasterStyle style{palette().color(QPalette::Base).rgb(), layer_colors_};
  std::vector<Color> pixels(static_cast<std::size_t>(image_.width()));
  for (const LaneRow& row : rows_.scrolled) {
    const auto [top, bottom] = band_of(row);
    if (!row.layer || bottom <= top) continue;
    rasterise_lane(layers_->timeline.lanes[*row.layer], view(), style, pixels);
    for (int y = top; y < std::min(bottom, image_.height()); ++y)
      std::ranges::copy(pixels, reinterpret_cast<Color*>(image_.scanLine(y)));
  }
}

}  // namespace swinscope::gui
