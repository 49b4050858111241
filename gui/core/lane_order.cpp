#include "gui/core/lane_order.h"

#include <algorithm>
#include <iterator>

namespace swinscope::gui {
namespace {

// Whether one goes on with the other: they differ in depth and overlap alone.
bool go_on(LaneKey a, LaneKey b) {
  a.depth = b.depth = 0;
  a.sublane = b.sublane = 0;
  return a == b;
}

// Calls `visit` with each list of siblings and the group that has it; nullptr: ranks.
template <typename Groups, typename Visit>
void visit_siblings(Groups& groups, LaneGroup* around, const Visit& visit) {
  visit(groups, around);
  for (LaneGroup& group : groups)
    visit_siblings(group.groups, &group, visit);
}

bool move_group(std::vector<LaneGroup>& groups, const GroupKey& key, bool down) {
  bool has_moved = false;
  visit_siblings(groups, nullptr, [&](std::vector<LaneGroup>& siblings, const LaneGroup*) {
    const auto found = std::ranges::find(siblings, key, &LaneGroup::key);
    if (has_moved || found == siblings.end()) return;
    if (down ? std::next(found) == siblings.end() : found == siblings.begin()) return;
    std::iter_swap(found, down ? std::next(found) : std::prev(found));
    has_moved = true;
  });
  return has_moved;
}

bool move_lane(const Timeline& timeline, std::vector<LaneId>& lanes, LaneId lane, bool down) {
  const auto at = std::ranges::find(lanes, lane);
  if (at == lanes.end()) return false;
  const auto same = [&](LaneId of) {
    return [&, of](LaneId id) { return go_on(timeline.lanes[id].key, timeline.lanes[of].key); };
  };
  // [first, last) is what moves, the neighbour stands behind it or before it.
  const auto first = std::find_if_not(std::make_reverse_iterator(at), lanes.rend(), same(lane)).base();
  const auto last = std::find_if_not(at, lanes.end(), same(lane));
  if (down ? last == lanes.end() : first == lanes.begin()) return false;
  if (down) {
    std::rotate(first, last, std::find_if_not(last, lanes.end(), same(*last)));
  } else {
    const LaneId before = *std::prev(first);
    std::rotate(std::find_if_not(std::make_reverse_iterator(first), lanes.rend(), same(before)).base(), first, last);
  }
  return true;
}

template <typename Key>
std::ptrdiff_t place_of(const std::vector<Key>& order, const Key& key) {
  return std::ranges::find(order, key) - order.begin();
}

}  // namespace

bool move_item(const Timeline& timeline, std::vector<LaneGroup>& groups, const LaneItem& item, bool down) {
  if (item.group) return move_group(groups, *item.group, down);
  bool has_moved = false;
  visit_siblings(groups, nullptr, [&](std::vector<LaneGroup>& siblings, const LaneGroup*) {
    for (LaneGroup& group : siblings)
      has_moved = has_moved || move_lane(timeline, group.lanes, item.lane, down);
  });
  return has_moved;
}

std::optional<LaneItem> group_around(const std::vector<LaneGroup>& groups, const LaneItem& item) {
  std::optional<LaneItem> found;
  std::vector<LaneGroup> all = groups;
  visit_siblings(all, nullptr, [&](std::vector<LaneGroup>& siblings, const LaneGroup* around) {
    for (const LaneGroup& group : siblings) {
      if (item.group && group.key == *item.group && around != nullptr) found = LaneItem{around->key};
      const bool has_lane = std::ranges::find(group.lanes, item.lane) != group.lanes.end();
      if (!item.group && has_lane) found = LaneItem{group.key};
    }
  });
  return found;
}

std::vector<LaneId> lanes_in_order(const std::vector<LaneGroup>& groups) {
  std::vector<LaneId> lanes;
  for (const LaneGroup& group : groups)
    std::ranges::copy(group.all_lanes(), std::back_inserter(lanes));
  return lanes;
}

LaneOrder order_of_lanes(const Timeline& timeline, const std::vector<LaneGroup>& groups) {
  LaneOrder order;
  for (const LaneId lane : lanes_in_order(groups))
    order.lanes.push_back(timeline.lanes[lane].key);
  std::vector<LaneGroup> all = groups;
  visit_siblings(all, nullptr, [&](std::vector<LaneGroup>& siblings, const LaneGroup*) {
    for (const LaneGroup& group : siblings)
      order.groups.push_back(group.key);
  });
  return order;
}

void restore_order(const Timeline& timeline, const LaneOrder& order, std::vector<LaneGroup>& groups) {
  visit_siblings(groups, nullptr, [&](std::vector<LaneGroup>& siblings, const LaneGroup*) {
    std::ranges::stable_sort(siblings, {}, [&](const LaneGroup& group) { return place_of(order.groups, group.key); });
    for (LaneGroup& group : siblings)
      std::ranges::stable_sort(group.lanes, {},
                               [&](LaneId lane) { return place_of(order.lanes, timeline.lanes[lane].key); });
  });
}

}  // namespace swinscope::gui
