#include "advisor/critical_path.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

PathCause cause_of_work(GpuClass gpu_class, OperationKind kind) {
  if (gpu_class == GpuClass::kCommunication) return PathCause::kCommunication;
  if (gpu_class == GpuClass::kUnknown) return PathCause::kUnknownWork;
  const bool computes =
      kind == OperationKind::kGemm || kind == OperationKind::kConv || kind == OperationKind::kAttention;
  return computes ? PathCause::kCompute : PathCause::kMemory;
}

// Walks from the end of a window back to its begin.
class PathWalk {
 public:
  PathWalk(const DependencyGraph& graph, const Replay& replay, const RunFacts& run, const ReplayedWindow& window)
      : graph_(graph), replay_(replay), run_(run), rank_(window.rank), upto_ns_(window.time.end_ns) {
    begin_ns_ = window.time.begin_ns + offset(rank_);
    find_end(window);
  }

  std::vector<PathPiece> walk() {
    while (upto_ns_ + offset(rank_) > begin_ns_ && go_back()) {
    }
    // What is before the first node that is known.
    if (upto_ns_ + offset(rank_) > begin_ns_) add(PathCause::kHost, kNoNode, kNoNode, begin_ns_ - offset(rank_));
    std::ranges::reverse(pieces_);
    return std::move(pieces_);
  }

 private:
  enum class At : std::uint8_t { kOp, kOpStart, kCallEnd, kCallBegin };

  std::int64_t offset(std::uint32_t rank) const { return graph_.ranks[rank].clock_offset_ns; }
  const RankGraph& graph() const { return graph_.ranks[rank_]; }
  const NodeTimes& op_times(NodeIndex op) const { return replay_.ranks[rank_].ops[op]; }
  const NodeTimes& call_times(NodeIndex call) const { return replay_.ranks[rank_].calls[call]; }

  // The work that ends with the window, or the call after which the host ends it.
  void find_end(const ReplayedWindow& window) {
    for (NodeIndex op = 0; op < graph().ops.size(); ++op) {
      if (op_times(op).end_ns != upto_ns_ || graph().ops[op].is_removed) continue;
      at_ = At::kOp;
      node_ = op;
      return;
    }
    at_ = At::kCallEnd;
    for (NodeIndex call = 0; call < graph().calls.size(); ++call) {
      if (graph().calls[call].thread != window.thread || call_times(call).start_ns >= upto_ns_) continue;
      node_ = call;
    }
    if (node_ != kNoNode && call_times(node_).end_ns < upto_ns_)
      add(PathCause::kHost, kNoNode, node_, call_times(node_).end_ns);
  }

  void add(PathCause cause, NodeIndex op, NodeIndex call, std::int64_t from_ns) {
    from_ns = std::max(from_ns, begin_ns_ - offset(rank_));
    if (from_ns >= upto_ns_) return;
    pieces_.push_back({rank_, cause, op, call, {from_ns, upto_ns_}});
    upto_ns_ = from_ns;
  }

  bool go_to(At at, NodeIndex node) {
    at_ = at;
    node_ = node;
    return node != kNoNode;
  }

  bool go_back() {
    if (node_ == kNoNode) return false;
    switch (at_) {
      case At::kOp:
        return back_through_op();
      case At::kOpStart:
        return back_from_start();
      case At::kCallEnd:
        return back_through_call();
      case At::kCallBegin:
        return back_from_begin();
    }
    return false;
  }

  bool back_through_op() {
    const OpNode& op = graph().ops[node_];
    const Rank& rank = run_.trace.ranks[graph().rank_index];
    if (op.collective == kNoNode) {
      add(cause_of_work(rank.gpu.gpu_class[op.event], rank.gpu.operation[op.event]), node_, kNoNode,
          op_times(node_).start_ns);
      return go_to(At::kOpStart, node_);
    }
    // Its transfer began when the last rank came.
    CollectiveNode::Member last;
    std::int64_t last_ns = 0;
    for (const CollectiveNode::Member& member : graph_.collectives[op.collective].members) {
      const std::int64_t start_ns = replay_.ranks[member.rank].ops[member.op].start_ns + offset(member.rank);
      if (last.op == kNoNode || start_ns > last_ns) last = member, last_ns = start_ns;
    }
    add(PathCause::kCommunication, node_, kNoNode, last_ns - offset(rank_));
    upto_ns_ += offset(rank_) - offset(last.rank);
    rank_ = last.rank;
    return go_to(At::kOpStart, last.op);
  }

  bool back_from_start() {
    const NodeTimes& times = op_times(node_);
    if (times.bound == Decider::kNothing) return false;
    if (times.bound == Decider::kLaunch) {
      add(PathCause::kDelay, node_, kNoNode, call_times(times.by).start_ns);
      return go_to(At::kCallBegin, times.by);
    }
    add(PathCause::kDelay, node_, kNoNode, op_times(times.by).end_ns);
    return go_to(At::kOp, times.by);
  }

  bool back_through_call() {
    const NodeTimes& times = call_times(node_);
    if (times.waited_for != kNoNode) {
      add(PathCause::kCall, kNoNode, node_, op_times(times.waited_for).end_ns);
      return go_to(At::kOp, times.waited_for);
    }
    add(PathCause::kCall, kNoNode, node_, times.start_ns);
    return go_to(At::kCallBegin, node_);
  }

  bool back_from_begin() {
    const NodeTimes& times = call_times(node_);
    if (times.bound == Decider::kNothing) return false;
    if (times.bound == Decider::kQueue) {
      add(PathCause::kCall, kNoNode, node_, op_times(times.by).end_ns);
      return go_to(At::kOp, times.by);
    }
    add(PathCause::kHost, kNoNode, times.by, call_times(times.by).end_ns);
    return go_to(At::kCallEnd, times.by);
  }

  const DependencyGraph& graph_;
  const Replay& replay_;
  const RunFacts& run_;
  std::uint32_t rank_;
  std::int64_t upto_ns_;   // of the rank's clock
  std::int64_t begin_ns_;  // of the common clock
  At at_ = At::kOp;
  NodeIndex node_ = kNoNode;
  std::vector<PathPiece> pieces_;
};

}  // namespace

std::string_view path_cause_name(PathCause cause) {
  switch (cause) {
    case PathCause::kCompute:
      return "compute";
    case PathCause::kMemory:
      return "memory";
    case PathCause::kUnknownWork:
      return "unknown kernels";
    case PathCause::kCommunication:
      return "transfer of collectives";
    case PathCause::kDelay:
      return "delay of the GPU";
    case PathCause::kCall:
      return "CUDA calls";
    case PathCause::kHost:
      return "host between calls";
  }
  return "";
}

std::int64_t CriticalPath::total_ns() const {
  std::int64_t sum = 0;
  for (const PathPiece& piece : pieces)
    sum += piece.time.length();
  return sum;
}

CriticalPath find_critical_path(const DependencyGraph& graph, const Replay& replay, const RunFacts& run) {
  const std::vector<ReplayedWindow> windows = replayed_windows(graph, replay, run);
  const SlowestDevice slowest = slowest_device(windows);
  CriticalPath path;
  path.steps = slowest.steps;
  for (const ReplayedWindow& window : windows) {
    if (window.rank != slowest.rank || window.device != slowest.device) continue;
    std::vector<PathPiece> pieces = PathWalk(graph, replay, run, window).walk();
    path.pieces.insert(path.pieces.end(), pieces.begin(), pieces.end());
  }
  return path;
}

namespace {

std::int64_t per_step(std::int64_t ns, const CriticalPath& path) { return ns / std::max<std::int64_t>(1, path.steps); }

}  // namespace

Table path_cause_table(const CriticalPath& path) {
  Table table{"critical_path",
              "What decides the step",
              {{"cause", "cause"},
               {"per_step_ns", "per step", Unit::kDuration},
               {"share_percent", "share", Unit::kPercent},
               {"pieces", "pieces", Unit::kCount}},
              {}};
  constexpr std::array kCauses = {PathCause::kCompute,       PathCause::kMemory, PathCause::kUnknownWork,
                                  PathCause::kCommunication, PathCause::kDelay,  PathCause::kCall,
                                  PathCause::kHost};
  for (const PathCause cause : kCauses) {
    std::int64_t ns = 0;
    std::int64_t count = 0;
    for (const PathPiece& piece : path.pieces) {
      if (piece.cause != cause) continue;
      ns += piece.time.length();
      ++count;
    }
    table.rows.push_back(
        {std::string(path_cause_name(cause)), per_step(ns, path), percent_of(ns, path.total_ns()), int_cell(count)});
  }
  return table;
}

Table path_name_table(const CriticalPath& path, const DependencyGraph& graph, const RunFacts& run, NameStyle style) {
  struct Sum {
    std::int64_t ns = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<PathCause, std::string>, Sum> sums;
  for (const PathPiece& piece : path.pieces) {
    const RankGraph& nodes = graph.ranks[piece.rank];
    const Rank& rank = run.trace.ranks[nodes.rank_index];
    std::string name;
    if (piece.op != kNoNode) {
      name = event_name(run.trace, rank, nodes.ops[piece.op].event, style);
    } else if (piece.call != kNoNode) {
      name = run.trace.text(rank.api.name[nodes.calls[piece.call].event]);
      if (piece.cause == PathCause::kHost) name.insert(0, "after ");
    } else {
      name = "before the first call";
    }
    if (piece.cause == PathCause::kDelay) name.insert(0, "before ");
    Sum& sum = sums[{piece.cause, name}];
    sum.ns += piece.time.length();
    ++sum.count;
  }
  Table table{"on_path",
              "On the path",
              {{"name", "name"},
               {"cause", "cause"},
               {"per_step_ns", "per step", Unit::kDuration},
               {"share_percent", "share", Unit::kPercent},
               {"pieces", "pieces", Unit::kCount}},
              {}};
  for (const auto& [key, sum] : sums)
    table.rows.push_back({key.second, std::string(path_cause_name(key.first)), per_step(sum.ns, path),
                          percent_of(sum.ns, path.total_ns()), int_cell(sum.count)});
  sort_rows(table, "per_step_ns");
  return table;
}

}  // namespace swinscope
