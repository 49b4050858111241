#include "gui/core/occurrences.h"

#include <tuple>
#include <vector>

#include "gui/core/event_order.h"

namespace swinscope::gui {
namespace {

// The longest first, of equal ones the first.
using LengthOrder = std::tuple<std::int64_t, EventOrder>;

LengthOrder length_order(const Timeline& timeline, TimelineEventId id) {
  return {-timeline.event(id).duration_ns, order_of(timeline, id)};
}

std::vector<LaneId> lanes_like(const Timeline& timeline, TimelineEventId from) {
  const LaneKey& key = timeline.lanes[from.lane].key;
  std::vector<LaneId> lanes;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const LaneKey& other = timeline.lanes[id].key;
    if (other.process == key.process && is_gpu(other.kind) == is_gpu(key.kind)) lanes.push_back(id);
  }
  return lanes;
}

template <typename Visit>
void visit_named(const Timeline& timeline, const std::vector<LaneId>& lanes, NameId name, const Visit& visit) {
  for (const LaneId id : lanes) {
    const std::span<const NameId> names = timeline.lanes[id].names();
    for (LanePosition i = 0; i < names.size(); ++i)
      if (names[i] == name) visit(TimelineEventId{id, i});
  }
}

// The longest behind `bound`, nothing: of all.
TimelineEventId longest(const Timeline& timeline, const std::vector<LaneId>& lanes, NameId name,
                        const std::optional<LengthOrder>& bound) {
  std::optional<LengthOrder> best;
  TimelineEventId found;
  visit_named(timeline, lanes, name, [&](TimelineEventId id) {
    const LengthOrder order = length_order(timeline, id);
    if ((bound && order <= *bound) || (best && order >= *best)) return;
    best = order;
    found = id;
  });
  return found;
}

TimelineEventId nearest(const Timeline& timeline, const std::vector<LaneId>& lanes, NameId name, TimelineEventId from,
                        bool forward) {
  const auto wanted = [&](NameId other) { return other == name; };
  if (const auto found = nearest_event(timeline, lanes, order_of(timeline, from), forward, wanted)) return *found;
  return nearest_event(timeline, lanes, forward ? kBeforeAll : kBehindAll, forward, wanted).value_or(from);
}

}  // namespace

OccurrencePlace occurrence(const Timeline& timeline, TimelineEventId from, Occurrence which) {
  const std::vector<LaneId> lanes = lanes_like(timeline, from);
  const NameId name = timeline.event(from).name;
  OccurrencePlace place;
  switch (which) {
    case Occurrence::kNext:
    case Occurrence::kPrevious:
      place.event = nearest(timeline, lanes, name, from, which == Occurrence::kNext);
      break;
    case Occurrence::kShorter:
      place.event = longest(timeline, lanes, name, length_order(timeline, from));
      if (place.event.position != kNoPosition) break;
      [[fallthrough]];
    case Occurrence::kLongest:
      place.event = longest(timeline, lanes, name, std::nullopt);
      break;
  }
  const EventOrder order = order_of(timeline, place.event);
  visit_named(timeline, lanes, name, [&](TimelineEventId id) {
    ++place.count;
    if (order_of(timeline, id) <= order) ++place.number;
  });
  return place;
}

}  // namespace swinscope::gui
