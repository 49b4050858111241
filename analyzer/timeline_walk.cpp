#include "analyzer/timeline_walk.h"

#include <algorithm>
#include <array>

namespace swinscope {

void LaneWalk::seek(std::int64_t time_ns) {
  const Moment moment = lane_.moment(time_ns);
  time_ns_ = time_ns;
  next_ = moment.next;
  next_start_ns_ = next_ < lane_.size() ? lane_.start_ns(next_) : kNever;
  start_ns_ = end_ns_ = time_ns;
  busy_before_ns_ = moment.busy_ns;
  block_ = 0;
  if (next_ == 0) return;
  block_ = (next_ - 1) / TimelineLane::kBlock;
  start_ns_ = lane_.start_ns(next_ - 1);
  end_ns_ = lane_.event_end_ns(next_ - 1);
  if (moment.covered) busy_before_ns_ += end_ns_ - time_ns;
}

LaneWalk::Way LaneWalk::way_to(std::int64_t time_ns, std::uint32_t from) const {
  constexpr std::uint32_t kFar = 64;
  const TimelineLane::Block* const blocks = lane_.blocks_.data();
  const auto behind = static_cast<std::uint32_t>(lane_.blocks_.size());
  const std::uint32_t too_far = std::min(behind, from + kFar);
  Way way{from};
  std::uint32_t next = from + 1;
  for (; next < too_far && blocks[next].start_ns < time_ns; ++next) {
    if (next - 1 > from) way.longest = std::max(way.longest, blocks[next - 1].longest);
  }
  way.block = next - 1;
  if (next == too_far && next < behind && blocks[next].start_ns < time_ns) {
    way.is_short = false;
    way.block = lane_.block_of(lane_.first_[lane_.stretch_of(time_ns)], time_ns);
  }
  return way;
}

// Goes to a time behind the start of a block, and not behind that of the next one.
void LaneWalk::stop_in_block(std::uint32_t b, std::int64_t time_ns) {
  const TimelineLane::Block& block = lane_.blocks_[b];
  const TimelineLane::Times& times = lane_.times_[b];
  const std::uint64_t distance_ns = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(block.start_ns);
  if (distance_ns > TimelineLane::kFar || block.busy_ns == TimelineLane::kLong) return seek(time_ns);
  // All 16 each time: nobody can predict a branch that depends on the times.
  std::uint32_t before = 0;
  for (const std::uint32_t one : times.distance)
    before += static_cast<std::int32_t>(one) < static_cast<std::int32_t>(distance_ns) ? 1U : 0U;
  const std::uint32_t busy_ns = lane_.busy_before(b, before);
  time_ns_ = time_ns;
  block_ = b;
  next_ = b * TimelineLane::kBlock + before;
  start_ns_ = block.start_ns + times.distance[before - 1];
  end_ns_ = start_ns_ + busy_ns - lane_.busy_before(b, before - 1);
  busy_before_ns_ = block.before_ns + busy_ns;
  if (before == TimelineLane::kBlock) {
    next_start_ns_ = next_ < lane_.size() ? lane_.blocks_[b + 1].start_ns : kNever;
  } else if (times.distance[before] != TimelineLane::kFar) {
    next_start_ns_ = block.start_ns + times.distance[before];
  } else {
    next_start_ns_ = next_ < lane_.size() ? lane_.far_start_ns(next_) : kNever;
  }
}

// The longest of some events that lie within the stretch, at least one. The last one is in the block where the way
// ends.
TimelineLane::Key LaneWalk::longest_between(LanePosition first, LanePosition last, const Way& way) const {
  const std::uint32_t first_block = first / TimelineLane::kBlock;
  if (first_block == way.block) return lane_.longest_in_block(first, last);
  TimelineLane::Key longest = std::max(way.longest, lane_.longest_from(first));
  if (last % TimelineLane::kBlock != 0) longest = std::max(longest, lane_.longest_until(last - 1));
  return longest;
}

Occupancy LaneWalk::advance(std::int64_t time_ns, const Way& way) {
  Occupancy result;
  std::int64_t most_ns = -1;
  if (end_ns_ > time_ns_) {
    result = {std::min(end_ns_, time_ns) - time_ns_, next_ - 1};
    most_ns = result.busy_ns;
  }
  if (next_start_ns_ >= time_ns) {
    time_ns_ = time_ns;
    block_ = way.block;
    return result;
  }
  const LanePosition first = next_;
  const std::int64_t before_ns = busy_before_ns_;
  stop_in_block(way.block, time_ns);
  const LanePosition last = next_ - 1;  // no other can reach beyond the stretch
  const std::int64_t beyond_ns = std::max<std::int64_t>(end_ns_ - time_ns, 0);
  result.busy_ns += busy_before_ns_ - before_ns - beyond_ns;
  const auto consider = [&](LanePosition event, std::int64_t covered_ns) {
    result.event = covered_ns > most_ns ? event : result.event;
    most_ns = std::max(most_ns, covered_ns);
  };
  if (last > first) {
    const TimelineLane::Key key = way.is_short ? longest_between(first, last, way) : ~TimelineLane::Key{0};
    if (key >> 32U != TimelineLane::kLong) {
      consider(TimelineLane::position_of(key), static_cast<std::int64_t>(key >> 32U));
    } else {
      const auto [event, duration_ns] = lane_.longest(first, last);
      consider(event, duration_ns);
    }
  }
  consider(last, end_ns_ - start_ns_ - beyond_ns);
  return result;
}

void LaneWalk::advance(std::span<const std::int64_t> times_ns, std::span<Occupancy> out) {
  constexpr std::size_t kAhead = 32;
  std::array<Way, kAhead> ways;
  for (std::size_t begin = 0; begin < times_ns.size(); begin += kAhead) {
    const auto times = times_ns.subspan(begin, std::min(kAhead, times_ns.size() - begin));
    std::uint32_t block = block_;
    ways.fill({block});
    for (std::size_t i = 0; i < times.size() && next_start_ns_ < times.back(); ++i) {
      ways[i] = way_to(times[i], block);
      block = ways[i].block;
      __builtin_prefetch(&lane_.times_[block].distance);
      __builtin_prefetch(&lane_.times_[block].until);
    }
    for (std::size_t i = 0; i < times.size(); ++i)
      out[begin + i] = advance(times[i], ways[i]);
  }
}

}  // namespace swinscope
