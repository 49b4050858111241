// The events of a lane, and what a stretch of time shows of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "analyzer/trace/trace.h"

namespace swinscope {

using NameId = std::uint32_t;        // index into Timeline::names
using LanePosition = std::uint32_t;  // index of an event in its lane
inline constexpr LanePosition kNoPosition = std::numeric_limits<LanePosition>::max();

// One event, read out of the columns.
struct LaneEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name = 0;
  // Index into the columns of Rank (gpu, ranges or api, by the lane's kind) of the trace that the timeline shows.
  EventIndex ref = 0;
  // GPU lanes: the call that launched it, as index into Rank::api; kNoEvent when not recorded, and in the other lanes.
  EventIndex launch = kNoEvent;
  std::int64_t end_ns() const { return start_ns + duration_ns; }
  bool operator==(const LaneEvent&) const = default;
};

// What a stretch of time [begin, end) holds of one lane.
struct Occupancy {
  std::int64_t busy_ns = 0;
  // The event that covers most of it; of equal ones the earliest; kNoPosition when there is none. An event without
  // duration covers nothing, but is there when it starts in the stretch.
  LanePosition event = kNoPosition;
  bool operator==(const Occupancy&) const = default;
};

// The duration (or kLongNs) above the position counted from behind: the largest of some keys is the longest event, of
// equal ones the earliest. To compare them takes no branch. 0 is less than any event's.
using DurationKey = std::uint64_t;
inline constexpr std::uint32_t kLongNs = std::numeric_limits<std::uint32_t>::max();  // and longer

constexpr DurationKey duration_key(std::int64_t duration_ns, LanePosition i) {
  return (static_cast<DurationKey>(std::min<std::int64_t>(duration_ns, kLongNs)) << 32U) | (kNoPosition - i);
}
constexpr LanePosition position_of(DurationKey key) { return kNoPosition - static_cast<LanePosition>(key); }
constexpr std::uint32_t duration_of(DurationKey key) { return static_cast<std::uint32_t>(key >> 32U); }

}  // namespace swinscope
