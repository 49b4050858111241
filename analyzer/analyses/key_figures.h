// The few figures that a run is asked for first.
//
//   step time          of the scope (scope.h), +- half the 95 % confidence interval over the slowest rank's steps
//                      (Student's t)
//   images/s           images per step of all ranks (payloads of the step ranges) / step time
//   GPU busy           mean over devices of time_breakdown.h's gpu_busy; idle = 1 - that
//   exposed comm.      likewise the share of the time
//   dropped records    what the recorder counted as lost, over all ranks
// What the trace does not hold is nothing, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/analyses/run_facts.h"

namespace swinscope {

struct KeyFigures {
  std::int64_t steps = 0;  // of the rank that `step_ns` is of
  std::optional<std::int64_t> step_ns;
  std::optional<std::int64_t> step_ci_ns;
  std::optional<double> images_per_second;
  std::optional<double> gpu_busy;               // 0..1, as the two below
  std::optional<double> exposed_communication;  // nothing without communication
  std::optional<double> idle;
  std::optional<std::int64_t> dropped;  // nothing for sources that do not count what they lose
};

KeyFigures key_figures(const RunFacts& run);

}  // namespace swinscope
