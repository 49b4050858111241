// One lane of the timeline: events that do not overlap, as columns, with what is needed to ask any pixel for its
// content.
//
// Since the events of a lane do not overlap, starts and ends are both sorted, and three small indexes answer exactly,
// at any zoom, what a stretch of time holds: the running sum of durations every 16 events (busy time), the longest
// event of every 16, 256, 4096... events (what fills most of a pixel), and the first event of each of many equal
// stretches of time (where to look). An event takes 20 bytes (GPU events 24) and the indexes about 2 more.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace.h"

namespace swinscope {

using NameId = std::uint32_t;        // index into Timeline::names
using LanePosition = std::uint32_t;  // index of an event in its lane
inline constexpr LanePosition kNoPosition = std::numeric_limits<LanePosition>::max();

// What a lane shows. kCommunication are NCCL's and other communication kernels, kCopies copies and sets, each apart
// from the other work of their stream.
enum class LaneKind : std::uint8_t { kKernels, kCommunication, kCopies, kRanges, kCalls };
inline constexpr int kLaneKinds = 5;
constexpr bool is_gpu(LaneKind kind) { return kind <= LaneKind::kCopies; }

// Which events a lane holds. Lanes that are equal but for `sublane` are one lane whose events overlap.
struct LaneKey {
  std::uint32_t process = 0;  // index into Timeline::processes
  LaneKind kind = LaneKind::kKernels;
  std::int32_t device = 0;       // of GPU lanes
  std::uint32_t context = 0;     // of GPU lanes
  std::uint32_t stream = 0;      // of GPU lanes
  std::uint64_t global_tid = 0;  // of ranges and calls
  std::uint32_t domain = 0;      // of ranges
  std::uint16_t depth = 0;       // of ranges: enclosing ranges of the same thread and domain
  std::uint32_t sublane = 0;     // 0 unless events overlap
  bool operator==(const LaneKey&) const = default;
};

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

class TimelineLane {
 public:
  LaneKey key;
  std::string label;  // "stream 7", "NCCL, stream 13", "main · step"

  // Filling. Events come in order of time and each begins no earlier than the one before ends, after which seal() makes
  // the indexes. Nothing may be appended after it.
  void reserve(std::size_t events);
  void append(const LaneEvent& event);
  void seal();

  LanePosition size() const { return static_cast<LanePosition>(start_ns_.size()); }
  bool empty() const { return start_ns_.empty(); }
  std::int64_t begin_ns() const { return start_ns_.front(); }       // of a lane with events
  std::int64_t end_ns() const { return event_end_ns(size() - 1); }  // of a lane with events
  std::int64_t start_ns(LanePosition i) const { return start_ns_[i]; }
  std::int64_t duration_ns(LanePosition i) const {
    return duration_[i] != kLong ? std::int64_t{duration_[i]} : long_duration_ns(i);
  }
  std::int64_t event_end_ns(LanePosition i) const { return start_ns_[i] + duration_ns(i); }
  LaneEvent event(LanePosition i) const;

  std::span<const NameId> names() const { return name_; }
  // Ascending, since a lane has the order of the trace's columns.
  std::span<const EventIndex> refs() const { return ref_; }
  // Empty in lanes of ranges and calls.
  std::span<const EventIndex> launches() const { return launch_; }
  void rename(std::span<const NameId> to);  // each name n becomes to[n]
  void shift(std::int64_t offset_ns);       // moves all events in time

  // The first event that starts at `time` or later; size() when there is none.
  LanePosition first_from(std::int64_t time_ns) const;
  // Fetches into the cache what first_from(time) reads first, and, where that was done before, what occupancy() reads
  // there: memory is slow, and who goes through a lane knows early where it goes.
  void prefetch_index(std::int64_t time_ns) const;
  void prefetch_events(std::int64_t time_ns) const;
  // The events of [begin, end), as positions [first, last): those that cover part of it, and those without duration
  // that start in it.
  std::pair<LanePosition, LanePosition> events_in(std::int64_t begin_ns, std::int64_t end_ns) const;
  Occupancy occupancy(std::int64_t begin_ns, std::int64_t end_ns) const;
  // The same for who already knows events_in(begin, end).
  Occupancy occupancy(std::pair<LanePosition, LanePosition> events, std::int64_t begin_ns, std::int64_t end_ns) const;
  std::int64_t busy_ns(std::int64_t begin_ns, std::int64_t end_ns) const { return occupancy(begin_ns, end_ns).busy_ns; }
  // The position of the event with this index in the trace, kNoPosition when it is not in this lane.
  LanePosition find(EventIndex ref) const;

  std::size_t memory_bytes() const;

 private:
  static constexpr LanePosition kBlock = 16;
  static constexpr std::uint32_t kLong = std::numeric_limits<std::uint32_t>::max();

  std::size_t stretch_of(std::int64_t time_ns) const;
  std::int64_t long_duration_ns(LanePosition i) const;
  std::int64_t add_up_ns(LanePosition first, LanePosition last) const;
  // The duration as in duration_ above the position counted from behind: the largest of some keys is the longest event,
  // of equal ones the earliest. To compare them takes no branch, and no look at the event.
  using Key = std::uint64_t;
  Key key_of(LanePosition i) const { return (Key{duration_[i]} << 32U) | (kNoPosition - i); }

  Key largest_key(LanePosition first, LanePosition last) const;
  LanePosition longest(LanePosition first, LanePosition last) const;
  std::int64_t sum_ns(LanePosition first, LanePosition last) const;
  void index_durations();
  void index_times();

  std::vector<std::int64_t> start_ns_;
  std::vector<std::uint32_t> duration_;  // ns; kLong: in long_
  std::vector<NameId> name_;
  std::vector<EventIndex> ref_;
  std::vector<EventIndex> launch_;
  std::vector<std::pair<LanePosition, std::int64_t>> long_;  // durations of 4.29 s and more, by position
  std::vector<std::int64_t> sum_;                            // of the durations before event 16 i
  std::vector<std::vector<Key>> longest_;                    // [k][i]: of events 16^(k+1) i to 16^(k+1) (i + 1)
  std::vector<LanePosition> first_;                          // first_from(begin_ns() + (i << shift_))
  int shift_ = 0;
};

}  // namespace swinscope
