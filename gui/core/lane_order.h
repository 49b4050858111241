// The order of lanes that the user wants. A group moves among its siblings: a GPU among the GPUs and threads of its
// rank, a rank among the ranks. A lane moves within its group, with the lanes that go on with it, deeper or
// overlapping.
#pragma once

#include <optional>
#include <vector>

#include "gui/core/lane_groups.h"

namespace swinscope::gui {

// A group, or without one a lane.
struct LaneItem {
  std::optional<GroupKey> group = {};
  LaneId lane = 0;
};

// One place up or down. False where it is the first or the last of its siblings.
bool move_item(const Timeline& timeline, std::vector<LaneGroup>& groups, const LaneItem& item, bool down);
// The group around it; nothing of a rank.
std::optional<LaneItem> group_around(const std::vector<LaneGroup>& groups, const LaneItem& item);
// All lanes, from top to bottom.
std::vector<LaneId> lanes_in_order(const std::vector<LaneGroup>& groups);

// An order that holds for another timeline of the same trace, too.
struct LaneOrder {
  std::vector<LaneKey> lanes;
  std::vector<GroupKey> groups;
};
LaneOrder order_of_lanes(const Timeline& timeline, const std::vector<LaneGroup>& groups);
// What it does not name comes last.
void restore_order(const Timeline& timeline, const LaneOrder& order, std::vector<LaneGroup>& groups);

}  // namespace swinscope::gui
