#include "analyzer/time_breakdown.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/host_phases.h"
#include "analyzer/kernel_names.h"

namespace swinscope {
namespace {

// CUDA calls that block the host until the device is done with something.
bool is_blocking_call(std::string_view name) {
  for (const std::string_view part : {"StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  // cudaMemcpy and cuMemcpyDtoH block, their Async forms do not.
  return name.find("Memcpy") != std::string_view::npos && name.find("Async") == std::string_view::npos &&
         name.find("Batch") == std::string_view::npos;
}

// Answers, for a thread, whether it was in one of some intervals at an instant.
class ThreadIntervals {
 public:
  void add(std::uint64_t global_tid, Interval interval) { by_thread_[global_tid].push_back(interval); }
  void finish() {
    for (auto& [thread, intervals] : by_thread_)
      intervals = unite(std::move(intervals));
  }
  bool contains(std::uint64_t global_tid, std::int64_t when) const {
    const auto thread = by_thread_.find(global_tid);
    if (thread == by_thread_.end()) return false;
    const auto& intervals = thread->second;
    const auto after = std::upper_bound(intervals.begin(), intervals.end(), when,
                                        [](std::int64_t t, const Interval& i) { return t < i.begin_ns; });
    return after != intervals.begin() && when < std::prev(after)->end_ns;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Interval>> by_thread_;
};

ThreadIntervals blocking_calls(const Trace& trace, const Rank& rank) {
  ThreadIntervals calls;
  std::unordered_map<StringId, bool> blocking;
  for (EventIndex i = 0; i < rank.api.size(); ++i) {
    const auto [entry, is_new] = blocking.try_emplace(rank.api.name[i], false);
    if (is_new) entry->second = is_blocking_call(trace.text(rank.api.name[i]));
    if (entry->second) {
      calls.add(rank.api_lanes[rank.api.lane[i]].global_tid, {rank.api.start_ns[i], rank.api.end_ns[i]});
    }
  }
  calls.finish();
  return calls;
}

ThreadIntervals input_ranges(const Trace& trace, const Rank& rank) {
  ThreadIntervals ranges;
  for (const RangeLane& lane : rank.range_lanes) {
    const std::string domain = rank.domain_name(lane.domain, trace.strings);
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (!is_input_range(domain, trace.text(rank.ranges.name[i]))) continue;
      ranges.add(lane.global_tid, {rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
    }
  }
  ranges.finish();
  return ranges;
}

// The idle gaps of one device and their causes.
class IdleJudge {
 public:
  IdleJudge(const Trace& trace, const Rank& rank)
      : rank_(rank), blocking_(blocking_calls(trace, rank)), input_(input_ranges(trace, rank)) {}

  // `events` of one device, by start; the device waits for the first one since `begin_ns`.
  IdleCauses judge(const std::vector<EventIndex>& events, std::int64_t begin_ns) const {
    IdleCauses causes;
    std::int64_t busy_until = begin_ns;
    EventIndex last = kNoEvent;  // the event that kept the device busy until then
    for (const EventIndex e : events) {
      const std::int64_t start = rank_.gpu.start_ns[e];
      if (start > busy_until) cause(causes, last, e, busy_until) += start - busy_until;
      if (last == kNoEvent || rank_.gpu.end_ns[e] > busy_until) {
        busy_until = rank_.gpu.end_ns[e];
        last = e;
      }
    }
    return causes;
  }

 private:
  std::int64_t& cause(IdleCauses& causes, EventIndex before, EventIndex next, std::int64_t gap_begin_ns) const {
    const EventIndex launch = rank_.gpu.launch[next];
    if (launch == kNoEvent) return causes.other_ns;
    const std::uint64_t thread = rank_.api_lanes[rank_.api.lane[launch]].global_tid;
    if (rank_.api.start_ns[launch] < gap_begin_ns) {
      const bool communication = rank_.gpu.gpu_class[next] == GpuClass::kCommunication ||
                                 (before != kNoEvent && rank_.gpu.gpu_class[before] == GpuClass::kCommunication &&
                                  rank_.gpu.lane[before] != rank_.gpu.lane[next]);
      return communication ? causes.communication_ns : causes.dependency_ns;
    }
    if (input_.contains(thread, gap_begin_ns)) return causes.input_ns;
    if (blocking_.contains(thread, gap_begin_ns)) return causes.synchronization_ns;
    return causes.host_ns;
  }

  const Rank& rank_;
  ThreadIntervals blocking_;
  ThreadIntervals input_;
};

// Whether each kernel name is a matrix product, convolution or attention; asked once per name.
class MathNames {
 public:
  explicit MathNames(const Trace& trace) : trace_(trace) {}
  bool is_math(StringId name) {
    const auto [entry, is_new] = known_.try_emplace(name, false);
    if (is_new) entry->second = swinscope::is_math(operation_kind(GpuKind::kKernel, trace_.text(name)));
    return entry->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<StringId, bool> known_;
};

DeviceBreakdown break_down(const Rank& rank, const std::vector<EventIndex>& events, MathNames& names) {
  std::vector<Interval> compute;
  std::vector<Interval> math;
  std::vector<Interval> communication;
  std::vector<Interval> memory;
  DeviceBreakdown row;
  row.rank = rank.run.rank;
  row.device = rank.gpu_lanes[rank.gpu.lane[events.front()]].device;
  row.events = static_cast<std::int64_t>(events.size());
  row.window = {rank.gpu.start_ns[events.front()], rank.gpu.end_ns[events.front()]};
  for (const EventIndex e : events) {
    const Interval interval{rank.gpu.start_ns[e], rank.gpu.end_ns[e]};
    row.window.end_ns = std::max(row.window.end_ns, interval.end_ns);
    switch (rank.gpu.gpu_class[e]) {
      case GpuClass::kUnknown:
      case GpuClass::kCompute:
        compute.push_back(interval);
        if (names.is_math(rank.gpu.name[e])) math.push_back(interval);
        break;
      case GpuClass::kCommunication:
        communication.push_back(interval);
        break;
      case GpuClass::kMemory:
        memory.push_back(interval);
        break;
    }
    if (rank.gpu.kind[e] == GpuKind::kKernel) row.kernel_sum_ns += interval.length();
  }
  const IntervalSet compute_set = unite(std::move(compute));
  const IntervalSet communication_set = unite(std::move(communication));
  const IntervalSet memory_set = unite(std::move(memory));
  std::vector<Interval> both = compute_set;
  both.insert(both.end(), memory_set.begin(), memory_set.end());
  const IntervalSet non_communication = unite(std::move(both));
  row.compute_ns = total_length(compute_set);
  row.math_ns = total_length(unite(std::move(math)));
  row.communication_ns = total_length(communication_set);
  row.memory_ns = total_length(memory_set);
  row.non_communication_ns = total_length(non_communication);
  row.exposed_communication_ns = total_length(subtract(communication_set, compute_set));
  row.exposed_memory_ns = total_length(subtract(subtract(memory_set, compute_set), communication_set));
  row.busy_ns = row.compute_ns + row.exposed_communication_ns + row.exposed_memory_ns;
  return row;
}

std::map<std::int32_t, std::vector<EventIndex>> events_by_device(const Rank& rank) {
  std::map<std::int32_t, std::vector<EventIndex>> devices;
  for (const GpuLane& lane : rank.gpu_lanes) {
    std::vector<EventIndex>& events = devices[lane.device];
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i)
      events.push_back(i);
  }
  for (auto& [device, events] : devices) {
    std::stable_sort(events.begin(), events.end(),
                     [&](EventIndex a, EventIndex b) { return rank.gpu.start_ns[a] < rank.gpu.start_ns[b]; });
  }
  return devices;
}

struct StepEvents {
  std::vector<EventIndex> events;  // by start: from the first to the last one of a step, with what lies between steps
  std::int64_t begin_ns = 0;       // since when the device waited for the first one
};

// events: of one device and one recorded window, by start.
StepEvents events_of_steps(const Rank& rank, const RankSteps& steps, std::span<const EventIndex> events) {
  StepEvents found;
  auto first = events.end();
  auto end = events.begin();
  std::int64_t busy_until = 0;  // by what ran before the first
  for (auto e = events.begin(); e != events.end(); ++e) {
    const int step = step_of(rank, steps, *e);
    if (step >= 0) {
      if (first == events.end()) {
        first = e;
        const std::int64_t start = rank.gpu.start_ns[*e];
        const std::int64_t step_begin = steps.steps[static_cast<std::size_t>(step)].begin_ns;
        found.begin_ns = e == events.begin() ? start : std::min(start, std::max(busy_until, step_begin));
      }
      end = std::next(e);
    }
    if (first == events.end()) busy_until = std::max(busy_until, rank.gpu.end_ns[*e]);
  }
  if (first != events.end()) found.events.assign(first, end);
  return found;
}

// Calls body(events) for the events of each recorded window; for all where it was the whole run. events: by start.
template <typename Body>
void for_each_window(const Rank& rank, std::span<const EventIndex> events, const Body& body) {
  const std::vector<WindowInfo>& windows = rank.run.windows;
  for (std::size_t w = 0; w + 1 < windows.size() && !events.empty(); ++w) {
    const auto next = std::find_if(events.begin(), events.end(),
                                   [&](EventIndex e) { return rank.gpu.start_ns[e] >= windows[w + 1].start_ns; });
    const auto count = static_cast<std::size_t>(next - events.begin());
    body(events.first(count));
    events = events.subspan(count);
  }
  body(events);
}

// Time of the outermost operator ranges less nothing: the self times of nested operators add up to their outermost one.
std::optional<std::int64_t> operator_time(const Trace& trace, const Rank& rank) {
  std::optional<std::int64_t> sum;
  for (const RangeLane& lane : rank.range_lanes) {
    if (rank.domain_name(lane.domain, trace.strings) != kDomainTorchOp) continue;
    std::vector<Interval> ranges;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      ranges.push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
    }
    sum = sum.value_or(0) + total_length(unite(std::move(ranges)));
  }
  return sum;
}

// Time in which a thread was in a CUDA call or in an annotated operation, over all threads.
std::optional<std::int64_t> call_time(const Trace& trace, const Rank& rank) {
  std::map<std::uint64_t, std::vector<Interval>> by_thread;
  for (const ThreadLane& lane : rank.api_lanes) {
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i)
      by_thread[lane.global_tid].push_back({rank.api.start_ns[i], rank.api.end_ns[i]});
  }
  for (const RangeLane& lane : rank.range_lanes) {
    if (rank.domain_name(lane.domain, trace.strings) != kDomainOwn) continue;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const StringId json = rank.ranges.json[i];
      if (json == kNoString || trace.text(json).find("swinscope.operation/1") == std::string_view::npos) continue;
      by_thread[lane.global_tid].push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
    }
  }
  if (by_thread.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (auto& [thread, calls] : by_thread)
    sum += total_length(unite(std::move(calls)));
  return sum;
}

}  // namespace

std::optional<double> DeviceBreakdown::overlap_percent() const {
  if (communication_ns == 0) return std::nullopt;
  return 100.0 * static_cast<double>(communication_ns - exposed_communication_ns) /
         static_cast<double>(communication_ns);
}

std::vector<DeviceBreakdown> time_breakdown(const Trace& trace) {
  std::vector<DeviceBreakdown> rows;
  MathNames names(trace);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const IdleJudge judge(trace, rank);
    for (const auto& [device, events] : events_by_device(rank)) {
      DeviceBreakdown row = break_down(rank, events, names);
      row.rank_index = r;
      row.idle = judge.judge(events, row.window.begin_ns);
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<DeviceBreakdown> time_breakdown_of_steps(const Trace& trace, const std::vector<RankSteps>& steps) {
  std::vector<DeviceBreakdown> rows;
  MathNames names(trace);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const IdleJudge judge(trace, rank);
    for (const auto& [device, all] : events_by_device(rank)) {
      for_each_window(rank, all, [&](std::span<const EventIndex> events) {
        const StepEvents of_steps = events_of_steps(rank, steps[r], events);
        if (of_steps.events.empty()) return;
        DeviceBreakdown row = break_down(rank, of_steps.events, names);
        row.rank_index = r;
        row.window.begin_ns = of_steps.begin_ns;
        row.idle = judge.judge(of_steps.events, of_steps.begin_ns);
        rows.push_back(row);
      });
    }
  }
  return rows;
}

std::int64_t step_time_ns(const std::vector<RankSteps>& steps, const std::vector<DeviceBreakdown>& of_steps) {
  std::int64_t longest = 0;
  for (const RankSteps& rank : steps)
    longest = std::max(longest, mean_step_ns(rank));
  std::map<std::pair<std::size_t, std::int32_t>, std::int64_t> device_ns;  // of all its windows
  for (const DeviceBreakdown& row : of_steps)
    device_ns[{row.rank_index, row.device}] += row.total_ns();
  for (const auto& [device, ns] : device_ns)
    longest = std::max(longest, ns / static_cast<std::int64_t>(steps[device.first].steps.size()));
  return longest;
}

std::vector<DeviceUtilization> gpu_utilization(const Trace& trace, const std::vector<Interval>& windows) {
  std::vector<DeviceUtilization> rows;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const Interval window = windows[r];
    if (window.length() <= 0) continue;
    const auto share = [&](std::vector<Interval> intervals) {
      return static_cast<double>(total_length(clip(unite(std::move(intervals)), window))) /
             static_cast<double>(window.length());
    };
    for (const auto& [device, events] : events_by_device(rank)) {
      std::vector<Interval> all;
      std::vector<Interval> compute;  // all but communication
      for (const EventIndex e : events) {
        all.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
        if (rank.gpu.gpu_class[e] != GpuClass::kCommunication) compute.push_back(all.back());
      }
      rows.push_back({rank.run.rank, device, share(std::move(all)), share(std::move(compute))});
    }
  }
  return rows;
}

std::optional<double> ThesisUtilization::gpu_share() const {
  if (!cpu_self_ns || kernel_ns + *cpu_self_ns == 0) return std::nullopt;
  return static_cast<double>(kernel_ns) / static_cast<double>(kernel_ns + *cpu_self_ns);
}

std::vector<ThesisUtilization> thesis_utilization(const Trace& trace) {
  std::vector<ThesisUtilization> rows;
  for (const Rank& rank : trace.ranks) {
    ThesisUtilization row;
    row.rank = rank.run.rank;
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      if (rank.gpu.kind[i] == GpuKind::kKernel) row.kernel_ns += rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    }
    row.cpu_self_ns = operator_time(trace, rank);
    if (!row.cpu_self_ns) {
      row.cpu_self_ns = call_time(trace, rank);
      row.is_of_cuda_calls = row.cpu_self_ns.has_value();
    }
    rows.push_back(row);
  }
  return rows;
}

std::optional<double> mean_gpu_share(const std::vector<ThesisUtilization>& ranks) {
  double sum = 0;
  int count = 0;
  for (const ThesisUtilization& rank : ranks) {
    if (const auto share = rank.gpu_share(); share && rank.kernel_ns > 0) {
      sum += *share;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

}  // namespace swinscope
