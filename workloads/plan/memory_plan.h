// Where the tensors of a graph lie in one piece of memory: two that are alive at the same op never overlap, all others
// may. The largest are placed first, each at the lowest place that is free as long as it lives.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/graph.h"

namespace swinscope {

struct MemoryPlan {
  static constexpr std::int64_t kAlignment = 64;  // bytes

  std::vector<std::int64_t> offsets;  // by TensorId; negative: the memory is the caller's, or the tensor is not used
  std::int64_t bytes = 0;
};

// Of activations, outputs and constants. An op may write over an input that nothing reads later, where its kernel can.
MemoryPlan plan_memory(const Graph& graph);

}  // namespace swinscope
