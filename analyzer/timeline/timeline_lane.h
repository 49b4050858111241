// One lane of the timeline: events that do not overlap, as columns, with what is needed to ask any pixel for its
// content.
//
// Since the events of a lane do not overlap, starts and ends are both sorted, and three small indexes answer exactly,
// at any zoom, what a stretch of time holds: the running sum of durations every 16 events (busy time), the longest
// event of every 16, 256, 4096... events and of the first and last few of 16 (what fills most of a pixel), and where
// each of many equal stretches of time begins (where to look). Memory is what limits drawing: the times of 16 events
// lie in two lines of the cache, what is known of them in half a line. An event takes 16 bytes (GPU events 20) and the
// indexes about 3 more.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/timeline/timeline_event.h"
#include "analyzer/timeline/timeline_grid.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// What a lane shows. kCommunication are kernels of NCCL and the like and copies between GPUs, kCopies other copies and
// sets, each apart from the other work of their stream.
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

// A moment of a lane, and what lies before it: a stretch of time is what lies between two. LaneWalk (timeline_walk.h)
// goes through a lane from left to right.
struct Moment {
  std::int64_t time_ns = 0;
  LanePosition next = 0;     // the first event that starts here or later; size() when there is none
  bool covered = false;      // by event next - 1, which ends later
  std::int64_t busy_ns = 0;  // busy time before
};

class TimelineLane {
 public:
  LaneKey key;
  std::string label;  // "stream 7", "comm, stream 13" (communication), "main · step"

  // Filling. Events come in order of time and each begins no earlier than the one before ends, after which seal() makes
  // the indexes. Nothing may be appended after it.
  void reserve(std::size_t events);
  void append(const LaneEvent& event);
  void seal();

  LanePosition size() const { return static_cast<LanePosition>(name_.size()); }
  bool empty() const { return name_.empty(); }
  std::int64_t begin_ns() const { return blocks_.front().start_ns; }  // of a lane with events
  std::int64_t end_ns() const { return event_end_ns(size() - 1); }    // of a lane with events
  std::int64_t start_ns(LanePosition i) const {
    const std::uint32_t distance = times_[i / kBlock].distance[i % kBlock];
    return distance != kFar ? blocks_[i / kBlock].start_ns + distance : far_start_ns(i);
  }
  std::int64_t duration_ns(LanePosition i) const {
    const std::size_t b = i / kBlock;
    return blocks_[b].busy_ns != kLongNs ? busy_before(b, i % kBlock + 1) - busy_before(b, i % kBlock)
                                         : long_duration_ns(i);
  }
  std::int64_t event_end_ns(LanePosition i) const { return start_ns(i) + duration_ns(i); }
  LaneEvent event(LanePosition i) const;

  std::span<const NameId> names() const { return name_; }
  // names()[i]; faster for the longest of 16 events, which is what is drawn of many.
  NameId name(LanePosition i) const {
    const Block& block = blocks_[i / kBlock];
    return position_of(block.longest) == i ? block.longest_name : name_[i];
  }
  // For when name(i) will be asked soon.
  void prefetch_name(LanePosition i) const { __builtin_prefetch(&blocks_[i / kBlock].longest); }
  // Ascending, since a lane has the order of the trace's columns.
  std::span<const EventIndex> refs() const { return ref_; }
  // Empty in lanes of ranges and calls.
  std::span<const EventIndex> launches() const { return launch_; }
  void rename(std::span<const NameId> to);  // each name n becomes to[n]
  void shift(std::int64_t offset_ns);       // moves all events in time

  // The first event that starts at `time` or later; size() when there is none.
  LanePosition first_from(std::int64_t time_ns) const;
  // The events of [begin, end), as positions [first, last): those that cover part of it, and those without duration
  // that start in it.
  std::pair<LanePosition, LanePosition> events_in(std::int64_t begin_ns, std::int64_t end_ns) const;
  Occupancy occupancy(std::int64_t begin_ns, std::int64_t end_ns) const;
  Moment moment(std::int64_t time_ns) const;
  std::int64_t busy_ns(std::int64_t begin_ns, std::int64_t end_ns) const { return occupancy(begin_ns, end_ns).busy_ns; }
  // What is known beforehand of stretches of time whose ends lie on a grid: nothing until index_grid(), and nothing
  // again after shift().
  const LaneGrid& grid() const { return grid_; }
  void index_grid(std::size_t most_cells) { grid_ = LaneGrid(*this, most_cells); }
  // The position of the event with this index in the trace, kNoPosition when it is not in this lane.
  LanePosition find(EventIndex ref) const;

  std::size_t memory_bytes() const;

 private:
  friend class LaneWalk;
  static constexpr LanePosition kBlock = 16;
  static constexpr std::uint32_t kFar = std::numeric_limits<std::int32_t>::max();

  DurationKey key_of(LanePosition i) const { return duration_key(duration_ns(i), i); }

  // When 16 events happen: two lines of the cache.
  struct alignas(64) Times {
    std::array<std::uint32_t, kBlock> distance;   // ns from the start of the first; kFar: in far_, or no event
    std::array<std::uint32_t, kBlock - 1> until;  // ns: the durations of the first 1 to 15, added up
    std::uint16_t longest_until = 0;              // bit i: event i is longer than each before it
    std::uint16_t longest_from = 0;               // bit i: no event behind event i is longer
  };
  // What is known of 16 events.
  struct alignas(32) Block {
    std::int64_t start_ns = 0;   // of the first
    std::int64_t before_ns = 0;  // the durations of all events before, added up
    DurationKey longest = 0;
    NameId longest_name = 0;
    std::uint32_t busy_ns = 0;  // the durations of the 16, added up; kLongNs: all 16 are in long_ instead
  };
  using Exceptions = std::vector<std::pair<LanePosition, std::int64_t>>;  // ns by position

  // The durations of the first `events` of a block, added up.
  std::uint32_t busy_before(std::size_t block, std::size_t events) const {
    if (events == 0) return 0;
    return events < kBlock ? times_[block].until[events - 1] : blocks_[block].busy_ns;
  }
  std::size_t stretch_of(std::int64_t time_ns) const;
  std::uint32_t block_of(std::uint32_t b, std::int64_t time_ns) const;
  Moment moment_in(std::uint32_t b, std::int64_t time_ns) const;
  std::int64_t far_start_ns(LanePosition i) const;
  std::int64_t long_duration_ns(LanePosition i) const;
  // The longest of a block's events up to event i, and from it on.
  DurationKey longest_until(LanePosition i) const {
    const std::uint32_t longer = times_[i / kBlock].longest_until & ((2U << i % kBlock) - 1);
    return key_of(i - i % kBlock + static_cast<LanePosition>(std::bit_width(longer)) - 1);
  }
  DurationKey longest_from(LanePosition i) const {
    const std::uint32_t not_shorter = std::uint32_t{times_[i / kBlock].longest_from} >> i % kBlock;
    return key_of(i + static_cast<LanePosition>(std::countr_zero(not_shorter)));
  }
  DurationKey longest_in_block(LanePosition first, LanePosition last) const;
  DurationKey longest_of_blocks(std::size_t begin, std::size_t end) const;
  std::pair<LanePosition, std::int64_t> longest(LanePosition first, LanePosition last) const;
  void index_block(std::size_t b);
  void index_durations();
  void index_times();

  std::vector<Times> times_;
  std::vector<Block> blocks_;
  std::vector<NameId> name_;
  std::vector<EventIndex> ref_;
  std::vector<EventIndex> launch_;
  Exceptions far_;                                 // starts 2.1 s and more behind that of the first event of 16
  Exceptions long_;                                // durations, where 16 of them take 4.29 s and more
  std::vector<std::vector<DurationKey>> longest_;  // [k][i]: of events 16^(k+2) i to 16^(k+2) (i + 1)
  // The last block that begins before begin_ns() + (i << shift_), 0 when there is none; at the end, the last one.
  std::vector<std::uint32_t> first_;
  int shift_ = 0;
  LaneGrid grid_;
};

}  // namespace swinscope
