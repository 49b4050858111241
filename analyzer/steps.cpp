#include "analyzer/steps.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "analyzer/statistics.h"

namespace swinscope {
namespace {

constexpr std::string_view kOptimizerPrefix = "Optimizer.step#";

bool is_numbered(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix || name.size() == prefix.size()) return false;
  const std::string_view number = name.substr(prefix.size());
  return std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_step(std::string_view name) { return name == "step" || is_numbered(name, "step "); }

// The ranges of a domain (nullopt: of any, "": of NVTX's default domain) whose name satisfies the predicate, by start.
template <typename Predicate>
std::vector<EventIndex> ranges_named(const Trace& trace, const Rank& rank, std::optional<std::string_view> domain,
                                     Predicate matches) {
  std::vector<EventIndex> found;
  for (const RangeLane& lane : rank.range_lanes) {
    const std::string name = rank.domain_name(lane.domain, trace.strings);
    if (name == kDomainTorchGpuUser || (domain && name != *domain)) continue;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (matches(trace.text(rank.ranges.name[i]))) found.push_back(i);
    }
  }
  std::sort(found.begin(), found.end(),
            [&](EventIndex a, EventIndex b) { return rank.ranges.start_ns[a] < rank.ranges.start_ns[b]; });
  return found;
}

std::vector<std::uint64_t> threads_of(const Rank& rank, const std::vector<EventIndex>& ranges) {
  std::vector<std::uint64_t> threads;
  threads.reserve(ranges.size());
  for (const EventIndex i : ranges)
    threads.push_back(rank.range_lanes[rank.ranges.lane[i]].global_tid);
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

RankSteps from_ranges(const Rank& rank, const std::vector<EventIndex>& ranges, StepMethod method,
                      std::string_view name) {
  RankSteps steps{method, {}, threads_of(rank, ranges), fmt::format("{} x {}", ranges.size(), name)};
  for (const EventIndex i : ranges)
    steps.steps.push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
  return steps;
}

// The first host event, or GPU event where nothing of the host was recorded.
std::int64_t first_event_ns(const Rank& rank) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const ThreadLane& lane : rank.api_lanes)
    first = std::min(first, rank.api.start_ns[lane.events.begin]);
  for (const RangeLane& lane : rank.range_lanes)
    first = std::min(first, rank.ranges.start_ns[lane.events.begin]);
  for (const GpuLane& lane : rank.gpu_lanes)
    first = std::min(first, rank.gpu.start_ns[lane.events.begin]);
  return first;
}

RankSteps from_optimizer(const Trace& trace, const Rank& rank, const std::vector<EventIndex>& ranges) {
  // Several optimizers (a GAN) each have a range per step; the one that ends last in the first round closes the step.
  std::map<StringId, std::vector<EventIndex>> by_name;
  for (const EventIndex i : ranges)
    by_name[rank.ranges.name[i]].push_back(i);
  const auto last = std::max_element(by_name.begin(), by_name.end(), [&](const auto& a, const auto& b) {
    return rank.ranges.end_ns[a.second.front()] < rank.ranges.end_ns[b.second.front()];
  });
  RankSteps steps{StepMethod::kOptimizerStep, {}, threads_of(rank, last->second), {}};
  std::int64_t begin = first_event_ns(rank);
  for (const EventIndex i : last->second) {
    steps.steps.push_back({begin, rank.ranges.end_ns[i]});
    begin = rank.ranges.end_ns[i];
  }
  steps.how = fmt::format("{} x {}, each step ending with it", steps.steps.size(), trace.text(last->first));
  return steps;
}

// The kernel names of the lane with the most kernels, in launch order.
std::vector<EventIndex> longest_kernel_sequence(const Rank& rank) {
  std::vector<EventIndex> longest;
  for (const GpuLane& lane : rank.gpu_lanes) {
    std::vector<EventIndex> kernels;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (rank.gpu.kind[i] == GpuKind::kKernel) kernels.push_back(i);
    }
    if (kernels.size() > longest.size()) longest = std::move(kernels);
  }
  return longest;
}

// Share of positions whose name stands again one period later.
double repetition(const std::vector<StringId>& names, std::size_t period) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i + period < names.size(); ++i)
    equal += names[i] == names[i + period] ? 1U : 0U;
  return static_cast<double>(equal) / static_cast<double>(names.size() - period);
}

// The shortest period among those that the rarest repeated names suggest.
std::optional<std::size_t> find_period(const std::vector<StringId>& names) {
  constexpr std::size_t kMaxCandidates = 64;
  constexpr double kMinRepetition = 0.95;
  constexpr std::size_t kMinPeriods = 3;
  std::map<StringId, std::vector<std::size_t>> positions;
  for (std::size_t i = 0; i < names.size(); ++i)
    positions[names[i]].push_back(i);
  std::vector<const std::vector<std::size_t>*> rarest;
  for (const auto& [name, at] : positions) {
    if (at.size() >= 2) rarest.push_back(&at);
  }
  std::sort(rarest.begin(), rarest.end(), [](const auto* a, const auto* b) { return a->size() < b->size(); });
  if (rarest.size() > kMaxCandidates) rarest.resize(kMaxCandidates);

  std::vector<std::size_t> candidates;
  for (const auto* at : rarest) {
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < at->size(); ++i)
      gaps.push_back(static_cast<std::int64_t>((*at)[i] - (*at)[i - 1]));
    std::sort(gaps.begin(), gaps.end());
    candidates.push_back(static_cast<std::size_t>(quantile(gaps, 0.5)));
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (const std::size_t period : candidates) {
    if (period < 2 || names.size() < kMinPeriods * period) continue;
    if (repetition(names, period) >= kMinRepetition) return period;
  }
  return std::nullopt;
}

// Where within the period a step begins: after the longest typical pause.
std::size_t find_phase(const Rank& rank, const std::vector<EventIndex>& kernels, std::size_t period) {
  std::size_t best = 0;
  std::int64_t longest = -1;
  for (std::size_t phase = 0; phase < period; ++phase) {
    std::vector<std::int64_t> pauses;
    for (std::size_t i = phase; i < kernels.size(); i += period) {
      if (i > 0) pauses.push_back(rank.gpu.start_ns[kernels[i]] - rank.gpu.end_ns[kernels[i - 1]]);
    }
    std::sort(pauses.begin(), pauses.end());
    if (const std::int64_t median = quantile(pauses, 0.5); !pauses.empty() && median > longest) {
      longest = median;
      best = phase;
    }
  }
  return best;
}

RankSteps from_period(const Rank& rank) {
  const std::vector<EventIndex> kernels = longest_kernel_sequence(rank);
  std::vector<StringId> names;
  names.reserve(kernels.size());
  for (const EventIndex i : kernels)
    names.push_back(rank.gpu.name[i]);
  const std::optional<std::size_t> period = find_period(names);
  if (!period) return {};
  RankSteps steps{StepMethod::kKernelPeriod, {}, {}, {}};
  for (std::size_t i = find_phase(rank, kernels, *period); i + *period < kernels.size(); i += *period) {
    steps.steps.push_back({rank.gpu.start_ns[kernels[i]], rank.gpu.start_ns[kernels[i + *period]]});
  }
  steps.how = fmt::format("the kernel sequence repeats every {} kernels", *period);
  return steps;
}

// Where CUDA was recorded in parts of the run only, the other steps would count without what the GPU did in them.
RankSteps recorded_steps(const Rank& rank, RankSteps found) {
  const auto outside = std::remove_if(found.steps.begin(), found.steps.end(), [&](const Interval& step) {
    return !rank.is_within_windows(step.begin_ns, step.end_ns);
  });
  const auto left_out = std::distance(outside, found.steps.end());
  if (left_out == 0) return found;
  found.steps.erase(outside, found.steps.end());
  found.how += fmt::format(", {} of them recorded", found.steps.size());
  return found;
}

RankSteps all_steps(const Trace& trace, const Rank& rank) {
  for (const std::string_view domain : {kDomainOwn, std::string_view()}) {
    if (const auto marked = ranges_named(trace, rank, domain, is_step); !marked.empty()) {
      return from_ranges(rank, marked, StepMethod::kStepRanges, "step range");
    }
  }
  const auto is_profiler_step = [](std::string_view name) { return is_numbered(name, "ProfilerStep#"); };
  if (const auto marked = ranges_named(trace, rank, std::nullopt, is_profiler_step); !marked.empty()) {
    return from_ranges(rank, marked, StepMethod::kProfilerStep, "ProfilerStep#");
  }
  const auto is_optimizer = [](std::string_view name) {
    return name.substr(0, kOptimizerPrefix.size()) == kOptimizerPrefix;
  };
  if (const auto ends = ranges_named(trace, rank, std::nullopt, is_optimizer); !ends.empty()) {
    return from_optimizer(trace, rank, ends);
  }
  return from_period(rank);
}

}  // namespace

RankSteps find_steps(const Trace& trace, const Rank& rank) { return recorded_steps(rank, all_steps(trace, rank)); }

int step_at(const RankSteps& steps, std::int64_t time_ns) {
  const auto after = std::upper_bound(steps.steps.begin(), steps.steps.end(), time_ns,
                                      [](std::int64_t t, const Interval& step) { return t < step.begin_ns; });
  if (after == steps.steps.begin() || time_ns >= std::prev(after)->end_ns) return -1;
  return static_cast<int>(std::distance(steps.steps.begin(), after)) - 1;
}

int step_of(const Rank& rank, const RankSteps& steps, EventIndex gpu_event) {
  const EventIndex launch = rank.gpu.launch[gpu_event];
  const bool host_time = steps.method != StepMethod::kKernelPeriod;
  if (host_time && launch == kNoEvent) return -1;
  return step_at(steps, host_time ? rank.api.start_ns[launch] : rank.gpu.start_ns[gpu_event]);
}

std::int64_t mean_step_ns(const RankSteps& steps) {
  if (steps.steps.empty()) return 0;
  std::int64_t sum = 0;
  for (const Interval& step : steps.steps)
    sum += step.length();
  return sum / static_cast<std::int64_t>(steps.steps.size());
}

}  // namespace swinscope
