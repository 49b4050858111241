// Time, FLOPs and bytes by layer path: the operations of a run (operations.h), added up by their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/facts/gpu_peaks.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class RunFacts;

struct LayerRow {
  std::string path;       // "stage3.block5.attn.qkv", or its first components
  std::string phase;      // forward, backward, optimizer, …; empty outside of any
  std::string operation;  // gemm, attention, …; "mixed" where several were added up
  std::string precision;
  std::string input_dims;   // of PyTorch's operators, where they were recorded: "[[8,96],[]]"; "mixed" as above
  std::int64_t calls = 0;   // of the ranges; of those captured into a CUDA graph, their replays
  Summary host;             // duration of the ranges (ns)
  std::int64_t gpu_ns = 0;  // summed duration of the GPU events launched within
  std::int64_t gpu_events = 0;
  std::int64_t flops = 0;       // 2 per multiply-add of matrix products and convolutions
  std::int64_t bytes_read = 0;  // compulsory traffic: each operand once
  std::int64_t bytes_written = 0;
  bool has_cost = true;    // that FLOPs and bytes are known
  std::int64_t steps = 0;  // of the scope, over ranks; 0 where it is the whole trace

  // The time in which the work was done: on the GPU where there was one, else on the host.
  std::int64_t work_ns() const { return gpu_events > 0 ? gpu_ns : host.total; }
};

struct LayerOptions {
  int depth = 0;         // path components to keep, 0: all
  bool by_phase = true;  // forward and backward apart
  bool by_dims = false;  // a row for each shape of the inputs
};

struct LayerCoverage {
  std::int64_t step_gpu_ns = 0;   // summed duration of the GPU events that were launched within steps
  std::int64_t layer_gpu_ns = 0;  // of them those that belong to a layer
};
// Of the scope; what was launched between steps is nobody's layer.
LayerCoverage layer_coverage(const RunFacts& run);

// Of the scope, all its ranks together, in the order in which the paths first ran; layers of which nothing counts are
// left out.
std::vector<LayerRow> layer_table(const RunFacts& run, const LayerOptions& options = {});

// One run of an operation: of its range, or of what its range captured into a CUDA graph.
struct LayerCall {
  std::size_t rank = 0;             // index into Trace::ranks
  EventIndex range = 0;             // of the operation
  EventIndex gpu_event = kNoEvent;  // the first one that belongs to it
  std::int64_t start_ns = 0;        // of that GPU event, else of the range; in the rank's own time
  std::int64_t work_ns = 0;         // summed duration of the GPU events, else the duration of the range
};
// The calls of the operations at `path` and below it, of one phase where `phase` is not empty; by rank, then start.
std::vector<LayerCall> layer_calls(const RunFacts& run, std::string_view path, std::string_view phase);

struct StepImages {
  std::int64_t steps = 0;   // that say how many they are of, over ranks
  std::int64_t images = 0;  // of all ranks
};
// From the payloads of the step ranges (swinscope.step/1) of the scope.
StepImages count_images(const Trace& trace, const RunScope& scope);
// Of all ranks together; 0 where the steps do not say. The ranks step together, so a step of the job is one of every
// rank.
std::int64_t images_per_step(const Trace& trace, const RunScope& scope);

struct ThreadCpuRow {
  std::int32_t rank = 0;
  std::uint64_t global_tid = 0;  // tid 0: the whole process
  std::string name;
  std::int64_t cpu_ns = 0;
};
// CPU time of each sampled thread, largest first within a rank; the process itself first.
std::vector<ThreadCpuRow> thread_cpu_table(const Trace& trace);

// `peaks`: of the run's GPUs; what ran on the host only has no share of them.
Table layer_rows_table(const std::vector<LayerRow>& rows, const GpuPeaks& peaks);

Table thread_cpu_rows_table(const std::vector<ThreadCpuRow>& rows);

}  // namespace swinscope
