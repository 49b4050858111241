// Finds the steps (iterations) of a run.
//
// In this order, the first that yields at least one step decides, for each rank:
//   1. NVTX ranges named `step` or `step N`: in domain `swinscope` (our workloads), else in NVTX's default domain;
//   2. `ProfilerStep#N` of the PyTorch profiler;
//   3. `Optimizer.step#…` of PyTorch: a step ends where the optimizer's range ends, the first one begins with the
//   recording;
//   4. the period of the kernel sequence: the stream with the most kernels repeats the same names (at least 95 % equal)
//   over
//      at least three periods; a step begins at the kernel before which the stream idles longest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/intervals.h"
#include "analyzer/trace.h"

namespace swinscope {

enum class StepMethod : std::uint8_t { kNone, kStepRanges, kProfilerStep, kOptimizerStep, kKernelPeriod };

struct RankSteps {
  StepMethod method = StepMethod::kNone;
  // In time order. Host time for the annotation methods (a GPU record belongs to the step whose range holds its
  // launch), GPU time for kKernelPeriod (a GPU record belongs to the step in which it starts).
  std::vector<Interval> steps;
  // The threads whose ranges mark them, ascending; none for kKernelPeriod.
  std::vector<std::uint64_t> threads;
  // Says how they were found, e.g. "3 x Optimizer.step#AdamW.step".
  std::string how;
};

RankSteps find_steps(const Trace& trace, const Rank& rank);

// The step that holds a time, -1 for none.
int step_at(const RankSteps& steps, std::int64_t time_ns);

// The step of a GPU event, -1 for none. The launch decides where it was recorded and the method works on host time.
int step_of(const Rank& rank, const RankSteps& steps, EventIndex gpu_event);

// Mean duration of a step, slowest rank; 0 without steps.
std::int64_t mean_step_ns(const RankSteps& steps);

}  // namespace swinscope
