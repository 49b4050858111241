// What a selected area holds: the lanes that it touches, and the time that it spans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct NameTotal {
  NameId name = 0;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;  // inside of the window
  bool operator==(const NameTotal&) const = default;
};

struct AreaStatistics {
  std::uint64_t count = 0;                 // events with a part in the window (or, without duration, a start)
  std::int64_t sum_ns = 0;                 // of their parts in the window
  std::vector<std::int64_t> lane_busy_ns;  // as the lanes given; a lane's events do not overlap, so this is its union
  std::vector<NameTotal> names;            // by total, then name: the longest first
};

// `keep`, when not empty, has a flag by NameId: other events are left out (SearchResult::names as a filter).
AreaStatistics area_statistics(const Timeline& timeline, std::span<const LaneId> lanes, Interval window,
                               const std::vector<bool>& keep = {}, int threads = 2);

}  // namespace swinscope::gui
