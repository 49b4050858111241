// Times of devices and sets of intervals against the definition itself, nanosecond by nanosecond: a device is looked at
// in every nanosecond of its window, and each of its events asked whether it runs then.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/base/intervals.h"
#include "analyzer/trace/classify.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::test {
namespace {

using Moments = std::set<std::int64_t>;

Moments moments_of(const std::vector<Interval>& intervals) {
  Moments moments;
  for (const Interval& interval : intervals)
    for (std::int64_t t = interval.begin_ns; t < interval.end_ns; ++t)
      moments.insert(t);
  return moments;
}

std::vector<Interval> random_intervals(Dice& dice) {
  std::vector<Interval> intervals;
  for (std::int64_t left = dice.between(0, 30); left > 0; --left) {
    const std::int64_t begin = dice.between(-50, 200);
    intervals.push_back({begin, begin + dice.between(-2, 20)});
  }
  return intervals;
}

// Sorted, disjoint, not touching, none empty: such a set of these moments there is only one.
IntervalSet set_of(const Moments& moments) {
  IntervalSet set;
  for (const std::int64_t t : moments) {
    if (set.empty() || set.back().end_ns < t) set.push_back({t, t});
    set.back().end_ns = t + 1;
  }
  return set;
}

TEST(BruteForce, SetsOfIntervals) {
  Dice dice(1);
  for (int round = 0; round < 500; ++round) {
    const std::vector<Interval> some = random_intervals(dice);
    const std::vector<Interval> others = random_intervals(dice);
    const Moments a = moments_of(some);
    const Moments b = moments_of(others);
    Moments common;
    Moments rest;
    std::ranges::set_intersection(a, b, std::inserter(common, common.end()));
    std::ranges::set_difference(a, b, std::inserter(rest, rest.end()));
    ASSERT_EQ(unite(some), set_of(a)) << "round " << round;
    ASSERT_EQ(intersect(unite(some), unite(others)), set_of(common)) << "round " << round;
    ASSERT_EQ(subtract(unite(some), unite(others)), set_of(rest)) << "round " << round;
    ASSERT_EQ(total_length(unite(some)), static_cast<std::int64_t>(a.size())) << "round " << round;
  }
}

constexpr std::int64_t kSteps = 3;
constexpr std::int64_t kStepNs = 400;
constexpr std::uint64_t kThreads = 2;

// What one process does at random: two devices with two streams each, launched by two threads, which at times block or
// wait for data; some of it before, some after the steps.
class RandomProcess {
 public:
  RandomProcess(RecordSink& sink, Dice& dice) : sink_(sink), dice_(dice) {
    RunInfo run;
    run.source = "swinscope";
    run.global_pid = make_global_pid(kTestPid);
    sink_.set_run(run);
    NvtxRecord domain;
    domain.type = NvtxType::kDomain;
    domain.domain = 1;
    domain.text = sink_.intern("swinscope");
    sink_.add(domain);
    for (std::int64_t step = 0; step < kSteps; ++step)
      range("step", 1, step * kStepNs, (step + 1) * kStepNs);
    for (std::int64_t left = dice_.between(1, 6); left > 0; --left)
      wait_for_data();
    for (std::uint32_t i = 1; i <= 60; ++i)
      act(i);
  }

 private:
  void range(std::string_view name, std::uint64_t thread, std::int64_t begin_ns, std::int64_t end_ns) {
    NvtxRecord r;
    r.start_ns = begin_ns;
    r.end_ns = end_ns;
    r.global_tid = make_global_tid(kTestPid, thread);
    r.domain = 1;
    r.text = sink_.intern(name);
    sink_.add(r);
  }
  void wait_for_data() {
    const std::int64_t begin_ns = dice_.between(0, kSteps * kStepNs);
    range("data", thread(), begin_ns, begin_ns + dice_.between(1, 60));
  }
  std::uint64_t thread() { return static_cast<std::uint64_t>(dice_.between(1, kThreads)); }

  void act(std::uint32_t correlation) {
    const std::int64_t begin_ns = dice_.between(-100, kSteps * kStepNs + 100);
    ApiRecord call;
    call.start_ns = begin_ns;
    call.end_ns = begin_ns + dice_.between(0, 30);
    call.global_tid = make_global_tid(kTestPid, thread());
    call.correlation = correlation;
    call.name = sink_.intern(dice_.one_in(4) ? "cudaStreamSynchronize" : "cudaLaunchKernel");
    sink_.add(call);
    if (dice_.one_in(5)) {
      MemcpyRecord copy;
      place(copy, correlation, begin_ns);
      copy.kind = dice_.one_in(2) ? CopyKind::kHostToDevice : CopyKind::kDeviceToDevice;
      sink_.add(copy);
      return;
    }
    if (dice_.one_in(8)) {
      MemsetRecord fill;
      place(fill, correlation, begin_ns);
      sink_.add(fill);
      return;
    }
    constexpr std::array<std::string_view, 4> kNames = {"ampere_sgemm_128x64_tn", "layer_norm_kernel", "nameless",
                                                        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"};
    KernelRecord kernel;
    place(kernel, correlation, begin_ns);
    kernel.demangled_name = sink_.intern(kNames.at(static_cast<std::size_t>(dice_.between(0, 3))));
    sink_.add(kernel);
  }

  void place(GpuRecord& record, std::uint32_t correlation, std::int64_t launched_ns) {
    record.start_ns = launched_ns + dice_.between(0, 60);
    record.end_ns = record.start_ns + (dice_.one_in(10) ? 0 : dice_.between(0, 40));
    record.global_pid = make_global_pid(kTestPid);
    record.device = static_cast<std::int32_t>(dice_.between(0, 1));
    record.stream = static_cast<std::uint32_t>(dice_.between(7, 8));
    record.correlation = dice_.one_in(10) ? 0 : correlation;
  }

  RecordSink& sink_;
  Dice& dice_;
};

// The figures of a device by their definition (time_breakdown.h, idle_causes.h).
class Oracle {
 public:
  Oracle(const Trace& trace, std::int32_t device) : trace_(trace), rank_(trace.ranks[0]), device_(device) {
    const Rank& rank = rank_;
    for (EventIndex e = 0; e < rank.gpu.size(); ++e)
      if (rank.gpu_lanes[rank.gpu.lane[e]].device == device) events_.push_back(e);
  }

  // Nothing where no event belongs to the steps.
  std::optional<DeviceBreakdown> of_steps() const {
    const auto window = window_of_steps();
    if (!window) return std::nullopt;
    DeviceBreakdown found = of(*window);
    found.steps = kSteps;
    return found;
  }

 private:
  std::int64_t cause_ns(EventIndex e) const {
    const EventIndex launch = rank_.gpu.launch[e];
    return launch == kNoEvent ? rank_.gpu.start_ns[e] : rank_.api.start_ns[launch];
  }

  std::optional<Interval> window_of_steps() const {
    constexpr Interval kHost{0, kSteps * kStepNs};
    Interval window = kHost;
    bool has_any = false;
    for (const EventIndex e : events_) {
      const std::int64_t cause = cause_ns(e);
      if (cause < kHost.begin_ns) window.begin_ns = std::max(window.begin_ns, rank_.gpu.end_ns[e]);
      if (cause < kHost.begin_ns || cause >= kHost.end_ns) continue;
      has_any = true;
      window.end_ns = std::max(window.end_ns, rank_.gpu.end_ns[e]);
    }
    return has_any ? std::optional(window) : std::nullopt;
  }

  bool runs(EventIndex e, std::int64_t t) const { return rank_.gpu.start_ns[e] <= t && t < rank_.gpu.end_ns[e]; }

  DeviceBreakdown of(const Interval& window) const {
    DeviceBreakdown found;
    found.rank = rank_.run.rank;
    found.device = device_;
    found.window_ns = window.length();
    for (std::int64_t t = window.begin_ns; t < window.end_ns; ++t) {
      look_at(t, found);
      if (std::ranges::none_of(events_, [&](EventIndex e) { return runs(e, t); })) ++cause_of(t, window, found.idle);
    }
    return found;
  }

  bool is_in(EventIndex e, const Interval& window) const {
    const std::int64_t start_ns = rank_.gpu.start_ns[e];
    const std::int64_t end_ns = rank_.gpu.end_ns[e];
    return start_ns < window.end_ns &&
           (end_ns > window.begin_ns || (start_ns == end_ns && start_ns == window.begin_ns));
  }
  // Of events that begin, or end, at the same time the first one counts.
  EventIndex next_after(std::int64_t t, const Interval& window) const {
    EventIndex next = kNoEvent;
    for (const EventIndex e : events_) {
      if (!is_in(e, window) || rank_.gpu.start_ns[e] <= t) continue;
      if (next == kNoEvent || rank_.gpu.start_ns[e] < rank_.gpu.start_ns[next]) next = e;
    }
    return next;
  }
  EventIndex last_before(std::int64_t t, const Interval& window) const {
    EventIndex last = kNoEvent;
    for (const EventIndex e : events_) {
      if (!is_in(e, window) || rank_.gpu.start_ns[e] > t) continue;
      const auto place = [&](EventIndex of) { return std::pair(rank_.gpu.end_ns[of], -rank_.gpu.start_ns[of]); };
      if (last == kNoEvent || place(e) > place(last)) last = e;
    }
    return last;
  }
  bool is_thread_in(const auto& events, const auto& lanes, std::string_view name, std::uint64_t thread,
                    std::int64_t t) const {
    for (EventIndex i = 0; i < events.size(); ++i)
      if (lanes[events.lane[i]].global_tid == thread && trace_.text(events.name[i]) == name &&
          events.start_ns[i] <= t && t < events.end_ns[i])
        return true;
    return false;
  }
  // For half of the time, which is counted; of none, at that moment.
  bool waits_for_data(std::uint64_t thread, std::int64_t begin_ns, std::int64_t end_ns) const {
    const auto waits = [&](std::int64_t t) { return is_thread_in(rank_.ranges, rank_.range_lanes, "data", thread, t); };
    if (end_ns <= begin_ns) return waits(begin_ns);
    std::int64_t waited = 0;
    for (std::int64_t t = begin_ns; t < end_ns; ++t)
      waited += waits(t) ? 1 : 0;
    return 2 * waited >= end_ns - begin_ns;
  }
  std::uint64_t thread_of(EventIndex launch) const { return rank_.api_lanes[rank_.api.lane[launch]].global_tid; }

  std::int64_t& cause_of(std::int64_t t, const Interval& window, IdleCauses& idle) const {
    const EventIndex before = last_before(t, window);
    const EventIndex next = next_after(t, window);
    const std::int64_t gap_ns = before == kNoEvent ? window.begin_ns : rank_.gpu.end_ns[before];
    const EventIndex judged = next == kNoEvent ? before : next;
    const EventIndex launch = judged == kNoEvent ? kNoEvent : rank_.gpu.launch[judged];
    if (launch == kNoEvent) return idle.other_ns;
    const std::uint64_t thread = thread_of(launch);
    if (next == kNoEvent) {
      const bool waits = waits_for_data(thread, gap_ns, window.end_ns) ||
                         waits_for_data(make_global_tid(kTestPid, 1), gap_ns, window.end_ns);
      return waits ? idle.input_ns : idle.host_ns;
    }
    if (rank_.api.start_ns[launch] < gap_ns) {
      const auto communicates = [&](EventIndex e) { return rank_.gpu.gpu_class[e] == GpuClass::kCommunication; };
      const bool after_one =
          before != kNoEvent && communicates(before) && rank_.gpu.lane[before] != rank_.gpu.lane[next];
      return communicates(next) || after_one ? idle.communication_ns : idle.dependency_ns;
    }
    if (waits_for_data(thread, gap_ns, rank_.api.start_ns[launch])) return idle.input_ns;
    const bool blocks = is_thread_in(rank_.api, rank_.api_lanes, "cudaStreamSynchronize", thread, gap_ns);
    return blocks ? idle.synchronization_ns : idle.host_ns;
  }

  void look_at(std::int64_t t, DeviceBreakdown& found) const {
    bool known = false;
    bool math = false;
    bool unknown = false;
    bool communication = false;
    bool memory = false;
    bool within_device = false;
    for (const EventIndex e : events_) {
      if (!runs(e, t)) continue;
      const GpuClass is = rank_.gpu.gpu_class[e];
      known |= is == GpuClass::kCompute;
      math |= is == GpuClass::kCompute && rank_.gpu.operation[e] == OperationKind::kGemm;
      unknown |= is == GpuClass::kUnknown;
      communication |= is == GpuClass::kCommunication;
      memory |= is == GpuClass::kMemory;
      const CopyEnds* ends = rank_.ends_of(e);
      within_device |= is == GpuClass::kMemory && (ends == nullptr || !ends->is_with_host());
      found.kernel_sum_ns += rank_.gpu.kind[e] == GpuKind::kKernel ? 1 : 0;
    }
    const bool kernels = known || unknown;
    found.compute_ns += known;
    found.math_ns += math;
    found.unknown_ns += unknown && !known;
    found.communication_ns += communication;
    found.exposed_communication_ns += communication && !kernels;
    found.memory_ns += memory;
    found.exposed_memory_ns += memory && !kernels && !communication;
    found.exposed_host_copy_ns += memory && !kernels && !communication && !within_device;
    found.non_communication_ns += kernels || memory;
    found.busy_ns += kernels || communication || memory;
  }

  const Trace& trace_;
  const Rank& rank_;
  const std::int32_t device_;
  std::vector<EventIndex> events_;  // by stream and start
};

constexpr std::pair<const char*, std::int64_t DeviceBreakdown::*> kFigures[] = {
    {"steps", &DeviceBreakdown::steps},
    {"window", &DeviceBreakdown::window_ns},
    {"busy", &DeviceBreakdown::busy_ns},
    {"compute", &DeviceBreakdown::compute_ns},
    {"math", &DeviceBreakdown::math_ns},
    {"unknown", &DeviceBreakdown::unknown_ns},
    {"communication", &DeviceBreakdown::communication_ns},
    {"exposed communication", &DeviceBreakdown::exposed_communication_ns},
    {"memory", &DeviceBreakdown::memory_ns},
    {"exposed memory", &DeviceBreakdown::exposed_memory_ns},
    {"exposed host copies", &DeviceBreakdown::exposed_host_copy_ns},
    {"all but communication", &DeviceBreakdown::non_communication_ns},
    {"sum of kernels", &DeviceBreakdown::kernel_sum_ns}};
constexpr std::pair<const char*, std::int64_t IdleCauses::*> kCauses[] = {
    {"input", &IdleCauses::input_ns},
    {"synchronization", &IdleCauses::synchronization_ns},
    {"host", &IdleCauses::host_ns},
    {"communication (idle)", &IdleCauses::communication_ns},
    {"dependency", &IdleCauses::dependency_ns},
    {"other", &IdleCauses::other_ns}};

// Compares, and notes which figures are there at all.
template <typename Figures>
void expect_same(const Figures& figures, const auto& found, const auto& expected, std::set<std::string_view>& seen) {
  for (const auto& [name, figure] : figures) {
    EXPECT_EQ(found.*figure, expected.*figure) << name;
    if (found.*figure != 0) seen.insert(name);
  }
}

TEST(BruteForce, TimesOfDevices) {
  std::set<std::string_view> seen;
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Dice dice(seed);
    TraceBuilder builder;
    RandomProcess(builder.add_process(), dice);
    Trace trace;
    builder.move_into(trace);
    classify(trace, {});
    const RunFacts run(trace, {});
    for (const std::int32_t device : {0, 1}) {
      const auto expected = Oracle(trace, device).of_steps();
      const auto found = std::ranges::find(run.devices(), device, &DeviceBreakdown::device);
      ASSERT_EQ(expected.has_value(), found != run.devices().end());
      if (!expected) continue;
      expect_same(kFigures, *found, *expected, seen);
      expect_same(kCauses, found->idle, expected->idle, seen);
      ASSERT_EQ(found->idle.total_ns(), expected->idle_ns());
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
  EXPECT_EQ(seen.size(), std::size(kFigures) + std::size(kCauses));
}

}  // namespace
}  // namespace swinscope::test
