// The steps of one run of an experiment, by the rule of the experiment (step_rule.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/step_rule.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct RunSteps {
  std::string how;           // 'stdout lines "step N loss N"'
  std::int64_t step_ns = 0;  // window / steps, of the slowest rank
  std::int64_t steps = 0;    // without warm-up, of the rank with the most
  std::int64_t warmup = 0;   // steps that were left out
  std::int64_t fewest = 0;   // of a rank that has any, warm-up included
  // The single steps of the slowest rank; of lines that close several steps, the mean of those.
  std::vector<std::int64_t> single_ns;
  bool is_period = false;  // of kernels: as likely a layer as a step
};

// (third quartile - first quartile) / median of the single steps; nothing for fewer than two, and for a median of 0.
std::optional<double> spread(std::vector<std::int64_t> single_ns);

// Of single steps in their order: the medians of the first and of the last third.
struct StepDrift {
  std::int64_t early_ns = 0;
  std::int64_t late_ns = 0;
  bool gets_longer() const { return late_ns > early_ns; }
};
// Where they are a tenth apart or more, and the middle halves of both thirds lie apart, too: steps that jitter do not
// drift. Nothing for fewer than nine steps.
std::optional<StepDrift> drift(const std::vector<std::int64_t>& single_ns);

// The steps of a run that was opened as `trace` and `scope`, which holds the steps where ranges or launches mark them.
// `ranks` is how many the run has. Throws Error(kUsage) when there are no more than the warm-up, saying what to do.
RunSteps run_steps(const std::filesystem::path& run, const Trace& trace, const RunScope& scope, const StepRule& rule,
                   std::int64_t warmup, int ranks);

// The selection that has a scope find the steps by this rule; of the standard output and of whole runs: as ever.
Selection selection_of(const StepRule& rule, std::int64_t warmup);

// The first rule of StepRule's kAuto that the run meets. Where it meets none, the reason that each one gives is
// appended to `reasons`.
std::optional<StepRule> find_step_rule(const std::filesystem::path& run, const Trace& trace, int ranks,
                                       std::vector<std::string>& reasons);

// From the start of the first process to the end of the last one, since 1970; by what `record` saw from outside.
std::optional<Interval> whole_run(const Trace& trace);

// What a user does whose program shows no steps: two lines, or one of the other rules.
std::string step_hint();

}  // namespace swinscope
