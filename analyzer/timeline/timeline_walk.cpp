#include "analyzer/timeline/timeline_walk.h"

#include <algorithm>
#include <array>

namespace swinscope {

LaneWalk::Place LaneWalk::at(const TimelineLane& lane, std::int64_t time_ns) {
  const Moment moment = lane.moment(time_ns);
  Place place{time_ns, moment.next, 0, kNever, time_ns, time_ns, moment.busy_ns};
  if (place.next < lane.size()) place.next_start_ns = lane.start_ns(place.next);
  if (place.next == 0) return place;
  place.block = (place.next - 1) / TimelineLane::kBlock;
  place.start_ns = lane.start_ns(place.next - 1);
  place.end_ns = lane.event_end_ns(place.next - 1);
  if (moment.covered) place.busy_before_ns += place.end_ns - time_ns;
  return place;
}

inline LaneWalk::Way LaneWalk::way_to(const TimelineLane& lane, std::int64_t time_ns, std::uint32_t from) {
  constexpr std::uint32_t kFar = 64;
  const TimelineLane::Block* const blocks = lane.blocks_.data();
  const auto behind = static_cast<std::uint32_t>(lane.blocks_.size());
  const std::uint32_t too_far = std::min(behind, from + kFar);
  Way way{from};
  std::uint32_t next = from + 1;
  for (; next < too_far && blocks[next].start_ns < time_ns; ++next) {
    if (next - 1 > from) way.longest = std::max(way.longest, blocks[next - 1].longest);
  }
  way.block = next - 1;
  if (next == too_far && next < behind && blocks[next].start_ns < time_ns) {
    way.is_short = false;
    way.block = lane.block_of(lane.first_[lane.stretch_of(time_ns)], time_ns);
  }
  return way;
}

// A time behind the start of the block where the way ends, and not behind that of the next one.
inline LaneWalk::Place LaneWalk::at_end_of(const TimelineLane& lane, const Way& way, std::int64_t time_ns) {
  const std::uint32_t b = way.block;
  const TimelineLane::Block& block = lane.blocks_[b];
  const TimelineLane::Times& times = lane.times_[b];
  const std::uint64_t distance_ns = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(block.start_ns);
  if (distance_ns > TimelineLane::kFar || block.busy_ns == kLongNs) return at(lane, time_ns);
  // All 16 each time: nobody can predict a branch that depends on the times.
  std::uint32_t before = 0;
  for (const std::uint32_t one : times.distance)
    before += static_cast<std::int32_t>(one) < static_cast<std::int32_t>(distance_ns) ? 1U : 0U;
  if (before == 0) __builtin_unreachable();  // the first one starts with the block; gcc 13 warns of an index of -1
  const std::uint32_t busy_ns = lane.busy_before(b, before);
  Place place{time_ns, b * TimelineLane::kBlock + before, b, kNever};
  place.start_ns = block.start_ns + times.distance[before - 1];
  place.end_ns = place.start_ns + busy_ns - lane.busy_before(b, before - 1);
  place.busy_before_ns = block.before_ns + busy_ns;
  if (place.next < lane.size()) {
    const bool is_here = before < TimelineLane::kBlock && times.distance[before] != TimelineLane::kFar;
    place.next_start_ns = is_here ? block.start_ns + times.distance[before] : lane.start_ns(place.next);
  }
  return place;
}

// The longest of some events that lie within the stretch, at least one. The last one is in the block where the way
// ends.
inline DurationKey LaneWalk::longest_between(const TimelineLane& lane, LanePosition first, LanePosition last,
                                             const Way& way) {
  if (first / TimelineLane::kBlock == way.block) return lane.longest_in_block(first, last);
  DurationKey longest = std::max(way.longest, lane.longest_from(first));
  if (last % TimelineLane::kBlock != 0) longest = std::max(longest, lane.longest_until(last - 1));
  return longest;
}

// Of a stretch in which an event starts.
inline Occupancy LaneWalk::between(const TimelineLane& lane, const Place& begin, const Place& end, const Way& way) {
  const LanePosition first = begin.next;
  const LanePosition last = end.next - 1;  // no other one that starts here can reach beyond the stretch
  const std::int64_t beyond_ns = end.covered() ? end.end_ns - end.time_ns : 0;
  Occupancy result{end.busy_before_ns - begin.busy_before_ns - beyond_ns, first};
  std::int64_t most_ns = -1;
  const auto consider = [&](LanePosition event, std::int64_t covered_ns) {
    result.event = covered_ns > most_ns ? event : result.event;
    most_ns = std::max(most_ns, covered_ns);
  };
  if (begin.covered()) {
    result.busy_ns += begin.end_ns - begin.time_ns;
    consider(first - 1, begin.end_ns - begin.time_ns);
  }
  if (last > first) {
    const DurationKey key = way.is_short ? longest_between(lane, first, last, way) : ~DurationKey{0};
    if (duration_of(key) != kLongNs) {
      consider(position_of(key), duration_of(key));
    } else {
      const auto [event, duration_ns] = lane.longest(first, last);
      consider(event, duration_ns);
    }
  }
  consider(last, end.end_ns - end.start_ns - beyond_ns);
  return result;
}

// To a time before which no event starts.
inline Occupancy LaneWalk::wait(Place& now, std::int64_t time_ns) {
  Occupancy result;
  if (now.covered()) result = {std::min(now.end_ns, time_ns) - now.time_ns, now.next - 1};
  now.time_ns = time_ns;
  return result;
}

inline Occupancy LaneWalk::walk(const TimelineLane& lane, Place& now, const Way& way, std::int64_t time_ns) {
  const Place end = at_end_of(lane, way, time_ns);
  const Occupancy result = between(lane, now, end, way);
  now = end;
  return result;
}

Occupancy LaneWalk::advance(std::int64_t time_ns) {
  if (now_.next_start_ns >= time_ns) return wait(now_, time_ns);
  return walk(lane_, now_, way_to(lane_, time_ns, now_.block), time_ns);
}

void LaneWalk::advance(std::span<const std::int64_t> times_ns, std::span<Occupancy> out) {
  constexpr std::size_t kAhead = 32;
  std::array<Way, kAhead> ways;
  Place now = now_;
  for (std::size_t begin = 0; begin < times_ns.size(); begin += kAhead) {
    const auto times = times_ns.subspan(begin, std::min(kAhead, times_ns.size() - begin));
    std::uint32_t block = now.block;
    for (std::size_t i = 0; i < times.size() && now.next_start_ns < times.back(); ++i) {
      ways[i] = way_to(lane_, times[i], block);
      block = ways[i].block;
      __builtin_prefetch(&lane_.times_[block].distance);
      __builtin_prefetch(&lane_.times_[block].until);
    }
    for (std::size_t i = 0; i < times.size(); ++i)
      out[begin + i] = now.next_start_ns >= times[i] ? wait(now, times[i]) : walk(lane_, now, ways[i], times[i]);
  }
  now_ = now;
}

}  // namespace swinscope
