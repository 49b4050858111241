// Where the nodes of CUDA graphs come from. NVTX ranges do not run again when a graph is replayed: a replayed event
// belongs to the ranges that were open on the capturing thread when its node was created.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct NodeOrigin {
  std::int64_t time_ns = 0;
  std::uint64_t global_tid = 0;
};

// The creation of a node, or of the one that it was copied from, however often. Nothing when that was not recorded.
std::optional<NodeOrigin> node_origin(const std::vector<GraphNodeRecord>& by_node, std::uint64_t node);

}  // namespace swinscope
