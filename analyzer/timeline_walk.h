// Goes through a lane from left to right and says what each stretch of time holds, which is what drawing it asks.
//
// TimelineLane answers for any stretch by looking for its two ends. Here each stretch begins where the one before ends,
// so nothing is looked for: the blocks in between are passed one after the other, as memory likes it, and what was
// learned at one end is used for both stretches that meet there.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "analyzer/timeline_lane.h"

namespace swinscope {

class LaneWalk {
 public:
  LaneWalk(const TimelineLane& lane, std::int64_t time_ns) : lane_(lane) { seek(time_ns); }

  std::int64_t time_ns() const { return time_ns_; }
  // The event of now, which began before; kNoPosition when there is none.
  LanePosition covering() const { return end_ns_ > time_ns_ ? next_ - 1 : kNoPosition; }
  // Until when that stays so: the end of that event, or the start of the next one; kNever when none follows.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::int64_t change_ns() const { return end_ns_ > time_ns_ ? end_ns_ : next_start_ns_; }

  // What lies between now and each of some ascending times, where the walk then is: lane.occupancy() of the stretches
  // [now, times[0]), [times[0], times[1]) and so on. Faster for many: memory is asked early for what lies at their
  // ends.
  void advance(std::span<const std::int64_t> times_ns, std::span<Occupancy> out);
  Occupancy advance(std::int64_t time_ns) {
    Occupancy result;
    advance(std::span(&time_ns, 1), std::span(&result, 1));
    return result;
  }
  // To any time.
  void seek(std::int64_t time_ns);

 private:
  // The way to a time by whole blocks.
  struct Way {
    std::uint32_t block = 0;        // the last one that begins before the time
    bool is_short = true;           // then:
    TimelineLane::Key longest = 0;  // of the blocks in between
  };
  Way way_to(std::int64_t time_ns, std::uint32_t from) const;
  Occupancy advance(std::int64_t time_ns, const Way& way);
  void stop_in_block(std::uint32_t block, std::int64_t time_ns);
  TimelineLane::Key longest_between(LanePosition first, LanePosition last, const Way& way) const;

  const TimelineLane& lane_;
  std::int64_t time_ns_ = 0;
  LanePosition next_ = 0;            // the first event that starts now or later
  std::uint32_t block_ = 0;          // the last one that begins before now, 0 when there is none
  std::int64_t next_start_ns_ = 0;   // of event next_
  std::int64_t start_ns_ = 0;        // of event next_ - 1
  std::int64_t end_ns_ = 0;          // of event next_ - 1; no later than now when there is none
  std::int64_t busy_before_ns_ = 0;  // the durations of all events before next_, added up
};

}  // namespace swinscope
