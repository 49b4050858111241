#include "advisor/delays.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;

// What is usual among what was seen, by key, where enough was. `of` is a quantile, or the mean: the mean where delays
// add up over a step, the quantile where something else may have been part of what was seen.
template <typename Key>
class Usual {
 public:
  explicit Usual(std::optional<double> of = 0.5) : quantile_(of) {}
  void add(const Key& key, std::int64_t value) {
    by_key_[key].push_back(value);
    all_.push_back(value);
  }
  void finish() {
    for (auto& [key, values] : by_key_)
      if (values.size() >= kEnough) usual_.emplace(key, value_of(values));
    if (!all_.empty()) usual_of_all_ = value_of(all_);
  }
  std::optional<std::int64_t> of(const Key& key) const {
    const auto found = usual_.find(key);
    return found == usual_.end() ? std::nullopt : std::optional(found->second);
  }
  std::int64_t of_all(std::int64_t otherwise) const { return usual_of_all_.value_or(otherwise); }
  // How far apart what was seen is, half of it; 0: not enough was.
  std::int64_t spread(const Key& key) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second.size() < kEnough) return 0;
    std::vector<std::int64_t> values = found->second;
    std::ranges::sort(values);
    return quantile(values, 0.75) - quantile(values, 0.25);
  }

 private:
  std::int64_t value_of(std::vector<std::int64_t>& values) const {
    if (quantile_) return quantile_of(values, *quantile_);
    return std::accumulate(values.begin(), values.end(), std::int64_t{0}) / static_cast<std::int64_t>(values.size());
  }

  static constexpr std::size_t kEnough = 3;
  std::optional<double> quantile_;
  std::map<Key, std::vector<std::int64_t>> by_key_;
  std::vector<std::int64_t> all_;
  std::map<Key, std::int64_t> usual_;
  std::optional<std::int64_t> usual_of_all_;
};

bool is_idle_at(const RankNodes& nodes, NodeIndex op, std::int64_t when) {
  const NodeIndex before = nodes.graph.ops[op].before;
  return (before == kNoNode || nodes.end_of_op(before) < when) && !nodes.waits.contains(op);
}

// Launches that took far longer than others while many were outstanding waited for room.
void find_queue(RankNodes& nodes, const Usual<StringId>& own) {
  constexpr std::int64_t kTimes = 4;
  constexpr std::int64_t kLeastNs = 30 * kMicrosecond;
  constexpr std::size_t kOutstanding = 900;
  std::vector<std::int64_t> ends;  // of launched work, by launch
  std::vector<NodeIndex> launches;
  for (NodeIndex index = 0; index < nodes.graph.calls.size(); ++index) {
    const CallNode& call = nodes.graph.calls[index];
    if (!call.is_launch) continue;
    std::int64_t end_ns = 0;
    for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
      end_ns = std::max(end_ns, nodes.end_of_op(op));
    launches.push_back(index);
    ends.push_back(end_ns);
  }
  std::vector<std::int64_t> sorted = ends;
  std::ranges::sort(sorted);
  const auto outstanding = [&](std::size_t launched, std::int64_t when) {
    const auto done = static_cast<std::size_t>(std::ranges::upper_bound(sorted, when) - sorted.begin());
    return launched > done ? launched - done : 0;
  };
  std::vector<std::pair<NodeIndex, std::int64_t>> blocked;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const NodeIndex index = launches[i];
    const std::optional<std::int64_t> usual = own.of(nodes.name_of(index));
    if (!usual || nodes.graph.calls[index].own_ns < std::max(kLeastNs, kTimes * *usual)) continue;
    if (outstanding(i, nodes.begin_of(index)) < kOutstanding) continue;
    blocked.emplace_back(index, *usual);
    lengths.push_back(static_cast<std::int64_t>(outstanding(i, nodes.end_of(index))) + 1);  // and itself
  }
  if (blocked.empty()) return;
  std::ranges::sort(lengths);
  nodes.graph.queue_length = std::max<std::int64_t>(1, quantile(lengths, 0.5));
  for (const auto& [index, usual] : blocked)
    nodes.graph.calls[index].own_ns = usual;
}

// Names and launch configurations of the two.
using Pair = std::tuple<StringId, StringId, std::uint32_t, std::uint32_t>;
Pair pair_of(const RankNodes& nodes, const OpNode& node) {
  const EventIndex before = nodes.graph.ops[node.before].event;
  return {nodes.gpu.name[before], nodes.gpu.name[node.event], nodes.gpu.config[before], nodes.gpu.config[node.event]};
}
std::pair<GpuKind, GpuKind> kinds_of(const RankNodes& nodes, const OpNode& node) {
  return {nodes.gpu.kind[nodes.graph.ops[node.before].event], nodes.gpu.kind[node.event]};
}

// A copy of pageable memory: the call itself brings the bytes to and from pinned memory, so what it takes is of these
// bytes, and not what others of its name take.
bool waits_for_its_own_work(const RankNodes& nodes, NodeIndex index) {
  const CallNode& call = nodes.graph.calls[index];
  for (EventIndex i = call.waits.begin; i < call.waits.end; ++i)
    if (nodes.graph.ops[nodes.graph.call_waits[i]].call == index) return true;
  return false;
}

}  // namespace

// From a call to the start of what it launches, where the stream had nothing else to do: the least, but for those
// that the clocks' errors made too short. A CUDA graph starts when its launch, which takes long, is nearly done.
void find_latencies(RankNodes& nodes) {
  Usual<StringId> latency(0.05);
  Usual<StringId> before_end;  // of a graph's launch
  std::int64_t least = 0;
  bool any = false;
  const auto is_first = [&](NodeIndex op) { return nodes.graph.calls[nodes.graph.ops[op].call].ops.begin == op; };
  for (NodeIndex op = 0; op < nodes.graph.ops.size(); ++op) {
    const NodeIndex call = nodes.graph.ops[op].call;
    if (call == kNoNode || !is_first(op)) continue;
    const std::int64_t delay = nodes.start_of_op(op) - nodes.begin_of(call);
    if (is_idle_at(nodes, op, nodes.begin_of(call)) && nodes.is_graph_node(op)) {
      before_end.add(nodes.name_of(call), nodes.graph.calls[call].own_ns - delay);
    } else if (is_idle_at(nodes, op, nodes.begin_of(call)) && !waits_for_its_own_work(nodes, call)) {
      latency.add(nodes.name_of(call), delay);
    }
    least = any ? std::min(least, delay) : delay;
    any = true;
  }
  latency.finish();
  before_end.finish();
  const std::int64_t otherwise = latency.of_all(std::max<std::int64_t>(0, least));
  for (NodeIndex index = 0; index < nodes.graph.ops.size(); ++index) {
    OpNode& op = nodes.graph.ops[index];
    if (op.call == kNoNode) continue;
    const StringId name = nodes.name_of(op.call);
    op.latency_ns = latency.of(name).value_or(otherwise);
    const std::optional<std::int64_t> early_ns = before_end.of(name);
    const std::int64_t begin_ns = nodes.begin_of(op.call);
    if (nodes.is_graph_node(index) && early_ns)
      op.latency_ns = std::max<std::int64_t>(0, nodes.graph.calls[op.call].own_ns - *early_ns);
    else if (is_first(index) && waits_for_its_own_work(nodes, op.call) && is_idle_at(nodes, index, begin_ns))
      op.latency_ns = std::max<std::int64_t>(0, nodes.start_of_op(index) - begin_ns);
  }
}

// What a call takes when it waits for nothing, and how long it takes to notice that it need not wait any more.
void find_own_times(RankNodes& nodes) {
  Usual<StringId> own;
  Usual<StringId> wake;
  const auto awaited_end = [&](NodeIndex index) {
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
    const Slice& waits = nodes.graph.calls[index].waits;
    for (EventIndex i = waits.begin; i < waits.end; ++i)
      end_ns = std::max(end_ns, nodes.end_of_op(nodes.graph.call_waits[i]));
    return end_ns;
  };
  for (NodeIndex index = 0; index < nodes.graph.calls.size(); ++index) {
    const CallNode& call = nodes.graph.calls[index];
    const std::int64_t awaited_ns = awaited_end(index);
    if (awaited_ns <= nodes.begin_of(index)) {
      own.add(nodes.name_of(index), call.own_ns);
    } else if (awaited_ns <= nodes.end_of(index) && !waits_for_its_own_work(nodes, index)) {
      wake.add(nodes.name_of(index), nodes.end_of(index) - awaited_ns);
    }
  }
  own.finish();
  wake.finish();
  find_queue(nodes, own);
  constexpr std::int64_t kOwnNs = 5 * kMicrosecond;  // of a call that was never seen without waiting
  for (NodeIndex index = 0; index < nodes.graph.calls.size(); ++index) {
    CallNode& call = nodes.graph.calls[index];
    if (call.waits.size() == 0) continue;
    const std::int64_t awaited_ns = awaited_end(index);
    call.wake_ns = waits_for_its_own_work(nodes, index) && awaited_ns <= nodes.end_of(index)
                       ? nodes.end_of(index) - awaited_ns
                       : wake.of(nodes.name_of(index)).value_or(wake.of_all(0));
    if (awaited_ns > nodes.begin_of(index))
      call.own_ns = std::min(call.own_ns, own.of(nodes.name_of(index)).value_or(kOwnNs));
  }
}

namespace {

// From the end of the one before it on its stream to the start of an operation that nothing else holds back. One that
// may start before that end does so long before it or, when all blocks of the other one have begun, so long after its
// start: whichever is the steadier.
template <typename Key>
class StreamGaps {
 public:
  explicit StreamGaps(std::optional<double> quantile) : gap_(quantile) {}

  void add(const Key& key, std::int64_t gap_ns, std::int64_t before_ns) {
    gap_.add(key, gap_ns);
    if (gap_ns >= 0) return;
    early_.add(key, gap_ns);
    from_start_.add(key, before_ns + gap_ns);
  }
  void finish() {
    gap_.finish();
    early_.finish();
    from_start_.finish();
  }
  // before_ns: how long the one before it takes.
  std::optional<std::int64_t> of(const Key& key, std::int64_t before_ns) const {
    const std::optional<std::int64_t> gap_ns = gap_.of(key);
    if (!gap_ns || *gap_ns >= 0 || !early_.of(key)) return gap_ns;
    return from_start_.spread(key) < early_.spread(key) ? *from_start_.of(key) - before_ns : early_.of(key);
  }

 private:
  Usual<Key> gap_;
  Usual<Key> early_;
  Usual<Key> from_start_;
};

constexpr std::int64_t kUsualGapNs = kMicrosecond;
constexpr std::int64_t kLongestGapNs = 20 * kMicrosecond;  // something else delayed it

class GapFinder {
 public:
  explicit GapFinder(const RankNodes& nodes) : nodes_(nodes) {}

  void add(const OpNode& node, std::int64_t start_ns) {
    const std::int64_t gap_ns = start_ns - nodes_.end_of_op(node.before);
    if (gap_ns > kLongestGapNs) return;
    if (graph_node_of(node) != 0) by_node_.add(graph_node_of(node), gap_ns, before_ns(node));
    by_pair_.add(pair_of(nodes_, node), gap_ns, before_ns(node));
    by_kinds_.add(kinds_of(nodes_, node), gap_ns);
  }
  void finish() {
    by_node_.finish();
    by_pair_.finish();
    by_kinds_.finish();
  }
  std::int64_t of(const OpNode& node) const {
    std::optional<std::int64_t> seen = by_node_.of(graph_node_of(node), before_ns(node));
    if (!seen) seen = by_pair_.of(pair_of(nodes_, node), before_ns(node));
    return seen ? *seen : by_kinds_.of(kinds_of(nodes_, node)).value_or(kUsualGapNs);
  }

 private:
  std::uint64_t graph_node_of(const OpNode& node) const { return nodes_.gpu.graph_node[node.event]; }
  std::int64_t before_ns(const OpNode& node) const {
    return nodes_.end_of_op(node.before) - nodes_.start_of_op(node.before);
  }

  const RankNodes& nodes_;
  // A node of a CUDA graph is the same work in every replay. Which kernels are beside each other does not say how early
  // one may start while the other ends: that depends on their shapes, too.
  StreamGaps<std::uint64_t> by_node_ = StreamGaps<std::uint64_t>(0.5);
  StreamGaps<Pair> by_pair_ = StreamGaps<Pair>(std::nullopt);
  Usual<std::pair<GpuKind, GpuKind>> by_kinds_ = Usual<std::pair<GpuKind, GpuKind>>(std::nullopt);
};

// Of all an operation waits for on other streams, the latest end.
std::int64_t awaited_end(const RankNodes& nodes, NodeIndex op) {
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  if (const auto waits = nodes.waits.find(op); waits != nodes.waits.end())
    for (const NodeIndex other : waits->second)
      end_ns = std::max(end_ns, nodes.end_of_op(other));
  return end_ns;
}

constexpr std::int64_t kSure = 2 * kMicrosecond;

std::int64_t launched_ns(const RankNodes& nodes, NodeIndex op) {
  const OpNode& node = nodes.graph.ops[op];
  return node.call == kNoNode ? nodes.start_of_op(op) : nodes.begin_of(node.call) + node.latency_ns;
}

// Whether it was there before the end of the one before it on its stream, and waited for nothing else.
bool is_held_by_stream(const RankNodes& nodes, NodeIndex op) {
  const NodeIndex before = nodes.graph.ops[op].before;
  return before != kNoNode && awaited_end(nodes, op) <= nodes.end_of_op(before) &&
         nodes.end_of_op(before) >= launched_ns(nodes, op) + kSure;
}

}  // namespace

// From the end of one to the start of the next on a stream, and from that of another stream, where these had been
// launched long before.
void find_gaps(RankNodes& nodes) {
  GapFinder gaps(nodes);
  std::vector<std::int64_t> delays;
  for (NodeIndex op = 0; op < nodes.graph.ops.size(); ++op) {
    const OpNode& node = nodes.graph.ops[op];
    if (is_held_by_stream(nodes, op)) gaps.add(node, nodes.start_of_op(op));
    if (!nodes.waits.contains(op) || nodes.wait_delays.contains(op)) continue;
    const std::int64_t awaited_ns = awaited_end(nodes, op);
    const bool is_last = node.before == kNoNode || awaited_ns > nodes.end_of_op(node.before);
    const std::int64_t delay_ns = nodes.start_of_op(op) - awaited_ns;
    if (is_last && awaited_ns > launched_ns(nodes, op) + kSure && delay_ns < kLongestGapNs) delays.push_back(delay_ns);
  }
  gaps.finish();
  std::ranges::sort(delays);
  const std::int64_t wait_delay_ns = delays.empty() ? kUsualGapNs : quantile(delays, 0.5);
  for (OpNode& node : nodes.graph.ops)
    if (node.before != kNoNode) node.gap_ns = gaps.of(node);
  for (const auto& [op, others] : nodes.waits) {
    const auto known = nodes.wait_delays.find(op);
    nodes.graph.ops[op].wait_delay_ns = known == nodes.wait_delays.end() ? wait_delay_ns : known->second;
    nodes.graph.ops[op].waits.begin = static_cast<EventIndex>(nodes.graph.op_waits.size());
    nodes.graph.op_waits.insert(nodes.graph.op_waits.end(), others.begin(), others.end());
    nodes.graph.ops[op].waits.end = static_cast<EventIndex>(nodes.graph.op_waits.size());
  }
}

}  // namespace swinscope
