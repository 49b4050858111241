// Where the tensors of a graph lie in one piece of memory: two that are alive at the same op never overlap, all others
// may. The largest are placed first, each at the lowest place that is free as long as it lives.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/graph.h"

namespace swinscope {

struct MemoryPlan {
  static constexpr std::int64_t kAlignment = 256;  // bytes: what cuBLASLt takes for granted

  std::vector<std::int64_t> offsets;  // by TensorId; negative: the memory is the caller's, or the tensor is not used
  std::int64_t bytes = 0;
};

// Of activations, outputs and, where wanted, constants. An op may write over an input that nothing reads later, where
// its kernel can.
MemoryPlan plan_memory(const Graph& graph, bool constants = true);

}  // namespace swinscope
