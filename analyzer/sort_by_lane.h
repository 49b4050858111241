// Records of many lanes, as they were written, become lanes in order.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/parallel.h"
#include "analyzer/trace.h"

namespace swinscope {

// Sorts by lane, then within the lane by key; stable. Most sources write each lane in order, so to part the lanes is
// all there is to do.
template <typename Record, typename LaneKey, typename Key>
void sort_by_lane(std::vector<Record>& records, LaneKey lane_key, Key key, const Watch& watch) {
  std::map<decltype(lane_key(records.front())), std::vector<EventIndex>> lanes;
  for (EventIndex i = 0; i < records.size(); ++i) {
    watch.tick();
    lanes[lane_key(records[i])].push_back(i);
  }
  std::vector<Record> sorted;
  sorted.reserve(records.size());
  for (auto& [unused, events] : lanes) {
    const auto key_of = [&](EventIndex i) {
      watch.tick();
      return key(records[i]);
    };
    if (!std::ranges::is_sorted(events, {}, key_of)) std::ranges::stable_sort(events, {}, key_of);
    for (const EventIndex i : events)
      sorted.push_back(records[i]);
  }
  records = std::move(sorted);
}

// Cuts sorted records into lanes; `make` builds the lane of a record.
template <typename Lane, typename Record, typename Key, typename Make>
std::vector<Lane> cut_into_lanes(const std::vector<Record>& records, Key key, Make make) {
  std::vector<Lane> lanes;
  for (EventIndex i = 0; i < records.size(); ++i) {
    if (i == 0 || key(records[i]) != key(records[i - 1])) {
      lanes.push_back(make(records[i]));
      lanes.back().events = {i, i};
    }
    lanes.back().events.end = i + 1;
  }
  return lanes;
}

}  // namespace swinscope
