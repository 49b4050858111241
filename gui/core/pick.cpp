#include "gui/core/pick.h"

#include <algorithm>

namespace swinscope::gui {
namespace {

bool same_but_sublane(LaneKey a, const LaneKey& b) {
  a.sublane = b.sublane;
  return a == b;
}

std::optional<TimelineEventId> at(LaneId lane, LanePosition position) { return TimelineEventId{lane, position}; }

// What is drawn in one column.
LanePosition drawn_at(const TimelineLane& lane, const Viewport& view, int x) {
  const std::int64_t begin = view.time_at(x);
  return lane.occupancy(begin, std::max(view.time_at(x + 1), begin + 1)).event;
}

LaunchLink link(const Timeline& timeline, TimelineEventId call, TimelineEventId work) {
  const LaneEvent from = timeline.event(call);
  const LaneEvent to = timeline.event(work);
  return {call, work, to.start_ns - from.start_ns, std::max<std::int64_t>(to.start_ns - from.end_ns(), 0)};
}

std::vector<LaunchLink> work_of(const Timeline& timeline, TimelineEventId call, std::size_t limit) {
  const std::uint32_t process = timeline.lanes[call.lane].key.process;
  const EventIndex wanted = timeline.event(call).ref;
  std::vector<LaunchLink> links;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const TimelineLane& lane = timeline.lanes[id];
    if (!is_gpu(lane.key.kind) || lane.key.process != process) continue;
    const std::span<const EventIndex> launches = lane.launches();
    for (auto found = std::ranges::find(launches, wanted); found != launches.end();
         found = std::find(found + 1, launches.end(), wanted)) {
      links.push_back(link(timeline, call, {id, static_cast<LanePosition>(found - launches.begin())}));
    }
  }
  const auto start = [&](const LaunchLink& link) { return timeline.event(link.work).start_ns; };
  std::ranges::stable_sort(links, {}, start);
  if (links.size() > limit) links.resize(limit);
  return links;
}

}  // namespace

std::optional<TimelineEventId> hit_test(const Timeline& timeline, LaneId lane, const Viewport& view, int x, int reach) {
  if (lane >= timeline.lanes.size()) return std::nullopt;
  for (int distance = 0; distance <= reach; ++distance) {
    for (const int column : {x - distance, x + distance}) {
      const LanePosition hit = drawn_at(timeline.lanes[lane], view, column);
      if (hit != kNoPosition) return at(lane, hit);
    }
  }
  return std::nullopt;
}

std::optional<TimelineEventId> next_in_lane(const Timeline& timeline, TimelineEventId from, bool forward) {
  const LanePosition size = timeline.lanes[from.lane].size();
  if (forward) return from.position + 1 < size ? at(from.lane, from.position + 1) : std::nullopt;
  return from.position > 0 ? at(from.lane, from.position - 1) : std::nullopt;
}

std::optional<TimelineEventId> parent_range(const Timeline& timeline, TimelineEventId range) {
  const TimelineLane& lane = timeline.lanes[range.lane];
  if (lane.key.kind != LaneKind::kRanges || lane.key.depth == 0) return std::nullopt;
  LaneKey wanted = lane.key;
  --wanted.depth;
  const std::int64_t start = lane.start_ns(range.position);
  std::optional<TimelineEventId> best;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const TimelineLane& outer = timeline.lanes[id];
    if (!same_but_sublane(outer.key, wanted)) continue;
    const LanePosition behind = outer.first_from(start + 1);
    if (behind == 0 || outer.event_end_ns(behind - 1) < start) continue;
    if (!best || outer.start_ns(behind - 1) > timeline.lanes[best->lane].start_ns(best->position)) {
      best = at(id, behind - 1);
    }
  }
  return best;
}

std::vector<LaunchLink> links_of(const Timeline& timeline, TimelineEventId event, std::size_t limit) {
  const TimelineLane& lane = timeline.lanes[event.lane];
  // Of a preview, the indexes belong to other events.
  if (timeline.preview || lane.key.kind == LaneKind::kRanges) return {};
  if (lane.key.kind == LaneKind::kCalls) return work_of(timeline, event, limit);
  const EventIndex launch = timeline.event(event).launch;
  if (launch == kNoEvent) return {};
  const TimelineEventId call = timeline.find(lane.key.process, LaneKind::kCalls, launch);
  if (call.position == kNoPosition) return {};
  return {link(timeline, call, event)};
}

}  // namespace swinscope::gui
