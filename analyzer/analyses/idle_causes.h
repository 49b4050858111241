// Why a device had nothing to do: each gap within its window has one cause, judged by the event that ends it.
//   Its launch began after the gap had; the first that applies:
//     input            the thread that launched it was inside ranges that wait for data for half of the time from the
//                      gap's begin to the launch's
//     synchronization  that thread was blocked in a synchronizing call when the gap began
//     host             neither
//   Its launch had begun before the gap; the first that applies:
//     communication    it is a collective, or waited for one on another stream
//     dependency       another stream, an event, or the device's own latency between kernels
//   other              its launch was not recorded
// The gap after the last event, up to the end of the step, is the host's, which launches no more, or the input's, where
// half of it is waiting for data.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct IdleCauses {
  std::int64_t input_ns = 0;
  std::int64_t synchronization_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t dependency_ns = 0;
  std::int64_t other_ns = 0;
  std::int64_t total_ns() const {
    return input_ns + synchronization_ns + host_ns + communication_ns + dependency_ns + other_ns;
  }
};

// One of them.
using IdleCause = std::int64_t IdleCauses::*;
std::string_view idle_cause_name(IdleCause cause);

// A stretch of a device's window in which nothing ran.
struct JudgedGap {
  Interval time;
  IdleCause cause = &IdleCauses::other_ns;
  EventIndex before = kNoEvent;  // what kept the device busy until then; none at the begin of the window
  EventIndex next = kNoEvent;    // what ends it; none at the end of the window
};

// Answers, for a thread, whether it was in one of some intervals at an instant.
class ThreadIntervals {
 public:
  void add(std::uint64_t global_tid, Interval interval) { by_thread_[global_tid].push_back(interval); }
  void finish();
  bool contains(std::uint64_t global_tid, std::int64_t when) const;
  // How much of an interval they cover, and whether that is half of it; of an empty one, whether they contain it.
  std::int64_t covered_ns(std::uint64_t global_tid, Interval interval) const;
  bool cover_half(std::uint64_t global_tid, Interval interval) const;
  bool empty() const { return by_thread_.empty(); }

 private:
  std::unordered_map<std::uint64_t, std::vector<Interval>> by_thread_;
};

// Where the threads of a rank wait for data (is_input_range).
ThreadIntervals input_ranges(const Trace& trace, const Rank& rank);

// Judges the gaps of the devices of one rank.
class IdleJudge {
 public:
  IdleJudge(const Trace& trace, const Rank& rank, const RankSteps& steps);
  // They sum to the part of the window in which none of the events ran.
  IdleCauses judge(const DeviceScope& device) const;
  // By time.
  using Visit = std::function<void(const JudgedGap&)>;
  void for_each_gap(const DeviceScope& device, const Visit& visit) const;

 private:
  IdleCause cause(EventIndex before, EventIndex next, std::int64_t gap_begin_ns) const;
  IdleCause cause_at_end(const DeviceScope& device, EventIndex last, Interval gap) const;

  const Rank& rank_;
  const RankSteps& steps_;
  ThreadIntervals blocking_;
  ThreadIntervals input_;
};

}  // namespace swinscope
