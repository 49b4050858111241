#include "analyzer/experiment/run_steps.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/facts/output_lines.h"
#include "analyzer/facts/output_steps.h"
#include "analyzer/facts/repeated_ranges.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFewHint = "run more steps, or lower --warmup-steps";

[[noreturn]] void refuse_few(const std::string& whose, std::int64_t count, std::int64_t warmup) {
  throw Error(ErrorKind::kUsage, fmt::format("{} has {}", whose, format_counted(count, "steps")),
              fmt::format("the first {} are warm-up, and at least one more is needed", warmup), kFewHint);
}

// A rank may have several processes, of which workers have no steps; a rank of which no process has enough is an error.
void require_ranks(const fs::path& run, const Trace& trace, const RunScope& scope, bool takes_periods,
                   std::int64_t warmup) {
  std::map<std::int32_t, std::int64_t> most;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    std::int64_t& count = most[trace.ranks[r].run.rank];
    const RankSteps& steps = scope.steps()[r];
    if (takes_periods || !steps.is_repetition()) count = std::max(count, static_cast<std::int64_t>(steps.steps.size()));
  }
  for (const auto& [rank, count] : most) {
    const std::string whose = fmt::format("{}: rank {}", run.string(), rank);
    if (count == 0)
      throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", whose), "no range marks them", step_hint());
    if (count <= warmup && !scope.is_of_repetitions()) refuse_few(whose, count, warmup);
  }
  if (!most.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", run.string()), "no process used NVTX or CUDA",
              step_hint());
}

std::string_view name_of(StepMethod method) {
  switch (method) {
    case StepMethod::kStepRanges:
    case StepMethod::kProfilerStep:
    case StepMethod::kAnnotation:
      return "annotated ranges";
    case StepMethod::kOptimizerStep:
      return "optimizer steps";
    case StepMethod::kGraphLaunch:
      return "CUDA graph launches";
    case StepMethod::kKernelPeriod:
      return "the period of the kernels";
    default:
      return "ranges";
  }
}

// The name of the range that is the first step, numbers split off.
std::string shown_name(const Trace& trace, const Rank& rank, const Interval& step) {
  for (EventIndex i = 0; i < rank.ranges.size(); ++i) {
    if (rank.ranges.start_ns[i] == step.begin_ns && rank.ranges.end_ns[i] == step.end_ns)
      return without_numbers(trace.text(rank.ranges.name[i]));
  }
  return {};
}

// RankSteps::how without the count, which stands behind it.
std::string how_of(const Trace& trace, const Rank& rank, const RankSteps& steps, const StepRule& rule) {
  if (rule.source == StepSource::kRanges)
    return fmt::format("NVTX ranges \"{}\"", shown_name(trace, rank, steps.steps.front()));
  const std::size_t behind = steps.how.find(" x ");
  const bool is_counted = behind != std::string::npos && steps.method != StepMethod::kKernelPeriod;
  return fmt::format("{} ({})", name_of(steps.method), is_counted ? steps.how.substr(behind + 3) : steps.how);
}

// From each start to the next: what the window is made of.
std::vector<std::int64_t> periods(std::span<const Interval> steps) {
  std::vector<std::int64_t> periods;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    periods.push_back(steps[i + 1].begin_ns - steps[i].begin_ns);
  return periods;
}

RunSteps by_scope(const fs::path& run, const Trace& trace, const RunScope& scope, const StepRule& rule,
                  std::int64_t warmup) {
  const bool takes_periods = rule.source == StepSource::kLaunches;
  require_ranks(run, trace, scope, takes_periods, warmup);
  RunSteps found;
  found.step_ns = scope.step_ns();
  found.is_period = scope.is_of_repetitions();
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    found.steps = std::max(found.steps, scope.step_count(r));
    const auto count = static_cast<std::int64_t>(scope.steps()[r].steps.size());
    if (count > 0 && (found.fewest == 0 || count < found.fewest)) found.fewest = count;
    if (!found.how.empty() || scope.step_ns_of_rank(r) != found.step_ns) continue;
    const RankSteps& steps = scope.steps()[r];
    found.how = how_of(trace, trace.ranks[r], steps, rule);
    found.warmup = static_cast<std::int64_t>(steps.first_measured);
    found.single_ns = periods(steps.measured());
  }
  return found;
}

// Of the lines of one rank, without the warm-up.
RunSteps measured(const std::vector<ClosedSteps>& closed, std::int64_t warmup) {
  RunSteps found;
  std::int64_t window_ns = 0;
  for (const ClosedSteps& steps : closed) {
    if (found.warmup < warmup) {
      found.warmup += steps.count;
      continue;
    }
    window_ns += steps.time.length();
    found.steps += steps.count;
    found.single_ns.push_back(steps.time.length() / steps.count);
  }
  if (found.steps > 0) found.step_ns = window_ns / found.steps;
  return found;
}

constexpr const char* kOutputHint =
    "a program that buffers its output: print(..., flush=True), stdbuf -oL COMMAND, or setvbuf(); what goes to the "
    "standard error is not read; ";

RunSteps by_output(const fs::path& run, const StepRule& rule, std::int64_t warmup, int ranks) {
  const OutputSteps lines = output_steps(read_output(run), rule.pattern, ranks);
  if (!lines.usable()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: its output shows no steps", run.string()), lines.refusal,
                kOutputHint + step_hint());
  }
  RunSteps slowest;
  for (const std::vector<ClosedSteps>& rank : lines.ranks) {
    RunSteps found = measured(rank, warmup);
    if (found.steps == 0) refuse_few(run.string(), lines.steps(), warmup);
    if (found.step_ns > slowest.step_ns) slowest = std::move(found);
  }
  if (slowest.step_ns == 0) refuse_few(run.string(), 0, warmup);
  constexpr std::size_t kMostShown = 60;
  slowest.fewest = lines.steps();
  slowest.how = fmt::format("stdout lines \"{}\"", elide(lines.shown, kMostShown));
  return slowest;
}

RunSteps by_whole_run(const fs::path& run, const Trace& trace) {
  const std::optional<Interval> whole = whole_run(trace);
  if (!whole || whole->length() <= 0) {
    throw Error(ErrorKind::kInput, fmt::format("{}: how long the run took is not recorded", run.string()),
                "its record.db, which tells of its processes, is missing or damaged", "measure it again");
  }
  RunSteps found;
  found.how = "the whole run";
  found.step_ns = whole->length();
  found.steps = 1;
  found.fewest = 1;
  return found;
}

// Whether the rule marks a step in some process of every rank.
bool marks_every_rank(const Trace& trace, const Selection& selection, const std::vector<StepMethod>& methods,
                      std::int64_t fewest) {
  std::map<std::int32_t, bool> has_steps;
  for (const Rank& rank : trace.ranks) {
    const RankSteps steps = find_steps(trace, rank, selection);
    const bool is_marked = std::ranges::find(methods, steps.method) != methods.end() &&
                           static_cast<std::int64_t>(steps.steps.size()) >= fewest;
    has_steps[rank.run.rank] = has_steps[rank.run.rank] || is_marked;
  }
  return !has_steps.empty() && std::ranges::all_of(has_steps, [](const auto& rank) { return rank.second; });
}

std::optional<StepRule> rule_by_ranges(const Trace& trace, std::vector<std::string>& reasons) {
  std::optional<RepeatedRanges> best;
  for (const Rank& rank : trace.ranks) {
    const auto found = find_repeated_ranges(trace, rank);
    if (found && (!best || found->covered_ns > best->covered_ns)) best = found;
  }
  if (!best) {
    const bool has_ranges = std::ranges::any_of(trace.ranks, [](const Rank& rank) { return rank.ranges.size() > 0; });
    reasons.emplace_back(has_ranges ? "no NVTX range of its own comes three times" : "it pushes no NVTX ranges");
    return std::nullopt;
  }
  StepRule rule{StepSource::kRanges, best->pattern};
  constexpr std::int64_t kFewest = 3;
  if (marks_every_rank(trace, selection_of(rule, 0), {StepMethod::kAnnotation}, kFewest)) return rule;
  reasons.push_back(fmt::format("not every rank has ranges \"{}\"", best->shown));
  return std::nullopt;
}

std::optional<StepRule> rule_by_output(const fs::path& run, int ranks, std::vector<std::string>& reasons) {
  std::error_code ignored;
  if (!fs::exists(run / kOutputTimes, ignored)) return std::nullopt;
  const OutputSteps lines = find_output_steps(read_output(run), ranks);
  if (lines.usable()) return StepRule{StepSource::kOutput, lines.pattern};
  reasons.push_back(lines.refusal);
  return std::nullopt;
}

}  // namespace

std::optional<StepDrift> drift(const std::vector<std::int64_t>& single_ns) {
  constexpr std::size_t kFewest = 9;
  constexpr double kApart = 0.1;
  if (single_ns.size() < kFewest) return std::nullopt;
  const auto third = static_cast<std::ptrdiff_t>(single_ns.size() / 3);
  std::vector<std::int64_t> early(single_ns.begin(), single_ns.begin() + third);
  std::vector<std::int64_t> late(single_ns.end() - third, single_ns.end());
  std::ranges::sort(early);
  std::ranges::sort(late);
  const StepDrift found{quantile(early, 0.5), quantile(late, 0.5)};
  const auto& [lower, upper] = found.gets_longer() ? std::tie(early, late) : std::tie(late, early);
  const auto least = static_cast<double>(std::min(found.early_ns, found.late_ns));
  const auto most = static_cast<double>(std::max(found.early_ns, found.late_ns));
  if (most < (1 + kApart) * least || quantile(lower, 0.75) >= quantile(upper, 0.25)) return std::nullopt;
  return found;
}

std::optional<double> spread(std::vector<std::int64_t> single_ns) {
  std::ranges::sort(single_ns);
  const std::int64_t median = quantile(single_ns, 0.5);
  if (single_ns.size() < 2 || median == 0) return std::nullopt;
  return static_cast<double>(quantile(single_ns, 0.75) - quantile(single_ns, 0.25)) / static_cast<double>(median);
}

Selection selection_of(const StepRule& rule, std::int64_t warmup) {
  Selection selection;
  selection.warmup_steps = warmup;
  selection.by_launches = rule.source == StepSource::kLaunches;
  if (rule.source == StepSource::kRanges) selection.step_name = rule.pattern;
  return selection;
}

RunSteps run_steps(const fs::path& run, const Trace& trace, const RunScope& scope, const StepRule& rule,
                   std::int64_t warmup, int ranks) {
  if (rule.source == StepSource::kOutput) return by_output(run, rule, warmup, ranks);
  if (rule.source == StepSource::kWholeRun) return by_whole_run(run, trace);
  return by_scope(run, trace, scope, rule, warmup);
}

std::optional<StepRule> find_step_rule(const fs::path& run, const Trace& trace, int ranks,
                                       std::vector<std::string>& reasons) {
  const std::vector<StepMethod> annotated = {StepMethod::kStepRanges, StepMethod::kProfilerStep,
                                             StepMethod::kAnnotation, StepMethod::kOptimizerStep};
  if (marks_every_rank(trace, {}, annotated, 1)) return StepRule{StepSource::kAnnotated, {}};
  if (auto rule = rule_by_ranges(trace, reasons)) return rule;
  if (auto rule = rule_by_output(run, ranks, reasons)) return rule;
  const StepRule launches{StepSource::kLaunches, {}};
  if (marks_every_rank(trace, selection_of(launches, 0), {StepMethod::kGraphLaunch, StepMethod::kKernelPeriod}, 1))
    return launches;
  return std::nullopt;
}

std::optional<Interval> whole_run(const Trace& trace) {
  std::optional<Interval> whole;
  for (const Launcher& launcher : trace.launchers) {
    for (const ProcessRecord& process : launcher.processes) {
      if (process.end_ns == kOpenEnd) continue;
      const Interval life{launcher.run.utc_epoch_ns + process.start_ns, launcher.run.utc_epoch_ns + process.end_ns};
      whole = whole ? Interval{std::min(whole->begin_ns, life.begin_ns), std::max(whole->end_ns, life.end_ns)} : life;
    }
  }
  return whole;
}

std::string step_hint() {
  return "mark each step with two lines, nvtxRangePushA(\"step\"); … nvtxRangePop(); (in Python: pip install nvtx, "
         "then "
         "nvtx.push_range(\"step\") … nvtx.pop_range()), or say what a step is: --step nvtx:REGEX, --step "
         "'stdout:step ([0-9]+)' or --step whole-run";
}

}  // namespace swinscope
