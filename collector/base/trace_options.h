// What a recording holds: `swinscope record --trace LIST`, handed to the processes by collector_settings.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swinscope {

struct TraceOptions {
  bool cuda = true;          // kernels, copies, sets, and the calls that launch, copy, set, allocate and synchronize
  bool nvtx = true;          // ranges and marks
  bool all_calls = false;    // every call of the runtime and the driver
  bool sync = false;         // synchronization records, which name the stream and the event, and recorded events
  bool memory = false;       // allocations and releases, with their addresses and pools
  bool overhead = false;     // CUPTI's own account of the time it took
  bool nccl = false;         // what NCCL tells its profiler plugin
  bool graph_level = false;  // CUDA graphs as one record each
};

// A list such as "cuda,nvtx,sync". Nothing when a word is unknown; `unknown` then receives it.
std::optional<TraceOptions> parse_trace_list(std::string_view list, std::string& unknown);
std::string trace_list(const TraceOptions& options);

// Whether a function, by the name that CUPTI gives it ("cudaLaunchKernel_v7000", "cuMemcpyAsync_ptsz"), is one that the
// analyses use, or that other records join.
bool is_traced_call(std::string_view name, const TraceOptions& options);

}  // namespace swinscope
