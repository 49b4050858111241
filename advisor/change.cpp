#include "advisor/change.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace swinscope {
namespace {

// Whether the host came to it from another launch: before the first one of a step it does other things, too.
bool follows_a_launch(const CallNode& call, const RankGraph& rank) {
  return call.before != kNoNode && call.handed_by == kNoNode && rank.calls[call.before].ops.size() > 0 &&
         call.segment_ns <= kLongestDispatchNs;
}

// A launch that takes longer loads what its kernel and others need, once: who launches next instead does that.
bool is_dispatch(const CallNode& call) { return call.own_ns <= kLongestDispatchNs; }

// The call falls away, and the host's way to it from the launch before it; of the first one, its way to the next. Some
// of that may stay.
void remove_call(RankGraph& rank, const std::vector<NodeIndex>& next, NodeIndex index, Estimate estimate) {
  constexpr std::array kKept = {0.5, 0.1, 0.0};
  CallNode* call = &rank.calls[index];
  if (is_dispatch(*call)) call->own_ns = 0;
  call->is_launch = false;
  if (!follows_a_launch(*call, rank)) {
    if (next[index] == kNoNode) return;
    call = &rank.calls[next[index]];
    if (!call->is_launch || !follows_a_launch(*call, rank)) return;
  }
  call->segment_ns = std::llround(kKept[static_cast<std::size_t>(estimate)] * static_cast<double>(call->segment_ns));
}

class Remover {
 public:
  Remover(DependencyGraph& graph, Estimate estimate) : graph_(graph), estimate_(estimate) {}

  void remove(const OpRef& ref) {
    RankGraph& rank = graph_.ranks[ref.rank];
    OpNode& op = rank.ops[ref.op];
    op.is_removed = true;
    op.duration_ns = 0;
    op.gap_ns = 0;
    if (op.call == kNoNode) return;
    const CallNode& call = rank.calls[op.call];
    bool all = call.waits.size() == 0;
    for (NodeIndex other = call.ops.begin; all && other < call.ops.end; ++other)
      all = rank.ops[other].is_removed;
    if (all) remove_call(rank, next_of(ref.rank), op.call, estimate_);
  }

 private:
  const std::vector<NodeIndex>& next_of(std::uint32_t rank) {
    const auto [found, is_new] = next_.try_emplace(rank);
    if (is_new) found->second = next_calls(graph_.ranks[rank]);
    return found->second;
  }

  DependencyGraph& graph_;
  Estimate estimate_;
  std::map<std::uint32_t, std::vector<NodeIndex>> next_;
};

// A kernel of one's own is launched without what a library does before it launches: descriptors, the choice of a
// kernel.
void launch_as_usual(const std::optional<HostTimes>& usual, Estimate estimate, NodeIndex op, RankGraph& rank) {
  if (!usual || estimate == Estimate::kLeast || rank.ops[op].call == kNoNode) return;
  CallNode& call = rank.calls[rank.ops[op].call];
  if (call.ops.size() != 1) return;
  if (is_dispatch(call)) call.own_ns = std::min(call.own_ns, usual->own_ns);
  if (follows_a_launch(call, rank)) call.segment_ns = std::min(call.segment_ns, usual->segment_ns);
}

double new_time_ns(const Scaled& scaled, std::size_t estimate, const OpNode& op, double others_ns) {
  const auto now_ns = static_cast<double>(op.duration_ns);
  if (!scaled.times) return scaled.factor[estimate] * now_ns + scaled.share[estimate] * others_ns;
  return op.has_half_values ? scaled.times->halved_ns[estimate] : scaled.times->ns[estimate];
}

void capture(const Captured& captured, Estimate estimate, const LaunchCosts& costs, RankGraph& rank) {
  // What of the host's work between launches stays where a graph is launched.
  const double kept = estimate == Estimate::kMost ? 0.0 : estimate == Estimate::kLikely ? 0.02 : 0.1;
  const auto launch_ns = std::llround(costs.graph_ns + costs.per_node_ns * static_cast<double>(captured.nodes));
  std::int64_t host_ns = launch_ns;
  bool is_first = true;
  for (const NodeIndex index : captured.calls) {
    CallNode& call = rank.calls[index];
    if (!is_first) {
      host_ns += std::llround(kept * static_cast<double>(call.segment_ns + call.own_ns));
      call.segment_ns = 0;
      call.own_ns = 0;
      call.is_launch = false;
    }
    for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op) {
      OpNode& node = rank.ops[op];
      if (!is_first) node.call = captured.calls.front();
      node.latency_ns = launch_ns;
      if (!is_first) node.gap_ns = std::min<std::int64_t>(node.gap_ns, std::llround(costs.gap_ns));
    }
    is_first = false;
  }
  for (const NodeIndex index : captured.left_out) {
    CallNode& call = rank.calls[index];
    host_ns += std::llround(kept * static_cast<double>(call.segment_ns + call.own_ns));
    call.segment_ns = 0;
    call.own_ns = 0;
  }
  rank.calls[captured.calls.front()].own_ns = host_ns;
}

// That before it on its stream, of what is left; nullptr: it is the first.
const OpNode* left_before(const RankGraph& rank, const OpNode& op) {
  NodeIndex before = op.before;
  while (before != kNoNode && rank.ops[before].is_removed)
    before = rank.ops[before].before;
  return before == kNoNode ? nullptr : &rank.ops[before];
}

void overlap(const Overlapped& overlapped, Estimate estimate, RankGraph& rank) {
  OpNode& op = rank.ops[overlapped.op.op];
  const OpNode* before = left_before(rank, op);
  if (op.is_removed || before == nullptr) return;
  const std::int64_t earlier_ns =
      std::min<std::int64_t>(before->duration_ns / 2, std::llround(overlapped.ns[static_cast<std::size_t>(estimate)]));
  start_earlier(op, std::max<std::int64_t>(op.gap_ns, 0) + earlier_ns);
}

}  // namespace

void start_earlier(OpNode& op, std::int64_t ns) {
  const std::int64_t before_ns = std::max<std::int64_t>(-op.gap_ns, 0);
  op.gap_ns -= ns;
  op.duration_ns = std::max<std::int64_t>(0, op.duration_ns - (std::max<std::int64_t>(-op.gap_ns, 0) - before_ns));
}

std::vector<NodeIndex> next_calls(const RankGraph& rank) {
  std::vector<NodeIndex> next(rank.calls.size(), kNoNode);
  for (NodeIndex call = 0; call < rank.calls.size(); ++call)
    if (rank.calls[call].before != kNoNode) next[rank.calls[call].before] = call;
  return next;
}

std::string_view confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLikely:
      return "likely";
    case Confidence::kPlausible:
      return "plausible";
    case Confidence::kSpeculative:
      return "speculative";
  }
  return "";
}

std::vector<OpRef> Scaled::others() const {
  std::vector<OpRef> all = instead_of;
  all.insert(all.end(), beside.begin(), beside.end());
  return all;
}

std::vector<OpRef> Change::removed() const {
  std::vector<OpRef> all;
  for (const Scaled& part : scaled) {
    const std::vector<OpRef> others = part.others();
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

void apply(const Change& change, Estimate estimate, const LaunchCosts& costs, DependencyGraph& graph) {
  Remover remover(graph, estimate);
  const auto op_of = [&](const OpRef& ref) -> OpNode& { return graph.ranks[ref.rank].ops[ref.op]; };
  const auto is_taken = [&](const OpRef& ref) { return op_of(ref).is_removed || op_of(ref).collective != kNoNode; };
  for (const Scaled& scaled : change.scaled) {
    std::vector<OpRef> others;
    std::ranges::remove_copy_if(scaled.beside, std::back_inserter(others), is_taken);
    OpRef kept = scaled.op;
    if (op_of(kept).is_removed && scaled.instead_of.empty() && !others.empty()) {
      const auto longest =
          std::ranges::max_element(others, {}, [&](const OpRef& ref) { return op_of(ref).duration_ns; });
      kept = *longest;
      others.erase(longest);
    }
    if (op_of(kept).is_removed || std::ranges::any_of(scaled.instead_of, is_taken)) continue;
    others.insert(others.end(), scaled.instead_of.begin(), scaled.instead_of.end());
    OpNode& op = op_of(kept);
    double others_ns = 0;
    for (const OpRef& other : others)
      others_ns += static_cast<double>(op_of(other).duration_ns);
    const double ns = new_time_ns(scaled, static_cast<std::size_t>(estimate), op, others_ns);
    if (scaled.times && ns >= static_cast<double>(op.duration_ns) + others_ns) continue;
    op.duration_ns = std::llround(ns);
    op.has_half_values |= scaled.halves_values;
    for (const OpRef& other : others)
      remover.remove(other);
    if (scaled.is_of_library && !change.keeps_launches && kept.rank < costs.usual.size())
      launch_as_usual(costs.usual[kept.rank], estimate, kept.op, graph.ranks[kept.rank]);
  }
  for (const Hastened& hastened : change.hastened) {
    CallNode& call = graph.ranks[hastened.rank].calls[hastened.call];
    call.segment_ns =
        std::llround(hastened.factor[static_cast<std::size_t>(estimate)] * static_cast<double>(call.segment_ns));
  }
  for (const CallRef& ref : change.without_wait)
    graph.ranks[ref.rank].calls[ref.call].waits = {};
  for (const Captured& captured : change.captured)
    capture(captured, estimate, costs, graph.ranks[captured.rank]);
  // The last one first: those before are as long as they were.
  std::for_each(change.overlapped.rbegin(), change.overlapped.rend(),
                [&](const Overlapped& overlapped) { overlap(overlapped, estimate, graph.ranks[overlapped.op.rank]); });
}

}  // namespace swinscope
