// The nodes of one rank while its graph is made (graph.h): with what was recorded of each, which the graph itself does
// not keep.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "advisor/graph.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {

struct RankNodes {
  RankNodes(const Trace& of, const Rank& recorded) : trace(of), rank(recorded), api(rank.api), gpu(rank.gpu) {}

  const Trace& trace;
  const Rank& rank;
  const ApiCalls& api;
  const GpuEvents& gpu;
  RankGraph graph;
  std::map<NodeIndex, std::vector<NodeIndex>> waits;  // of ops for others
  std::map<NodeIndex, std::int64_t> wait_delays;      // of those whose delay after these is known

  std::int64_t begin_of(NodeIndex call) const { return api.start_ns[graph.calls[call].event]; }
  std::int64_t end_of(NodeIndex call) const { return api.end_ns[graph.calls[call].event]; }
  std::int64_t start_of_op(NodeIndex op) const { return gpu.start_ns[graph.ops[op].event]; }
  std::int64_t end_of_op(NodeIndex op) const { return gpu.end_ns[graph.ops[op].event]; }
  // HIP does not number the nodes of its graphs.
  bool is_graph_node(NodeIndex op) const {
    const OpNode& node = graph.ops[op];
    return gpu.graph_node[node.event] != 0 || (node.call != kNoNode && is_graph_launch(trace.text(name_of(node.call))));
  }
  StringId name_of(NodeIndex call) const { return api.name[graph.calls[call].event]; }
};

}  // namespace swinscope
