#include "analyzer/analyses/step_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

std::string_view method_name(StepMethod method) {
  switch (method) {
    case StepMethod::kNone:
      return "none";
    case StepMethod::kStepRanges:
      return "step ranges";
    case StepMethod::kProfilerStep:
      return "ProfilerStep annotations";
    case StepMethod::kAnnotation:
      return "annotated ranges";
    case StepMethod::kOptimizerStep:
      return "optimizer annotations";
    case StepMethod::kGraphLaunch:
      return "graph launches";
    case StepMethod::kKernelPeriod:
      return "repetition of kernels";
    case StepMethod::kOutputLines:
      return "lines of the output";
  }
  return "";
}

std::vector<std::int64_t> lengths_of(const RankSteps& steps) {
  std::vector<std::int64_t> lengths;
  for (const Interval& step : steps.measured())
    lengths.push_back(step.length());
  return lengths;
}

}  // namespace

Table step_table(const Trace& trace, const RunScope& scope) {
  Table table{"steps",
              scope.is_of_repetitions() ? "Repetitions" : "Steps",
              {{"rank", "rank", Unit::kCount},
               {"steps", "measured", Unit::kCount},
               {"warmup_steps", "warm-up", Unit::kCount},
               {"step_ns", scope.is_of_repetitions() ? "repetition time" : "step time", Unit::kDuration},
               {"mean_ns", "mean range", Unit::kDuration, true},
               {"median_ns", "median range", Unit::kDuration},
               {"p99_ns", "p99", Unit::kDuration, true},
               {"min_ns", "min", Unit::kDuration},
               {"max_ns", "max", Unit::kDuration},
               {"method", "method"},
               {"how", "found by"}},
              {}};
  for (std::size_t i = 0; i < scope.steps().size(); ++i) {
    if (!scope.has_rank(i)) continue;
    const RankSteps& steps = scope.steps()[i];
    const std::vector<std::int64_t> lengths = lengths_of(steps);
    const Summary s = summarize(lengths);
    const bool none = lengths.empty();
    const auto duration = [&](std::int64_t ns) { return none ? Cell() : Cell(ns); };
    const auto step_ns = scope.step_ns_of_rank(i);
    table.rows.push_back({int_cell(trace.ranks[i].run.rank), s.count, static_cast<std::int64_t>(steps.first_measured),
                          step_ns ? Cell(*step_ns) : Cell(), duration(std::llround(s.mean())), duration(s.median),
                          duration(s.p99), duration(s.min), duration(s.max), std::string(method_name(steps.method)),
                          steps.steps.empty() && steps.how.empty()
                              ? std::string("no step annotation and no period was found")
                              : steps.how});
  }
  return table;
}

Table step_times_table(const Trace& trace, const RunScope& scope) {
  Table table{"step_times",
              scope.is_of_repetitions() ? "Distribution of the repetitions" : "Distribution of the step times",
              {{"rank", "rank", Unit::kCount},
               {"steps", "measured", Unit::kCount},
               {"min_ns", "min", Unit::kDuration},
               {"p5_ns", "p5", Unit::kDuration},
               {"median_ns", "median", Unit::kDuration},
               {"p95_ns", "p95", Unit::kDuration},
               {"max_ns", "max", Unit::kDuration},
               {"mean_ns", "mean", Unit::kDuration},
               {"variation_percent", "variation", Unit::kPercent}},
              {}};
  for (std::size_t i = 0; i < scope.steps().size(); ++i) {
    std::vector<std::int64_t> lengths = lengths_of(scope.steps()[i]);
    if (!scope.has_rank(i) || lengths.empty()) continue;
    const Summary s = summarize(lengths);
    const bool varies = lengths.size() > 1 && s.mean() > 0;
    const Cell variation = varies ? Cell(100 * std::sqrt(variance(lengths)) / s.mean()) : Cell();
    std::ranges::sort(lengths);
    table.rows.push_back({int_cell(trace.ranks[i].run.rank), s.count, s.min, quantile(lengths, 0.05), s.median, s.p95,
                          s.max, std::int64_t{std::llround(s.mean())}, variation});
  }
  return table;
}

}  // namespace swinscope
