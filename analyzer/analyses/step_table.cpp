#include "analyzer/analyses/step_table.h"

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
    std::vector<std::int64_t> lengths;
    for (const Interval& step : steps.measured())
      lengths.push_back(step.length());
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

}  // namespace swinscope
