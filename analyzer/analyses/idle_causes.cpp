#include "analyzer/analyses/idle_causes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/analyses/host_phases.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {
namespace {

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

}  // namespace

std::string_view idle_cause_name(IdleCause cause) {
  if (cause == &IdleCauses::input_ns) return "input";
  if (cause == &IdleCauses::synchronization_ns) return "synchronization";
  if (cause == &IdleCauses::host_ns) return "host";
  if (cause == &IdleCauses::communication_ns) return "communication";
  return cause == &IdleCauses::dependency_ns ? "dependency" : "other";
}

void ThreadIntervals::finish() {
  for (auto& [thread, intervals] : by_thread_)
    intervals = unite(std::move(intervals));
}

bool ThreadIntervals::contains(std::uint64_t global_tid, std::int64_t when) const {
  const auto thread = by_thread_.find(global_tid);
  if (thread == by_thread_.end()) return false;
  const auto& intervals = thread->second;
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), when,
                                      [](std::int64_t t, const Interval& i) { return t < i.begin_ns; });
  return after != intervals.begin() && when < std::prev(after)->end_ns;
}

std::int64_t ThreadIntervals::covered_ns(std::uint64_t global_tid, Interval interval) const {
  const auto thread = by_thread_.find(global_tid);
  if (thread == by_thread_.end()) return 0;
  std::int64_t covered = 0;
  for (auto i = std::ranges::upper_bound(thread->second, interval.begin_ns, {}, &Interval::end_ns);
       i != thread->second.end() && i->begin_ns < interval.end_ns; ++i)
    covered += std::min(i->end_ns, interval.end_ns) - std::max(i->begin_ns, interval.begin_ns);
  return covered;
}

bool ThreadIntervals::cover_half(std::uint64_t global_tid, Interval interval) const {
  if (interval.length() <= 0) return contains(global_tid, interval.begin_ns);
  return 2 * covered_ns(global_tid, interval) >= interval.length();
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

IdleJudge::IdleJudge(const Trace& trace, const Rank& rank, const RankSteps& steps)
    : rank_(rank), steps_(steps), blocking_(blocking_calls(trace, rank)), input_(input_ranges(trace, rank)) {}

IdleCauses IdleJudge::judge(const DeviceScope& device) const {
  IdleCauses causes;
  for_each_gap(device, [&](const JudgedGap& gap) { causes.*gap.cause += gap.time.length(); });
  return causes;
}

void IdleJudge::for_each_gap(const DeviceScope& device, const Visit& visit) const {
  std::int64_t busy_until = device.window.begin_ns;
  EventIndex last = kNoEvent;  // the event that kept the device busy until then
  for (const EventIndex e : device.events) {
    const std::int64_t start = rank_.gpu.start_ns[e];
    if (start > busy_until) visit({{busy_until, start}, cause(last, e, busy_until), last, e});
    if (last == kNoEvent || rank_.gpu.end_ns[e] > busy_until) {
      busy_until = std::max(busy_until, rank_.gpu.end_ns[e]);
      last = e;
    }
  }
  const Interval rest{busy_until, device.window.end_ns};
  if (rest.length() > 0) visit({rest, cause_at_end(device, last, rest), last, kNoEvent});
}

IdleCause IdleJudge::cause(EventIndex before, EventIndex next, std::int64_t gap_begin_ns) const {
  const EventIndex launch = rank_.gpu.launch[next];
  if (launch == kNoEvent) return &IdleCauses::other_ns;
  const std::uint64_t thread = rank_.api_lanes[rank_.api.lane[launch]].global_tid;
  if (rank_.api.start_ns[launch] < gap_begin_ns) {
    const bool communication = rank_.gpu.gpu_class[next] == GpuClass::kCommunication ||
                               (before != kNoEvent && rank_.gpu.gpu_class[before] == GpuClass::kCommunication &&
                                rank_.gpu.lane[before] != rank_.gpu.lane[next]);
    return communication ? &IdleCauses::communication_ns : &IdleCauses::dependency_ns;
  }
  if (input_.cover_half(thread, {gap_begin_ns, rank_.api.start_ns[launch]})) return &IdleCauses::input_ns;
  if (blocking_.contains(thread, gap_begin_ns)) return &IdleCauses::synchronization_ns;
  return &IdleCauses::host_ns;
}

// The thread that launched the last event is the one that did not launch another.
IdleCause IdleJudge::cause_at_end(const DeviceScope& device, EventIndex last, Interval gap) const {
  const EventIndex launch = last == kNoEvent ? kNoEvent : rank_.gpu.launch[last];
  if (device.steps == 0 || steps_.is_repetition() || launch == kNoEvent) return &IdleCauses::other_ns;
  const std::uint64_t thread = rank_.api_lanes[rank_.api.lane[launch]].global_tid;
  const auto waits = [&](std::uint64_t of) { return input_.cover_half(of, gap); };
  return waits(thread) || std::ranges::any_of(steps_.threads, waits) ? &IdleCauses::input_ns : &IdleCauses::host_ns;
}

}  // namespace swinscope
