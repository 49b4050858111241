// Goes through a lane from left to right and says what each stretch of time holds, which is what drawing it asks.
//
// TimelineLane answers for any stretch by looking for its two ends. Here each stretch begins where the one before ends,
// so nothing is looked for: the blocks in between are passed one after the other, as memory likes it, and what was
// learned at one end is used for both stretches that meet there.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "analyzer/timeline/timeline_lane.h"

namespace swinscope {

class LaneWalk {
 public:
  LaneWalk(const TimelineLane& lane, std::int64_t time_ns) : lane_(lane), now_(at(lane, time_ns)) {}

  std::int64_t time_ns() const { return now_.time_ns; }
  // The event of now, which began before; kNoPosition when there is none.
  LanePosition covering() const { return now_.covered() ? now_.next - 1 : kNoPosition; }
  // Until when that stays so: the end of that event, or the start of the next one; kNever when none follows.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::int64_t change_ns() const { return now_.covered() ? now_.end_ns : now_.next_start_ns; }

  // What lies between now and each of some ascending times, where the walk then is: lane.occupancy() of the stretches
  // [now, times[0]), [times[0], times[1]) and so on. Faster for many: memory is asked early for what lies at their
  // ends.
  void advance(std::span<const std::int64_t> times_ns, std::span<Occupancy> out);
  Occupancy advance(std::int64_t time_ns);
  // To any time.
  void seek(std::int64_t time_ns) { now_ = at(lane_, time_ns); }

 private:
  struct Place {
    std::int64_t time_ns = 0;
    LanePosition next = 0;            // the first event that starts now or later
    std::uint32_t block = 0;          // the last one that begins before now, 0 when there is none
    std::int64_t next_start_ns = 0;   // of event next
    std::int64_t start_ns = 0;        // of event next - 1
    std::int64_t end_ns = 0;          // of event next - 1; no later than now when there is none
    std::int64_t busy_before_ns = 0;  // the durations of all events before next, added up
    bool covered() const { return end_ns > time_ns; }
  };
  // The way to a time by whole blocks.
  struct Way {
    std::uint32_t block = 0;  // the last one that begins before the time
    bool is_short = true;     // then:
    DurationKey longest = 0;  // of the blocks in between
  };
  static Place at(const TimelineLane& lane, std::int64_t time_ns);
  static Place at_end_of(const TimelineLane& lane, const Way& way, std::int64_t time_ns);
  static Way way_to(const TimelineLane& lane, std::int64_t time_ns, std::uint32_t from);
  static DurationKey longest_between(const TimelineLane& lane, LanePosition first, LanePosition last, const Way& way);
  static Occupancy between(const TimelineLane& lane, const Place& begin, const Place& end, const Way& way);
  static Occupancy wait(Place& now, std::int64_t time_ns);
  static Occupancy walk(const TimelineLane& lane, Place& now, const Way& way, std::int64_t time_ns);

  const TimelineLane& lane_;
  Place now_;
};

}  // namespace swinscope
