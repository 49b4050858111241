// Whether a run may take the place of another: for programs that decide without anybody looking, as in CI. The numbers
// are those of `compare` (run_comparison.h, work_difference.h).
//
//   inconclusive  the runs cannot be compared (another GPU, program, model, batch, number of ranks or GPUs, profiler;
//                 steps of one only; fewer than two steps; damage), or the noise is too large: a step that is slower by
//                 more than `above` lies within the 95 % interval of the change
//   regression    the step, or a kernel that takes 1 % of it, is slower by more than `above`, beyond the noise
//   pass          neither: the upper end of the interval is below `above`
// What is not known of both runs (a command that was not recorded) does not stop the gate, but lowers its confidence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/experiment/run_comparison.h"
#include "analyzer/table/render.h"

namespace swinscope {

enum class GateOutcome : std::uint8_t { kPass, kRegression, kInconclusive };
std::string_view gate_name(GateOutcome outcome);  // "pass"

enum class Sameness : std::uint8_t { kSame, kOther, kNotKnown };

struct ComparabilityCheck {
  std::string what;  // "GPU"
  std::string base;  // empty: not known
  std::string run;
  Sameness same = Sameness::kNotKnown;
};

struct Gate {
  GateOutcome outcome = GateOutcome::kInconclusive;
  std::vector<ComparabilityCheck> checks;
  std::vector<std::string> reasons;  // why it is inconclusive
  std::vector<Regression> regressions;
  std::vector<WorkChange> grown;  // kernels that take longer beyond the noise, or are new; the most first
  WorkDifference work;
  std::string confidence;  // "high", or "medium" where something is not known; empty: inconclusive
};

inline constexpr double kGateAbove = 0.05;

Gate gate(const ComparedRun& base, const ComparedRun& run, double above);

struct GateResult {
  GateOutcome outcome = GateOutcome::kInconclusive;
  Document document;  // the verdict, what it rests on, and the tables of `compare`
};
// `top` kernels and layers; 0: all.
GateResult gate_document(const ComparedRun& base, const ComparedRun& run, double above, std::size_t top);

}  // namespace swinscope
