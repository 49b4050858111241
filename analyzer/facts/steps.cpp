#include "analyzer/facts/steps.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analyzer/base/name_pattern.h"
#include "analyzer/base/statistics.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {
namespace {

constexpr std::string_view kOptimizerPrefix = "Optimizer.step#";

bool is_numbered(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix || name.size() == prefix.size()) return false;
  const std::string_view number = name.substr(prefix.size());
  return std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_step(std::string_view name) { return name == "step" || is_numbered(name, "step "); }

// Names that frameworks and people give to the ranges of steps: "step_3", "Iteration 3", "train_step", "batch 0",
// "[pl][profile]run_training_batch" (Lightning), "execute_context_0(0)_generation_3(16)" (vLLM), "step[DECODE bs=64]"
// (SGLang).
bool is_step_annotation(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with("step[") || name.starts_with("execute_")) return true;
  for (const std::string_view part : {"run_training_batch", "train_step", "training_step"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  const std::size_t last = name.find_last_not_of("0123456789 _#:=.-/");  // the number and what stands before it
  name.resize(last == std::string::npos ? 0 : last + 1);
  for (const std::string_view adjective : {"train", "training", "global"}) {
    if (name.starts_with(adjective) && name.size() > adjective.size() + 1 &&
        std::string_view(" _-").find(name[adjective.size()]) != std::string_view::npos) {
      name.erase(0, adjective.size() + 1);
    }
  }
  return name == "step" || name == "iter" || name == "iteration" || name == "batch" || name == "minibatch";
}

bool is_any(std::string_view) { return true; }
// Not an operator and not a Python function, which may have any name.
bool is_annotated(std::string_view domain) { return domain != kDomainTorchOp && domain != kDomainTorchPython; }

// The ranges whose domain ("": NVTX's default one) and name satisfy the predicates, by start.
template <typename Domain, typename Predicate>
std::vector<EventIndex> ranges_named(const Trace& trace, const Rank& rank, Domain in_domain, Predicate matches) {
  std::vector<EventIndex> found;
  std::map<StringId, bool> known;  // asked once per name
  for (const RangeLane& lane : rank.range_lanes) {
    const std::string domain = rank.domain_name(lane.domain, trace.strings);
    if (domain == kDomainTorchGpuUser || !in_domain(domain)) continue;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const auto [entry, is_new] = known.try_emplace(rank.ranges.name[i], false);
      if (is_new) entry->second = matches(trace.text(rank.ranges.name[i]));
      if (entry->second) found.push_back(i);
    }
  }
  std::sort(found.begin(), found.end(), [&](EventIndex a, EventIndex b) {
    return std::pair(rank.ranges.start_ns[a], -rank.ranges.end_ns[a]) <
           std::pair(rank.ranges.start_ns[b], -rank.ranges.end_ns[b]);
  });
  return found;
}

std::uint64_t thread_of(const Rank& rank, EventIndex range) {
  return rank.range_lanes[rank.ranges.lane[range]].global_tid;
}

// Of ranges by start those that lie in no other of the same thread.
std::vector<EventIndex> outermost(const Rank& rank, const std::vector<EventIndex>& ranges) {
  std::vector<EventIndex> outer;
  std::map<std::uint64_t, std::int64_t> end_of_thread;
  for (const EventIndex i : ranges) {
    const auto [end, is_first] = end_of_thread.try_emplace(thread_of(rank, i), rank.ranges.end_ns[i]);
    if (!is_first && rank.ranges.start_ns[i] < end->second) continue;
    end->second = rank.ranges.end_ns[i];
    outer.push_back(i);
  }
  return outer;
}

// The thread among those of the ranges that called CUDA the most; of equal ones the one with the most ranges.
std::uint64_t busiest_thread(const Rank& rank, const std::vector<EventIndex>& ranges) {
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> calls_and_ranges;
  for (const EventIndex i : ranges)
    ++calls_and_ranges[thread_of(rank, i)].second;
  for (const ThreadLane& lane : rank.api_lanes) {
    const auto thread = calls_and_ranges.find(lane.global_tid);
    if (thread != calls_and_ranges.end()) thread->second.first += lane.events.size();
  }
  return std::max_element(calls_and_ranges.begin(), calls_and_ranges.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Ranges by start of which none overlaps another: where those of several threads do, one thread's.
std::vector<EventIndex> one_after_another(const Rank& rank, std::vector<EventIndex> ranges) {
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  bool overlap = false;
  for (const EventIndex i : ranges) {
    overlap |= rank.ranges.start_ns[i] < end;
    end = std::max(end, rank.ranges.end_ns[i]);
  }
  if (!overlap) return ranges;
  const std::uint64_t kept = busiest_thread(rank, ranges);
  std::erase_if(ranges, [&](EventIndex i) { return thread_of(rank, i) != kept; });
  return outermost(rank, ranges);
}

std::vector<std::uint64_t> threads_of(const Rank& rank, const std::vector<EventIndex>& ranges) {
  std::vector<std::uint64_t> threads;
  threads.reserve(ranges.size());
  for (const EventIndex i : ranges)
    threads.push_back(thread_of(rank, i));
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

RankSteps from_ranges(const Rank& rank, const std::vector<EventIndex>& found, StepMethod method,
                      std::string_view name) {
  const std::vector<EventIndex> ranges = one_after_another(rank, found);
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

// From one launch of a CUDA graph to the next, of the graph (by its first node) that was launched the most.
RankSteps from_graph_launches(const Trace& trace, const Rank& rank) {
  constexpr std::size_t kMinLaunches = 3;
  std::map<StringId, bool> is_launch;
  std::vector<EventIndex> launches;
  for (EventIndex i = 0; i < rank.api.size(); ++i) {
    const auto [entry, is_new] = is_launch.try_emplace(rank.api.name[i], false);
    if (is_new) entry->second = is_graph_launch(trace.text(rank.api.name[i]));
    if (entry->second) launches.push_back(i);
  }
  if (launches.size() < kMinLaunches) return {};
  std::map<EventIndex, std::uint64_t> graph_of;  // launch -> its smallest node
  for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
    if (rank.gpu.launch[i] == kNoEvent) continue;
    const auto [entry, is_new] = graph_of.try_emplace(rank.gpu.launch[i], rank.gpu.graph_node[i]);
    if (!is_new) entry->second = std::min(entry->second, rank.gpu.graph_node[i]);
  }
  std::map<std::uint64_t, std::vector<EventIndex>> by_graph;
  for (const EventIndex i : launches)
    by_graph[graph_of.contains(i) ? graph_of.at(i) : 0].push_back(i);
  const auto most = std::max_element(by_graph.begin(), by_graph.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<EventIndex>& repeated = most->second;
  if (repeated.size() < kMinLaunches) return {};
  std::sort(repeated.begin(), repeated.end(),
            [&](EventIndex a, EventIndex b) { return rank.api.start_ns[a] < rank.api.start_ns[b]; });
  RankSteps steps{StepMethod::kGraphLaunch, {}, {}, {}};
  for (std::size_t i = 0; i + 1 < repeated.size(); ++i)
    steps.steps.push_back({rank.api.start_ns[repeated[i]], rank.api.start_ns[repeated[i + 1]]});
  steps.how = fmt::format("{} launches of one CUDA graph, each step up to the next", repeated.size());
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

RankSteps steps_by_launches(const Trace& trace, const Rank& rank) {
  RankSteps replays = from_graph_launches(trace, rank);
  return replays.steps.empty() ? from_period(rank) : replays;
}

RankSteps all_steps(const Trace& trace, const Rank& rank, const Selection& selection) {
  const std::string& step_name = selection.step_name;
  if (selection.by_launches) return steps_by_launches(trace, rank);
  if (!step_name.empty()) {
    const NamePattern pattern("--step", step_name);
    const auto marked =
        ranges_named(trace, rank, is_any, [&](std::string_view name) { return pattern.matches(std::string(name)); });
    if (marked.empty()) return {StepMethod::kNone, {}, {}, fmt::format("no range matches {}", step_name)};
    return from_ranges(rank, outermost(rank, marked), StepMethod::kAnnotation, step_name);
  }
  for (const std::string_view domain : {kDomainOwn, std::string_view()}) {
    const auto in_domain = [&](std::string_view name) { return name == domain; };
    if (const auto marked = ranges_named(trace, rank, in_domain, is_step); !marked.empty()) {
      return from_ranges(rank, marked, StepMethod::kStepRanges, "step range");
    }
  }
  const auto is_profiler_step = [](std::string_view name) { return is_numbered(name, "ProfilerStep#"); };
  if (const auto marked = ranges_named(trace, rank, is_any, is_profiler_step); !marked.empty()) {
    return from_ranges(rank, marked, StepMethod::kProfilerStep, "ProfilerStep#");
  }
  if (const auto marked = outermost(rank, ranges_named(trace, rank, is_annotated, is_step_annotation));
      !marked.empty()) {
    return from_ranges(rank, marked, StepMethod::kAnnotation, trace.text(rank.ranges.name[marked.front()]));
  }
  const auto is_optimizer = [](std::string_view name) {
    return name.substr(0, kOptimizerPrefix.size()) == kOptimizerPrefix;
  };
  if (const auto ends = ranges_named(trace, rank, is_any, is_optimizer); !ends.empty()) {
    return from_optimizer(trace, rank, ends);
  }
  return steps_by_launches(trace, rank);
}

}  // namespace

RankSteps find_steps(const Trace& trace, const Rank& rank, const Selection& selection) {
  return with_measured(recorded_steps(rank, all_steps(trace, rank, selection)), selection);
}

RankSteps with_measured(RankSteps found, const Selection& selection) {
  const std::size_t count = found.steps.size();
  found.end_measured = count;
  if (selection.steps) {
    const auto bound = [&](std::int64_t number) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(number, 0, static_cast<std::int64_t>(count)));
    };
    found.first_measured = bound(selection.steps->first - 1);
    found.end_measured = std::max(found.first_measured, bound(selection.steps->last));
  } else if (count > 0 && !found.is_repetition()) {
    const auto warmup = static_cast<std::size_t>(std::max<std::int64_t>(0, selection.warmup_steps.value_or(0)));
    found.first_measured = std::min(warmup, count - 1);
  }
  return found;
}

int step_at(const RankSteps& steps, std::int64_t time_ns) {
  const auto after = std::upper_bound(steps.steps.begin(), steps.steps.end(), time_ns,
                                      [](std::int64_t t, const Interval& step) { return t < step.begin_ns; });
  if (after == steps.steps.begin() || time_ns >= std::prev(after)->end_ns) return -1;
  return static_cast<int>(std::distance(steps.steps.begin(), after)) - 1;
}

int step_of(const Rank& rank, const RankSteps& steps, EventIndex gpu_event) {
  const EventIndex launch = rank.gpu.launch[gpu_event];
  const bool host_time = !steps.is_repetition();
  if (host_time && launch == kNoEvent) return -1;
  return step_at(steps, host_time ? rank.api.start_ns[launch] : rank.gpu.start_ns[gpu_event]);
}

}  // namespace swinscope
