#include "advisor/inferred_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;

constexpr std::int64_t kUnexplainedNs = 5 * kMicrosecond;

// Whether the operation started so much later than its stream, its launch and what it is known to wait for let it.
bool is_unexplained(const RankNodes& nodes, NodeIndex op, std::int64_t late_ns = kUnexplainedNs) {
  if (nodes.waits.contains(op)) return false;
  const OpNode& node = nodes.graph.ops[op];
  std::int64_t allowed_ns = node.call == kNoNode ? nodes.start_of_op(op) : nodes.begin_of(node.call) + node.latency_ns;
  if (node.before != kNoNode) allowed_ns = std::max(allowed_ns, nodes.end_of_op(node.before));
  return nodes.start_of_op(op) - allowed_ns >= late_ns;
}

bool may_wait(const RankNodes& nodes, NodeIndex op, NodeIndex other) {
  const OpNode& node = nodes.graph.ops[op];
  const OpNode& earlier = nodes.graph.ops[other];
  const auto& lanes = nodes.rank.gpu_lanes;
  return other < op && earlier.lane != node.lane && lanes[earlier.lane].device == lanes[node.lane].device;
}

// Among the launches of one graph, which all have the same nodes.
class GraphWaits {
 public:
  // The operations of each launch.
  GraphWaits(RankNodes& nodes, std::vector<Slice> launches) : nodes_(nodes), launches_(std::move(launches)) {
    for (const Slice& launch : launches_) {
      auto& of_node = op_of_node_.emplace_back();
      auto& by_end = by_end_.emplace_back();
      for (NodeIndex op = launch.begin; op < launch.end; ++op) {
        of_node.emplace(node_of(op), op);
        by_end.push_back(op);
      }
      std::ranges::sort(by_end, {}, [&](NodeIndex op) { return nodes_.end_of_op(op); });
    }
  }

  void find() {
    const Slice& first = launches_.front();
    for (NodeIndex op = first.begin; op < first.end; ++op) {
      const std::vector<NodeIndex> ops = everywhere(op);
      std::vector<bool> is_late;
      is_late.reserve(ops.size());
      for (const NodeIndex o : ops)
        is_late.push_back(is_unexplained(nodes_, o));
      const auto late = static_cast<std::size_t>(std::ranges::count(is_late, true));
      constexpr std::size_t kOneOf = 4;  // elsewhere something else came later
      if (late > 1 && late * kOneOf >= ops.size()) wait(ops, is_late);
    }
  }

 private:
  std::uint64_t node_of(NodeIndex op) const { return nodes_.gpu.graph_node[nodes_.graph.ops[op].event]; }

  // The same node in every launch; empty: it is not in all of them.
  std::vector<NodeIndex> everywhere(NodeIndex op) const {
    std::vector<NodeIndex> ops;
    for (const auto& of_node : op_of_node_) {
      const auto found = of_node.find(node_of(op));
      if (found == of_node.end()) return {};
      ops.push_back(found->second);
    }
    return ops;
  }

  // The least time from the end of `others` to the start of `ops` where these are late, but for what the clocks made
  // too short; nothing where one had not ended.
  std::optional<std::int64_t> delay(const std::vector<NodeIndex>& ops, const std::vector<NodeIndex>& others,
                                    const std::vector<bool>& is_late) const {
    std::vector<std::int64_t> delays;
    for (std::size_t launch = 0; launch < others.size(); ++launch) {
      const std::int64_t delay_ns = nodes_.start_of_op(ops[launch]) - nodes_.end_of_op(others[launch]);
      if (delay_ns < 0 || !may_wait(nodes_, ops[launch], others[launch])) return std::nullopt;
      if (is_late[launch]) delays.push_back(delay_ns);
    }
    std::ranges::sort(delays);
    return quantile(delays, 0.05);
  }

  void wait(const std::vector<NodeIndex>& ops, const std::vector<bool>& is_late) {
    constexpr std::int64_t kFarthestNs = 100 * kMicrosecond;
    const auto late = static_cast<std::size_t>(std::ranges::find(is_late, true) - is_late.begin());
    const std::vector<NodeIndex>& by_end = by_end_[late];
    const std::int64_t start_ns = nodes_.start_of_op(ops[late]);
    std::int64_t least_ns = kFarthestNs;
    std::vector<NodeIndex> awaited;
    auto latest = std::ranges::upper_bound(by_end, start_ns, {}, [&](NodeIndex o) { return nodes_.end_of_op(o); });
    for (; latest != by_end.begin() && start_ns - nodes_.end_of_op(*std::prev(latest)) < kFarthestNs; --latest) {
      std::vector<NodeIndex> others = everywhere(*std::prev(latest));
      const auto delay_ns = others.empty() ? std::nullopt : delay(ops, others, is_late);
      if (!delay_ns || *delay_ns >= least_ns) continue;
      least_ns = *delay_ns;
      awaited = std::move(others);
    }
    for (std::size_t launch = 0; launch < awaited.size(); ++launch) {
      if (nodes_.waits.contains(ops[launch])) continue;
      nodes_.waits[ops[launch]].push_back(awaited[launch]);
      nodes_.wait_delays[ops[launch]] = least_ns;
      ++nodes_.graph.inferred_waits;
    }
  }

  RankNodes& nodes_;
  std::vector<Slice> launches_;
  std::vector<std::unordered_map<std::uint64_t, NodeIndex>> op_of_node_;  // by launch
  std::vector<std::vector<NodeIndex>> by_end_;                            // the operations of each launch
};

// Those of graphs that were launched more than once. HIP does not number the nodes of its graphs.
std::vector<std::vector<Slice>> repeated_graphs(const RankNodes& nodes) {
  std::map<std::set<std::uint64_t>, std::vector<Slice>> by_nodes;
  for (const CallNode& call : nodes.graph.calls) {
    std::set<std::uint64_t> of_call;
    for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
      of_call.insert(nodes.gpu.graph_node[nodes.graph.ops[op].event]);
    if (!of_call.empty() && !of_call.contains(0)) by_nodes[of_call].push_back(call.ops);
  }
  std::vector<std::vector<Slice>> repeated;
  for (auto& [of_call, launches] : by_nodes)
    if (launches.size() > 1) repeated.push_back(std::move(launches));
  return repeated;
}

// For what ended just before.
void wait_for_latest(RankNodes& nodes, const std::vector<NodeIndex>& by_end, NodeIndex op) {
  constexpr std::int64_t kAfterNs = 6 * kMicrosecond;
  const std::int64_t start_ns = nodes.start_of_op(op);
  auto latest = std::ranges::upper_bound(by_end, start_ns, {}, [&](NodeIndex o) { return nodes.end_of_op(o); });
  for (; latest != by_end.begin(); --latest) {
    const NodeIndex other = *std::prev(latest);
    if (start_ns - nodes.end_of_op(other) > kAfterNs) return;
    if (!may_wait(nodes, op, other)) continue;
    nodes.waits[op].push_back(other);
    ++nodes.graph.inferred_waits;
    return;
  }
}

// For room: a kernel of another stream had the multiprocessors, and this one starts as its last blocks end, or just
// after.
void wait_for_room(RankNodes& nodes, const std::vector<NodeIndex>& by_end, NodeIndex op) {
  constexpr std::int64_t kBeforeNs = 50 * kMicrosecond;
  constexpr std::int64_t kAfterNs = 6 * kMicrosecond;
  const std::int64_t start_ns = nodes.start_of_op(op);
  const auto end_of = [&](NodeIndex other) { return nodes.end_of_op(other); };
  NodeIndex nearest = kNoNode;
  for (auto at = std::ranges::lower_bound(by_end, start_ns - kAfterNs, {}, end_of);
       at != by_end.end() && end_of(*at) <= start_ns + kBeforeNs; ++at) {
    const bool had_room = may_wait(nodes, op, *at) && nodes.start_of_op(*at) < start_ns &&
                          nodes.gpu.kind[nodes.graph.ops[*at].event] == GpuKind::kKernel;
    if (!had_room) continue;
    if (nearest == kNoNode || std::abs(end_of(*at) - start_ns) < std::abs(end_of(nearest) - start_ns)) nearest = *at;
  }
  if (nearest == kNoNode) return;
  nodes.waits[op].push_back(nearest);
  nodes.wait_delays[op] = start_ns - end_of(nearest);
  ++nodes.graph.inferred_waits;
}

}  // namespace

void infer_waits(RankNodes& nodes, bool are_recorded) {
  std::vector<bool> is_settled(nodes.graph.ops.size(), false);  // by op: its graph's launches were compared
  for (std::vector<Slice>& launches : repeated_graphs(nodes)) {
    for (const Slice& launch : launches)
      std::fill(is_settled.begin() + launch.begin, is_settled.begin() + launch.end, true);
    GraphWaits(nodes, std::move(launches)).find();
  }
  std::vector<NodeIndex> by_end(nodes.graph.ops.size());
  for (NodeIndex op = 0; op < by_end.size(); ++op)
    by_end[op] = op;
  std::ranges::sort(by_end, {}, [&](NodeIndex op) { return nodes.end_of_op(op); });
  constexpr std::int64_t kHeldUpNs = 100 * kMicrosecond;
  for (NodeIndex op = 0; op < by_end.size(); ++op) {
    if (is_settled[op]) continue;
    const bool may_be_unrecorded = !are_recorded || nodes.is_graph_node(op);
    if (may_be_unrecorded && is_unexplained(nodes, op)) wait_for_latest(nodes, by_end, op);
    if (is_unexplained(nodes, op, kHeldUpNs)) wait_for_room(nodes, by_end, op);
  }
}

}  // namespace swinscope
