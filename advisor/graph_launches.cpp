#include "advisor/graph_launches.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace swinscope {
namespace {

// The least id of its nodes, which is the graph's alone, stands for it; HIP has none.
struct GraphLaunch {
  std::uint64_t graph = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint32_t> lane;         // of its stream, where that is known
  std::map<std::uint32_t, NodeIndex> first;  // by lane
  std::map<std::uint32_t, NodeIndex> last;
};

class GraphOrder {
 public:
  explicit GraphOrder(RankNodes& nodes)
      : nodes_(nodes), has_other_work_(nodes.rank.gpu_lanes.size(), false), open_(nodes.rank.gpu_lanes.size()) {
    for (NodeIndex op = 0; op < ops().size(); ++op)
      if (!nodes.is_graph_node(op)) has_other_work_[ops()[op].lane] = true;
  }

  void find() {
    for (NodeIndex op = 0; op < ops().size();) {
      if (nodes_.is_graph_node(op) && ops()[op].call != kNoNode) {
        const NodeIndex end = nodes_.graph.calls[ops()[op].call].ops.end;
        add(launch_of(op, end));
        op = std::max(end, op + 1);
      } else {
        follow(op++);
      }
    }
  }

 private:
  const std::vector<OpNode>& ops() const { return nodes_.graph.ops; }

  GraphLaunch launch_of(NodeIndex begin, NodeIndex end) const {
    GraphLaunch launch;
    if (has_other_work_[ops()[begin].lane]) launch.lane = ops()[begin].lane;
    for (NodeIndex op = begin; op < end; ++op) {
      const std::uint64_t node = nodes_.gpu.graph_node[ops()[op].event];
      if (node != 0) launch.graph = std::min(launch.graph, node);
      launch.first.emplace(ops()[op].lane, op);
      launch.last[ops()[op].lane] = op;
    }
    return launch;
  }

  void add(const GraphLaunch& launch) {
    if (const auto earlier = last_launch_.find(launch.graph); earlier != last_launch_.end())
      begin_after(launch, earlier->second);
    if (launch.lane) {
      const NodeIndex before = ops()[launch.first.at(*launch.lane)].before;
      if (open_[*launch.lane]) begin_after(launch, *open_[*launch.lane]);
      for (const auto& [lane, op] : launch.first)
        if (before != kNoNode && lane != *launch.lane && nodes_.end_of_op(before) <= nodes_.start_of_op(op))
          nodes_.waits[op].push_back(before);
      open_[*launch.lane] = launch;
    }
    if (launch.graph != GraphLaunch().graph) last_launch_.insert_or_assign(launch.graph, launch);
  }

  // Work outside graphs: the first on a stream after a graph.
  void follow(NodeIndex op) {
    std::optional<GraphLaunch>& open = open_[ops()[op].lane];
    if (open) wait_for(op, *open);
    open.reset();
  }

  void begin_after(const GraphLaunch& launch, const GraphLaunch& earlier) {
    for (const auto& [lane, op] : launch.first)
      wait_for(op, earlier);
  }
  // On the op's own stream that is so anyway. Not where the trace says otherwise: what it took for one stream were two.
  void wait_for(NodeIndex op, const GraphLaunch& launch) {
    for (const auto& [lane, last] : launch.last)
      if (lane != ops()[op].lane && nodes_.end_of_op(last) <= nodes_.start_of_op(op)) nodes_.waits[op].push_back(last);
  }

  RankNodes& nodes_;
  std::vector<bool> has_other_work_;                  // by lane: outside graphs
  std::vector<std::optional<GraphLaunch>> open_;      // by lane: the graph that nothing has followed yet
  std::map<std::uint64_t, GraphLaunch> last_launch_;  // by graph
};

}  // namespace

void order_graph_launches(RankNodes& nodes) { GraphOrder(nodes).find(); }

}  // namespace swinscope
