// Records of many lanes, as they were written, become lanes in order.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Lanes, and which record comes where: order[i] is the index of the record that becomes event i.
template <typename Lane>
struct LaneOrder {
  std::vector<Lane> lanes;
  std::vector<EventIndex> order;
};

// By lane, then within the lane by key; stable. Most sources write each lane in order, so to part the lanes is all
// there is to do. `make` builds the lane of a record. The records stay where they are: they are large.
template <typename Lane, typename Record, typename LaneKey, typename Key, typename Make>
LaneOrder<Lane> order_by_lane(const std::vector<Record>& records, LaneKey lane_key, Key key, Make make,
                              const Watch& watch) {
  std::map<decltype(lane_key(records.front())), std::vector<EventIndex>> parts;
  auto part = parts.end();
  for (EventIndex i = 0; i < records.size(); ++i) {
    watch.tick();
    const auto at = lane_key(records[i]);
    if (part == parts.end() || part->first != at) part = parts.try_emplace(at).first;
    part->second.push_back(i);
  }
  LaneOrder<Lane> result;
  result.order.reserve(records.size());
  for (auto& [unused, events] : parts) {
    const auto key_of = [&](EventIndex i) {
      watch.tick();
      return key(records[i]);
    };
    if (!std::ranges::is_sorted(events, {}, key_of)) std::ranges::stable_sort(events, {}, key_of);
    const auto begin = static_cast<EventIndex>(result.order.size());
    result.order.insert(result.order.end(), events.begin(), events.end());
    result.lanes.push_back(make(records[events.front()]));
    result.lanes.back().events = {begin, static_cast<EventIndex>(result.order.size())};
  }
  return result;
}

}  // namespace swinscope
