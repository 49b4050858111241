// What recording a run cost it: launches take the host longer, and kernels follow each other later. Savings are of the
// step without it.
#pragma once

#include <cstdint>
#include <optional>

#include "advisor/graph.h"
#include "advisor/rates.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/experiment/timed_step.h"

namespace swinscope {

struct RecordingCost {
  std::int64_t per_launch_ns = 0;  // of the host; a CUDA graph's launch pays for each of its nodes
  std::int64_t per_kernel_ns = 0;  // of the GPU, between the one before it and this
  // Of a CUDA graph's kernels, which a recorder keeps apart: so much before the end of the one before it each would
  // start.
  std::int64_t per_overlap_ns = 0;
  std::int64_t per_operator_ns = 0;  // of the host: PyTorch's, by profiler_cost.h
  // Of the host's own time, within and between its calls: what is left where launches alone do not explain how much
  // slower the host was.
  double host_share = 1;
  // As the timing runs of the experiment's point have it that the run belongs to: what the costs then are by.
  std::optional<std::int64_t> timed_step_ns;
  std::optional<double> timed_spread;  // of their single steps, as TimedStep has it
  bool operator==(const RecordingCost&) const = default;
};

// By the point's timing runs, where the run has any and is looked at as a whole: the least costs without which the
// replayed step is no longer than theirs; a host that was slower than launches explain is taken as in those runs. Else
// `record` lengthens each launch by 3.6 us (docs/notes/012-cost-of-recording-cuda.md), PyTorch's profiler each operator
// (profiler_cost.h) and each launch by what it takes longer than this GPU's usually do; what other recorders cost
// depends on what they record, and is not known. rates: of the GPU, or none.
RecordingCost find_recording_cost(const DependencyGraph& graph, const RunFacts& run, const Rates* rates);
// By a step without a recorder. One that the GPU decides, up to how much such steps differ (5 % at most: it is the host
// that lets them differ by more), does not show what launches cost: they are taken to cost what they usually do.
RecordingCost recording_cost_by(const TimedStep& timed, const DependencyGraph& graph, const RunFacts& run,
                                const Rates* rates);

void remove(const RecordingCost& cost, const RunFacts& run, DependencyGraph& graph);
// Takes so much from each launching call, of a graph's for each of its nodes, and where it is shorter from the host's
// time behind it; a graph's first work starts earlier by what is taken, since it is handed over at the end of that
// call. Not before the measured steps: ranks that had more to do there would come to the first one earlier than the
// others, who were not late.
void remove_from_launches(double ns, const RunFacts& run, DependencyGraph& graph);
// Leaves so much (0 to 1) of the time that the host takes by itself, within its calls and between them; not before the
// measured steps, as above.
void remove_from_host(double share, const RunFacts& run, DependencyGraph& graph);
// Takes so much from the gap before each piece of GPU work, as far as there is one.
void remove_from_gaps(std::int64_t ns, DependencyGraph& graph);
// Lets each piece of a graph's work start so much earlier, at most halfway through the one before it on its stream.
void overlap_in_graphs(std::int64_t ns, DependencyGraph& graph);

}  // namespace swinscope
