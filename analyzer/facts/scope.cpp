#include "analyzer/facts/scope.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/name_pattern.h"
#include "analyzer/facts/printed_steps.h"
#include "analyzer/importers/run_place.h"
#include "analyzer/trace/step_rule.h"
#include "store/error.h"

namespace swinscope {
namespace {

// The measured steps of a rank, those of each recorded window apart.
std::vector<std::span<const Interval>> by_recorded_window(const Rank& rank, std::span<const Interval> steps) {
  const std::vector<WindowInfo>& windows = rank.run.windows;
  const auto window_of = [&](const Interval& step) {
    const std::int64_t middle = step.begin_ns + step.length() / 2;
    return std::upper_bound(windows.begin(), windows.end(), middle,
                            [](std::int64_t t, const WindowInfo& window) { return t < window.start_ns; });
  };
  std::vector<std::span<const Interval>> groups;
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin + 1;
    while (end < steps.size() && window_of(steps[end]) == window_of(steps[begin]))
      ++end;
    groups.push_back(steps.subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

Interval span_of(std::span<const Interval> steps) { return {steps.front().begin_ns, steps.back().end_ns}; }

bool holds(const Interval& interval, std::int64_t time_ns) {
  return interval.begin_ns <= time_ns && time_ns < interval.end_ns;
}

// When the host did what made a GPU event belong to a step; its own start where no launch was recorded.
std::int64_t cause_ns(const Rank& rank, EventIndex event, bool is_gpu_time) {
  const EventIndex launch = rank.gpu.launch[event];
  return is_gpu_time || launch == kNoEvent ? rank.gpu.start_ns[event] : rank.api.start_ns[launch];
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

// A device's window for steps that took `host` of the host's time; empty where none of the events is of them.
Interval device_window(const Rank& rank, const std::vector<EventIndex>& events, const Interval& host,
                       bool is_gpu_time) {
  bool any = false;
  std::int64_t before_ns = host.begin_ns;  // the end of what was launched earlier
  std::int64_t after_ns = host.end_ns;     // the end of what was launched in a step
  for (const EventIndex e : events) {
    const std::int64_t cause = cause_ns(rank, e, is_gpu_time);
    if (cause < host.begin_ns) before_ns = std::max(before_ns, rank.gpu.end_ns[e]);
    if (!holds(host, cause)) continue;
    any = true;
    after_ns = std::max(after_ns, rank.gpu.end_ns[e]);
  }
  if (!any) return {};
  if (is_gpu_time) return host;
  // What was launched long ago and still runs at the end (a kernel that polls) is not the step before.
  return {before_ns < after_ns ? before_ns : host.begin_ns, after_ns};
}

std::string plural(std::int64_t count, std::string_view unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

}  // namespace

RunScope::RunScope(const Trace& trace, Selection selection) : trace_(trace), selection_(std::move(selection)) {
  find_names();
  if (!selection_.warmup_steps) selection_.warmup_steps = warmup_of_experiment(trace.path);
  const bool has_rule = !selection_.step_name.empty() || selection_.by_launches;
  const StepRule rule = has_rule ? StepRule() : step_rule_of_experiment(trace.path);
  if (rule.source == StepSource::kRanges) selection_.step_name = rule.pattern;
  selection_.by_launches = selection_.by_launches || rule.source == StepSource::kLaunches;
  if (rule.source == StepSource::kOutput) {
    for (RankSteps& steps : printed_steps(trace, rule.pattern))
      steps_.push_back(with_measured(std::move(steps), selection_));
  } else {
    for (const Rank& rank : trace.ranks)
      steps_.push_back(find_steps(trace, rank, selection_));
  }
  if (selection_.rank &&
      std::ranges::none_of(trace.ranks, [&](const Rank& r) { return r.run.rank == *selection_.rank; }))
    throw Error(ErrorKind::kUsage, fmt::format("--rank {}: {} has no such rank", *selection_.rank, trace.path), {},
                "`swinscope info` lists the ranks");
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    of_steps_ = of_steps_ || (has_rank(r) && !steps_[r].measured().empty());
  if (selection_.steps && !of_steps_) {
    std::size_t most = 0;
    for (const RankSteps& steps : steps_)
      most = std::max(most, steps.steps.size());
    throw Error(ErrorKind::kUsage,
                fmt::format("--steps {}:{}: {} has {}", selection_.steps->first, selection_.steps->last, trace.path,
                            most == 0 ? "no steps" : fmt::format("steps 1 to {}", most)),
                {}, most == 0 ? "--step REGEX names the ranges that mark steps" : "choose among them");
  }
  if (selection_.scope == Scope::kTrace) of_steps_ = false;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (has_rank(r)) find_devices(r);
  }
}

// Asked once per name.
void RunScope::find_names() {
  if (selection_.name.empty()) return;
  const NamePattern pattern("--name", selection_.name);
  for (const Rank& rank : trace_.ranks) {
    for (const StringId name : rank.gpu.name) {
      const auto [entry, is_new] = named_.try_emplace(name, false);
      if (is_new) entry->second = pattern.matches(std::string(trace_.text(name)));
    }
  }
}

void RunScope::find_devices(std::size_t rank_index) {
  const Rank& rank = trace_.ranks[rank_index];
  const RankSteps& steps = steps_[rank_index];
  const auto add = [&](std::int32_t device, const std::vector<EventIndex>& events, Interval window,
                       const Interval& host, std::int64_t count) {
    DeviceScope scope{rank_index, device, window, count, host, {}};
    for (const EventIndex e : events) {
      const bool inside = rank.gpu.end_ns[e] > window.begin_ns && rank.gpu.start_ns[e] < window.end_ns;
      const bool empty_inside = rank.gpu.end_ns[e] == rank.gpu.start_ns[e] && holds(window, rank.gpu.start_ns[e]);
      if ((inside || empty_inside) &&
          (!selection_.stream || *selection_.stream == rank.gpu_lanes[rank.gpu.lane[e]].stream))
        scope.events.push_back(e);
    }
    if (!scope.events.empty()) devices_.push_back(std::move(scope));
  };
  for (const auto& [device, events] : events_by_device(rank)) {
    if (selection_.device && *selection_.device != device) continue;
    if (!of_steps_) {
      Interval whole{rank.gpu.start_ns[events.front()], rank.gpu.end_ns[events.front()]};
      for (const EventIndex e : events)
        whole.end_ns = std::max(whole.end_ns, rank.gpu.end_ns[e]);
      add(device, events, whole, whole, 0);
      continue;
    }
    for (const std::span<const Interval> group : by_recorded_window(rank, steps.measured())) {
      const Interval window = device_window(rank, events, span_of(group), steps.is_repetition());
      if (window.length() > 0) add(device, events, window, span_of(group), static_cast<std::int64_t>(group.size()));
    }
  }
}

std::optional<std::int64_t> RunScope::step_ns_of_rank(std::size_t rank_index) const {
  if (step_count(rank_index) == 0) return std::nullopt;
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> of_device;  // time and steps of all its windows
  for (const DeviceScope& device : devices_) {
    if (device.rank_index != rank_index) continue;
    of_device[device.device].first += device.window.length();
    of_device[device.device].second += device.steps;
  }
  std::int64_t longest = 0;
  for (const auto& [device, measured] : of_device)
    longest = std::max(longest, measured.first / std::max<std::int64_t>(1, measured.second));
  if (!of_device.empty()) return longest;
  std::int64_t host_ns = 0;
  for (const auto group : by_recorded_window(trace_.ranks[rank_index], steps_[rank_index].measured()))
    host_ns += span_of(group).length();
  return host_ns / std::max<std::int64_t>(1, step_count(rank_index));
}

std::int64_t RunScope::step_ns() const {
  std::int64_t longest = 0;
  for (std::size_t r = 0; r < steps_.size(); ++r)
    longest = std::max(longest, step_ns_of_rank(r).value_or(0));
  return longest;
}

bool RunScope::is_of_repetitions() const { return of_steps_ && std::ranges::any_of(steps_, &RankSteps::is_repetition); }

std::string RunScope::title() const {
  if (!of_steps_) {
    return selection_.scope == Scope::kTrace ? "the whole trace" : "the whole trace, since no steps were found";
  }
  const RankSteps* most = &steps_.front();
  for (std::size_t r = 0; r < steps_.size(); ++r) {
    if (has_rank(r) && steps_[r].measured().size() > most->measured().size()) most = &steps_[r];
  }
  const auto count = static_cast<std::int64_t>(most->measured().size());
  if (selection_.steps) {
    return count == 1
               ? fmt::format("step {} of {}", most->first_measured + 1, most->steps.size())
               : fmt::format("steps {} to {} of {}", most->first_measured + 1, most->end_measured, most->steps.size());
  }
  return most->first_measured == 0 ? plural(count, unit())
                                   : fmt::format("{} after {} of warm-up", plural(count, unit()), most->first_measured);
}

std::int64_t RunScope::step_count(std::size_t rank_index) const {
  return of_steps_ && has_rank(rank_index) ? static_cast<std::int64_t>(steps_[rank_index].measured().size()) : 0;
}

std::int64_t RunScope::step_count() const {
  std::int64_t count = 0;
  for (std::size_t r = 0; r < steps_.size(); ++r)
    count += step_count(r);
  return count;
}

Interval RunScope::host_window(std::size_t rank_index) const {
  return step_count(rank_index) == 0 ? Interval{} : span_of(steps_[rank_index].measured());
}

bool RunScope::has_rank(std::size_t rank_index) const {
  return !selection_.rank || *selection_.rank == trace_.ranks[rank_index].run.rank;
}

bool RunScope::has_gpu_event(std::size_t rank_index, EventIndex event) const {
  if (!has_rank(rank_index)) return false;
  const Rank& rank = trace_.ranks[rank_index];
  const GpuLane& lane = rank.gpu_lanes[rank.gpu.lane[event]];
  if (selection_.device && *selection_.device != lane.device) return false;
  if (selection_.stream && *selection_.stream != lane.stream) return false;
  if (of_steps_ && !in_scope_of_rank(rank_index, event)) return false;
  return selection_.name.empty() || named_.at(rank.gpu.name[event]);
}

bool RunScope::in_scope_of_rank(std::size_t rank_index, EventIndex event) const {
  const Rank& rank = trace_.ranks[rank_index];
  const std::span<const Interval> measured = steps_[rank_index].measured();
  if (measured.empty()) return false;
  const std::int64_t cause = cause_ns(rank, event, steps_[rank_index].is_repetition());
  return holds(span_of(measured), cause) && (rank.run.windows.size() < 2 || rank.is_within_windows(cause, cause));
}

bool RunScope::has_host_time(std::size_t rank_index, std::int64_t time_ns) const {
  if (!has_rank(rank_index)) return false;
  if (!of_steps_) return true;
  const std::span<const Interval> measured = steps_[rank_index].measured();
  return !measured.empty() && holds(span_of(measured), time_ns) &&
         (trace_.ranks[rank_index].run.windows.size() < 2 ||
          trace_.ranks[rank_index].is_within_windows(time_ns, time_ns));
}

}  // namespace swinscope
