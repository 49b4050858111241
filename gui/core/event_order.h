// Events of several lanes in one order: by start, then lane, then position.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

using EventOrder = std::tuple<std::int64_t, LaneId, LanePosition>;
inline constexpr EventOrder kBeforeAll{std::numeric_limits<std::int64_t>::min(), 0, 0};
inline constexpr EventOrder kBehindAll{std::numeric_limits<std::int64_t>::max(), 0, 0};

inline EventOrder order_of(const Timeline& timeline, TimelineEventId id) {
  return {timeline.lanes[id.lane].start_ns(id.position), id.lane, id.position};
}

// The nearest event behind (before) `from` in the given lanes whose name `wanted(NameId)` accepts.
template <typename Wanted>
std::optional<TimelineEventId> nearest_event(const Timeline& timeline, std::span<const LaneId> lanes,
                                             const EventOrder& from, bool forward, Wanted wanted) {
  const std::int64_t from_ns = std::get<0>(from);
  std::optional<EventOrder> best;
  for (const LaneId id : lanes) {
    const TimelineLane& lane = timeline.lanes[id];
    LanePosition i = lane.first_from(from_ns);
    while (!forward && i < lane.size() && lane.start_ns(i) == from_ns)
      ++i;
    for (; forward ? i < lane.size() : i > 0; forward ? ++i : --i) {
      const LanePosition at = forward ? i : i - 1;
      const EventOrder order{lane.start_ns(at), id, at};
      // What follows in this lane cannot be nearer than what is known.
      if (best && (forward ? order > *best : order < *best)) break;
      if ((forward ? order <= from : order >= from) || !wanted(lane.names()[at])) continue;
      best = order;
      break;
    }
  }
  if (!best) return std::nullopt;
  return TimelineEventId{std::get<1>(*best), std::get<2>(*best)};
}

}  // namespace swinscope::gui
