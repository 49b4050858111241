// Which calls run work on the GPU or wait for it, and which only put work into a CUDA graph that is being captured.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

// Calls of CUDA's or HIP's runtime or driver that put a kernel, or a whole graph, onto a stream. Copies are neither:
// many finish without a record of their own.
bool is_kernel_launch(std::string_view call);
bool is_graph_launch(std::string_view call);

// Calls that return when the GPU is done with something, whatever their arguments are: synchronizing ones, and copies
// that are not asynchronous.
bool is_blocking_call(std::string_view call);

// The name of a call as CUDA's documents have it: CUPTI's, and so Nsight Systems', end in the version that the call is
// of ("cudaMalloc_v3020"). The driver's "_v2" is a part of the name.
std::string_view plain_call_name(std::string_view call);

// What a thread launches while it captures a graph becomes a node of the graph, during the call, and runs when that
// does: such a call has no kernel of its own.
class GraphCaptures {
 public:
  explicit GraphCaptures(const Rank& rank);
  bool has_node_of(std::uint64_t global_tid, std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  std::vector<std::pair<std::uint64_t, std::int64_t>> nodes_;  // thread and time, in this order
};

}  // namespace swinscope
