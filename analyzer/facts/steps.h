// Finds the steps (iterations) of a run.
//
// In this order, the first that yields at least one step decides, for each rank:
//   1. ranges whose name a given regular expression matches, where one is given (and nothing else then);
//   2. NVTX ranges named `step` or `step N`: in domain `swinscope` (our workloads), else in NVTX's default domain;
//   3. `ProfilerStep#N` of the PyTorch profiler;
//   4. the outermost ranges with a name that frameworks give to a step: step_3, Iteration 3, train_step, batch 0,
//      run_training_batch, execute_… (vLLM), step[…] (SGLang), in any domain;
//   5. `Optimizer.step#…` of PyTorch: a step ends where the optimizer's range ends, the first one begins with the
//      recording;
//   6. launches of one CUDA graph, at least three: a step lasts from one launch to the next;
//   7. the period of the kernel sequence: the stream with the most kernels repeats the same names (at least 95 % equal)
//      over at least three periods. It is as likely a layer as a step, and called a repetition.
// Where ranges of several threads overlap, those of the thread that launched the most count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/selection.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class StepMethod : std::uint8_t {
  kNone,
  kStepRanges,
  kProfilerStep,
  kAnnotation,
  kOptimizerStep,
  kGraphLaunch,
  kKernelPeriod,
  kOutputLines,  // what the program printed (output_steps.h), in runs of an experiment whose steps are found so
};

struct RankSteps {
  StepMethod method = StepMethod::kNone;
  // In time order. Host time for the annotation methods (a GPU record belongs to the step whose range holds its
  // launch), GPU time for kKernelPeriod (a GPU record belongs to the step in which it starts).
  std::vector<Interval> steps;
  // The threads whose ranges mark them, ascending; none for kKernelPeriod and kOutputLines.
  std::vector<std::uint64_t> threads;
  // Says how they were found, e.g. "3 x Optimizer.step#AdamW.step".
  std::string how;
  // What is measured of them: all but those of the warm-up, which come first, or what was selected.
  std::size_t first_measured = 0;
  std::size_t end_measured = 0;

  std::span<const Interval> measured() const {
    return std::span(steps).subspan(first_measured, end_measured - first_measured);
  }
  bool is_repetition() const { return method == StepMethod::kKernelPeriod; }
};

// The warm-up is that of the selection, else none; at least one step is left. Throws Error(kUsage) where
// `selection.step_name` is no regular expression.
RankSteps find_steps(const Trace& trace, const Rank& rank, const Selection& selection = {});

// Steps that were found otherwise, with what the selection measures of them.
RankSteps with_measured(RankSteps found, const Selection& selection);

// The step that holds a time, -1 for none.
int step_at(const RankSteps& steps, std::int64_t time_ns);

// The step of a GPU event, -1 for none. The launch decides where it was recorded and the method works on host time.
int step_of(const Rank& rank, const RankSteps& steps, EventIndex gpu_event);

}  // namespace swinscope
