// Moving the lanes of the timeline and changing their heights, by keys and by the mouse.
#include <algorithm>
#include <limits>
#include <utility>

#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr double kLowest = 0.6;  // of the usual height: names cannot be read below it
constexpr double kTallest = 4;
constexpr int kEdge = 3;  // pixels above a row's lower edge that change heights
constexpr LaneId kNoLane = std::numeric_limits<LaneId>::max();

LaneItem item_of(const LaneRow& row) { return row.group ? LaneItem{row.group, 0} : LaneItem{{}, row.lanes.front()}; }

std::ptrdiff_t place_of(const std::vector<LaneId>& lanes, LaneId lane) {
  return std::ranges::find(lanes, lane) - lanes.begin();
}

// The first lane of a group, or the lane.
LaneId first_lane(const std::vector<LaneGroup>& groups, const LaneItem& item) {
  if (!item.group) return item.lane;
  for (const LaneGroup& group : groups) {
    if (group.key == *item.group) return group.all_lanes().empty() ? kNoLane : group.all_lanes().front();
    if (const LaneId lane = first_lane(group.groups, item); lane != kNoLane) return lane;
  }
  return kNoLane;
}

}  // namespace

void TimelineView::keep_order() {
  kept_.keep(timeline_->path, order_of_lanes(*timeline_, groups_));
  arrange();
}

void TimelineView::move_here(bool down) {
  const LaneRow* row = timeline_ == nullptr ? nullptr : row_here();
  const LaneRow* shown = row == nullptr || !row->lanes.empty() ? row : heading_of(*row);
  if (shown == nullptr) return;
  std::optional<LaneItem> item = item_of(*shown);
  while (item && !move_item(*timeline_, groups_, *item, down))
    item = group_around(groups_, *item);
  if (!item) return;
  keep_order();
  if (selection_) reveal(*selection_);
}

void TimelineView::scale_lanes(double factor) {
  choice_.scale = std::clamp(choice_.scale * factor, kLowest, kTallest);
  arrange();
}

void TimelineView::set_kept_lanes(KeptLanes kept) {
  kept_ = std::move(kept);
  choice_.scale = std::clamp(kept_.scale, kLowest, kTallest);
  arrange();
}

KeptLanes TimelineView::kept_lanes() const {
  KeptLanes kept = kept_;
  kept.scale = choice_.scale;
  return kept;
}

const LaneRow* TimelineView::row_with_edge_at(QPoint position) const {
  if (timeline_ == nullptr || position.x() >= header_width() || position.y() < ruler_height()) return nullptr;
  const LaneRow* row = row_at(position.y());
  const bool is_at_edge = row != nullptr && row_rect(*row).bottom() - position.y() < kEdge;
  return is_at_edge && !row->is_heading() ? row : nullptr;
}

// A usual lane follows the mouse.
void TimelineView::drag_height(int y) {
  constexpr double kUsualHeight = 20;
  const double moved = y - drag_last_.y();
  drag_last_.setY(y);
  scale_lanes(1 + moved / (kUsualHeight * choice_.scale));
}

// As far towards the row below the mouse as it can go among its siblings.
void TimelineView::drop_row(QPoint at) {
  const std::optional<LaneItem> item = std::exchange(dragged_, std::nullopt);
  const LaneRow* target = row_at(std::clamp(at.y(), ruler_height(), viewport()->height() - 1));
  if (!item || target == nullptr) return;
  const LaneRow* named = target->group || !target->lanes.empty() ? target : heading_of(*target);
  const LaneId to = named == nullptr ? kNoLane : first_lane(groups_, item_of(*named));
  const LaneId from = first_lane(groups_, *item);
  if (to == kNoLane || from == kNoLane || to == from) return;
  const auto distance = [&] {
    const std::vector<LaneId> lanes = lanes_in_order(groups_);
    return place_of(lanes, to) - place_of(lanes, from);
  };
  const bool down = distance() > 0;
  while ((down ? distance() > 0 : distance() < 0) && move_item(*timeline_, groups_, *item, down)) {
  }
  keep_order();
}

}  // namespace swinscope::gui
