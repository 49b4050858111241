// Records of many lanes, as they were written, become lanes in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/growing_column.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Which record comes where: order[i] is the place of the record that becomes event i. events[n] are those of lane n.
struct LaneOrder {
  std::vector<EventIndex> order;
  std::vector<Slice> events;
};

// By lane, in the order of `sorted_lanes`, then within the lane by key(place); stable. Records of which is_kept(place)
// is false have no place in it. Most sources write each lane in order, so to part the lanes is all there is to do.
template <typename Key, typename IsKept>
LaneOrder order_by_lane(const GrowingColumn<std::uint32_t>& lane, const std::vector<std::uint32_t>& sorted_lanes,
                        Key key, IsKept is_kept, const Watch& watch) {
  LaneOrder result;
  result.events.resize(sorted_lanes.size());
  lane.for_each_place([&](EventIndex place) { result.events[lane[place]].end += is_kept(place) ? 1U : 0U; });
  EventIndex begin = 0;
  for (const std::uint32_t number : sorted_lanes) {
    const EventIndex count = result.events[number].end;
    result.events[number] = {begin, begin};
    begin += count;
  }
  result.order.resize(begin);
  lane.for_each_place([&](EventIndex place) {
    watch.tick();
    if (is_kept(place)) result.order[result.events[lane[place]].end++] = place;
  });
  const auto key_of = [&](EventIndex place) {
    watch.tick();
    return key(place);
  };
  for (const Slice& events : result.events) {
    const auto of_lane = std::span(result.order).subspan(events.begin, events.end - events.begin);
    if (!std::ranges::is_sorted(of_lane, {}, key_of)) std::ranges::stable_sort(of_lane, {}, key_of);
  }
  return result;
}

}  // namespace swinscope
