#include "advisor/graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/statistics.h"
#include "analyzer/trace/launch_calls.h"
#include "store/error.h"

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
      std::ranges::sort(values);
    std::ranges::sort(all_);
  }
  std::optional<std::int64_t> of(const Key& key) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second.size() < kEnough) return std::nullopt;
    return value_of(found->second);
  }
  std::int64_t of_all(std::int64_t otherwise) const { return all_.empty() ? otherwise : value_of(all_); }

 private:
  std::int64_t value_of(const std::vector<std::int64_t>& sorted) const {
    if (quantile_) return quantile(sorted, *quantile_);
    return std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0}) / static_cast<std::int64_t>(sorted.size());
  }

  static constexpr std::size_t kEnough = 3;
  std::optional<double> quantile_;
  std::map<Key, std::vector<std::int64_t>> by_key_;
  std::vector<std::int64_t> all_;
};

// Makes the graph of one rank.
class GraphMaker {
 public:
  GraphMaker(const RunFacts& run, std::size_t rank_index)
      : trace_(run.trace),
        rank_(run.trace.ranks[rank_index]),
        api_(rank_.api),
        gpu_(rank_.gpu),
        dependencies_(run.dependencies()[rank_index]) {
    graph_.rank_index = rank_index;
    const std::int64_t middle_ns = run.scope.host_window(rank_index).begin_ns;
    graph_.clock_offset_ns = run.clocks().common_ns(rank_index, middle_ns) - middle_ns;
  }

  RankGraph make() {
    add_calls();
    add_ops();
    join_waits();
    hand_over();
    find_latencies();
    find_blocked_calls();
    infer_stream_waits();
    find_gaps();
    find_order();
    graph_.unresolved_waits = dependencies_.unresolved();
    return std::move(graph_);
  }

 private:
  std::int64_t begin_of(NodeIndex call) const { return api_.start_ns[graph_.calls[call].event]; }
  std::int64_t end_of(NodeIndex call) const { return api_.end_ns[graph_.calls[call].event]; }
  std::int64_t start_of_op(NodeIndex op) const { return gpu_.start_ns[graph_.ops[op].event]; }
  std::int64_t end_of_op(NodeIndex op) const { return gpu_.end_ns[graph_.ops[op].event]; }
  // HIP does not number the nodes of its graphs.
  bool is_graph_node(NodeIndex op) const {
    const OpNode& node = graph_.ops[op];
    return gpu_.graph_node[node.event] != 0 ||
           (node.call != kNoNode && is_graph_launch(trace_.text(name_of(node.call))));
  }
  StringId name_of(NodeIndex call) const { return api_.name[graph_.calls[call].event]; }

  // Calls by begin; one within another of its thread is part of it.
  void add_calls() {
    std::vector<EventIndex> events(api_.size());
    for (EventIndex e = 0; e < api_.size(); ++e)
      events[e] = e;
    std::ranges::stable_sort(events, [&](EventIndex a, EventIndex b) {
      return std::pair(api_.start_ns[a], -api_.end_ns[a]) < std::pair(api_.start_ns[b], -api_.end_ns[b]);
    });
    std::vector<NodeIndex> last(rank_.api_lanes.size(), kNoNode);  // of each thread
    node_of_call_.resize(api_.size(), kNoNode);
    for (const EventIndex e : events) {
      const std::uint32_t thread = api_.lane[e];
      if (last[thread] != kNoNode && api_.start_ns[e] < end_of(last[thread])) {
        node_of_call_[e] = last[thread];
        continue;
      }
      CallNode call;
      call.event = e;
      call.thread = thread;
      call.before = last[thread];
      call.own_ns = api_.end_ns[e] - api_.start_ns[e];
      call.segment_ns = last[thread] == kNoNode ? 0 : api_.start_ns[e] - end_of(last[thread]);
      last[thread] = node_of_call_[e] = static_cast<NodeIndex>(graph_.calls.size());
      graph_.calls.push_back(call);
    }
  }

  // When each event was launched. Without a launch: when it starts, but before what follows on its stream was launched.
  void find_launches() {
    launched_ns_.resize(gpu_.size());
    for (const GpuLane& lane : rank_.gpu_lanes) {
      std::int64_t next_ns = std::numeric_limits<std::int64_t>::max();
      for (EventIndex e = lane.events.end; e-- > lane.events.begin;) {
        const bool is_launched = gpu_.launch[e] != kNoEvent;
        launched_ns_[e] = is_launched ? begin_of(node_of_call_[gpu_.launch[e]]) : std::min(gpu_.start_ns[e], next_ns);
        next_ns = std::min(next_ns, launched_ns_[e]);
      }
    }
  }

  // By the call that launches them, of one call by start: so each stream has its order.
  void add_ops() {
    find_launches();
    std::vector<EventIndex> events(gpu_.size());
    for (EventIndex e = 0; e < gpu_.size(); ++e)
      events[e] = e;
    const auto place_of = [&](EventIndex e) {
      const bool is_launched = gpu_.launch[e] != kNoEvent;
      return std::tuple(launched_ns_[e], is_launched, is_launched ? node_of_call_[gpu_.launch[e]] : 0,
                        gpu_.start_ns[e]);
    };
    std::ranges::stable_sort(events, {}, place_of);
    node_of_event_.resize(gpu_.size(), kNoNode);
    std::vector<NodeIndex> last(rank_.gpu_lanes.size(), kNoNode);
    for (const EventIndex e : events) {
      OpNode op;
      op.event = e;
      op.lane = gpu_.lane[e];
      op.call = gpu_.launch[e] == kNoEvent ? kNoNode : node_of_call_[gpu_.launch[e]];
      op.before = last[op.lane];
      op.duration_ns = gpu_.end_ns[e] - gpu_.start_ns[e];
      op.recorded_start_ns = gpu_.start_ns[e];
      const auto index = static_cast<NodeIndex>(graph_.ops.size());
      last[op.lane] = node_of_event_[e] = index;
      if (op.call != kNoNode) {
        CallNode& call = graph_.calls[op.call];
        if (call.ops.size() == 0) call.ops = {index, index};
        call.ops.end = index + 1;
        call.is_launch = true;
      }
      graph_.ops.push_back(op);
    }
  }

  void join_waits() {
    std::map<NodeIndex, std::vector<NodeIndex>> of_call;
    for (const HostWait& wait : dependencies_.host_waits()) {
      const NodeIndex call = node_of_call_[wait.call];
      const NodeIndex op = node_of_event_[wait.event];
      // Another thread may have launched it while this call had begun, but not the call in it that waits.
      if (graph_.ops[op].call == kNoNode || graph_.ops[op].call <= call) of_call[call].push_back(op);
    }
    for (const auto& [call, ops] : of_call) {
      graph_.calls[call].waits.begin = static_cast<EventIndex>(graph_.call_waits.size());
      graph_.call_waits.insert(graph_.call_waits.end(), ops.begin(), ops.end());
      graph_.calls[call].waits.end = static_cast<EventIndex>(graph_.call_waits.size());
    }
    // The first work of the stream that is launched after the wait.
    std::vector<std::vector<NodeIndex>> of_lane(rank_.gpu_lanes.size());
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op)
      if (graph_.ops[op].call != kNoNode) of_lane[graph_.ops[op].lane].push_back(op);
    for (const StreamWait& wait : dependencies_.stream_waits()) {
      const std::vector<NodeIndex>& ops = of_lane[wait.lane];
      const auto first = std::ranges::lower_bound(ops, api_.start_ns[wait.call], {},
                                                  [&](NodeIndex op) { return begin_of(graph_.ops[op].call); });
      if (first == ops.end()) continue;
      const NodeIndex awaited = node_of_event_[wait.event];
      if (graph_.ops[awaited].lane != wait.lane && awaited < *first) waits_[*first].push_back(awaited);
    }
  }

  // A thread that pauses while another works goes on after it: forward and backward, or a loader. It is seen by the
  // calls of the other one within the pause: several of them, of which the last had ended. Threads that launch nothing
  // (one that asks from time to time whether a collective is done) hand nothing over.
  void hand_over() {
    constexpr std::int64_t kPauseNs = 20 * kMicrosecond;
    constexpr std::size_t kCalls = 3;
    std::vector<bool> launches(rank_.api_lanes.size(), false);
    for (const CallNode& call : graph_.calls)
      if (call.is_launch) launches[call.thread] = true;
    if (std::ranges::count(launches, true) < 2) return;
    std::vector<NodeIndex> calls;  // of threads that launch
    std::vector<std::size_t> place(graph_.calls.size(), 0);
    for (NodeIndex index = 0; index < graph_.calls.size(); ++index) {
      if (!launches[graph_.calls[index].thread]) continue;
      place[index] = calls.size();
      calls.push_back(index);
    }
    for (std::size_t i = 1; i < calls.size(); ++i) {
      CallNode& call = graph_.calls[calls[i]];
      const NodeIndex earlier = calls[i - 1];
      if (graph_.calls[earlier].thread == call.thread || end_of(earlier) > begin_of(calls[i])) continue;
      if (call.before != kNoNode && call.segment_ns < kPauseNs) continue;
      const std::size_t since = call.before == kNoNode ? 0 : place[call.before] + 1;
      std::size_t count = 0;
      for (std::size_t other = i; count < kCalls && other-- > since;)
        if (graph_.calls[calls[other]].thread == graph_.calls[earlier].thread) ++count;
      if (count < kCalls) continue;
      call.handed_by = earlier;
      call.handed_ns = begin_of(calls[i]) - end_of(earlier);
    }
  }

  bool is_idle_at(NodeIndex op, std::int64_t when) const {
    const NodeIndex before = graph_.ops[op].before;
    return (before == kNoNode || end_of_op(before) < when) && !waits_.contains(op);
  }

  // From a call to the start of what it launches, where the stream had nothing else to do: the least, but for those
  // that the clocks' errors made too short. A CUDA graph starts when its launch, which takes long, is nearly done.
  void find_latencies() {
    Usual<StringId> latency(0.05);
    Usual<StringId> before_end;  // of a graph's launch
    std::int64_t least = 0;
    bool any = false;
    const auto is_first = [&](NodeIndex op) { return graph_.calls[graph_.ops[op].call].ops.begin == op; };
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const NodeIndex call = graph_.ops[op].call;
      if (call == kNoNode || !is_first(op)) continue;
      const std::int64_t delay = start_of_op(op) - begin_of(call);
      if (is_idle_at(op, begin_of(call)) && is_graph_node(op)) {
        before_end.add(name_of(call), graph_.calls[call].own_ns - delay);
      } else if (is_idle_at(op, begin_of(call))) {
        latency.add(name_of(call), delay);
      }
      least = any ? std::min(least, delay) : delay;
      any = true;
    }
    latency.finish();
    before_end.finish();
    const std::int64_t otherwise = latency.of_all(std::max<std::int64_t>(0, least));
    for (NodeIndex index = 0; index < graph_.ops.size(); ++index) {
      OpNode& op = graph_.ops[index];
      if (op.call == kNoNode) continue;
      const StringId name = name_of(op.call);
      op.latency_ns = latency.of(name).value_or(otherwise);
      const std::optional<std::int64_t> early_ns = before_end.of(name);
      if (is_graph_node(index) && early_ns)
        op.latency_ns = std::max<std::int64_t>(0, graph_.calls[op.call].own_ns - *early_ns);
    }
  }

  // What a call takes when it waits for nothing, and how long it takes to notice that it need not wait any more.
  void find_blocked_calls() {
    Usual<StringId> own;
    Usual<StringId> wake;
    const auto awaited_end = [&](NodeIndex index) {
      std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
      const Slice& waits = graph_.calls[index].waits;
      for (EventIndex i = waits.begin; i < waits.end; ++i)
        end_ns = std::max(end_ns, end_of_op(graph_.call_waits[i]));
      return end_ns;
    };
    for (NodeIndex index = 0; index < graph_.calls.size(); ++index) {
      const CallNode& call = graph_.calls[index];
      const std::int64_t awaited_ns = awaited_end(index);
      if (awaited_ns <= begin_of(index)) {
        own.add(name_of(index), call.own_ns);
      } else if (awaited_ns <= end_of(index)) {
        wake.add(name_of(index), end_of(index) - awaited_ns);
      }
    }
    own.finish();
    wake.finish();
    find_queue(own);
    constexpr std::int64_t kOwnNs = 5 * kMicrosecond;  // of a call that was never seen without waiting
    for (NodeIndex index = 0; index < graph_.calls.size(); ++index) {
      CallNode& call = graph_.calls[index];
      if (call.waits.size() == 0) continue;
      call.wake_ns = wake.of(name_of(index)).value_or(wake.of_all(0));
      if (awaited_end(index) > begin_of(index))
        call.own_ns = std::min(call.own_ns, own.of(name_of(index)).value_or(kOwnNs));
    }
  }

  // Launches that took far longer than others while many were outstanding waited for room.
  void find_queue(const Usual<StringId>& own) {
    constexpr std::int64_t kTimes = 4;
    constexpr std::int64_t kLeastNs = 30 * kMicrosecond;
    constexpr std::size_t kOutstanding = 900;
    std::vector<std::int64_t> ends;  // of launched work, by launch
    std::vector<NodeIndex> launches;
    for (NodeIndex index = 0; index < graph_.calls.size(); ++index) {
      const CallNode& call = graph_.calls[index];
      if (!call.is_launch) continue;
      std::int64_t end_ns = 0;
      for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
        end_ns = std::max(end_ns, end_of_op(op));
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
      const std::optional<std::int64_t> usual = own.of(name_of(index));
      if (!usual || graph_.calls[index].own_ns < std::max(kLeastNs, kTimes * *usual)) continue;
      if (outstanding(i, begin_of(index)) < kOutstanding) continue;
      blocked.emplace_back(index, *usual);
      lengths.push_back(static_cast<std::int64_t>(outstanding(i, end_of(index))) + 1);  // and itself
    }
    if (blocked.empty()) return;
    std::ranges::sort(lengths);
    graph_.queue_length = std::max<std::int64_t>(1, quantile(lengths, 0.5));
    for (const auto& [index, usual] : blocked)
      graph_.calls[index].own_ns = usual;
  }

  // Where waits of streams were not recorded, or within a CUDA graph: work that starts when that of another stream
  // ends, although its stream and its launch would have let it start before, waited for it.
  void infer_stream_waits() {
    constexpr std::int64_t kUnexplainedNs = 5 * kMicrosecond;
    constexpr std::int64_t kAfterNs = 6 * kMicrosecond;
    std::vector<NodeIndex> by_end(graph_.ops.size());
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op)
      by_end[op] = op;
    std::ranges::sort(by_end, {}, [&](NodeIndex op) { return end_of_op(op); });
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      if (dependencies_.are_recorded() && !is_graph_node(op)) continue;
      if (waits_.contains(op)) continue;
      std::int64_t allowed_ns = node.call == kNoNode ? start_of_op(op) : begin_of(node.call) + node.latency_ns;
      if (node.before != kNoNode) allowed_ns = std::max(allowed_ns, end_of_op(node.before));
      if (start_of_op(op) - allowed_ns < kUnexplainedNs) continue;
      auto latest = std::ranges::upper_bound(by_end, start_of_op(op), {}, [&](NodeIndex o) { return end_of_op(o); });
      for (; latest != by_end.begin(); --latest) {
        const NodeIndex other = *std::prev(latest);
        if (start_of_op(op) - end_of_op(other) > kAfterNs) break;
        if (graph_.ops[other].lane == node.lane || other >= op) continue;
        if (rank_.gpu_lanes[graph_.ops[other].lane].device != rank_.gpu_lanes[node.lane].device) continue;
        waits_[op].push_back(other);
        ++graph_.inferred_waits;
        break;
      }
    }
  }

  // From the end of one to the start of the next on a stream, and from that of another stream, where these had been
  // launched long before.
  void find_gaps() {
    constexpr std::int64_t kSure = 2 * kMicrosecond;
    constexpr std::int64_t kLongest = 20 * kMicrosecond;  // something else delayed it
    constexpr std::nullopt_t kMean = std::nullopt;
    Usual<Pair> by_pair(kMean);
    Usual<std::pair<GpuKind, GpuKind>> by_kinds(kMean);
    std::vector<std::int64_t> delays;
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      const std::int64_t start_ns = start_of_op(op);
      const std::int64_t launched_ns = node.call == kNoNode ? start_ns : begin_of(node.call) + node.latency_ns;
      const std::int64_t before_ns =
          node.before == kNoNode ? std::numeric_limits<std::int64_t>::min() : end_of_op(node.before);
      if (const auto waits = waits_.find(op); waits != waits_.end()) {
        std::int64_t awaited_ns = std::numeric_limits<std::int64_t>::min();
        for (const NodeIndex other : waits->second)
          awaited_ns = std::max(awaited_ns, end_of_op(other));
        const bool decided = awaited_ns > before_ns && awaited_ns > launched_ns + kSure;
        if (decided && start_ns - awaited_ns < kLongest) delays.push_back(start_ns - awaited_ns);
        if (awaited_ns > before_ns) continue;
      }
      if (node.before == kNoNode || before_ns < launched_ns + kSure || start_ns - before_ns > kLongest) continue;
      by_pair.add(pair_of(node), start_ns - before_ns);
      by_kinds.add(kinds_of(node), start_ns - before_ns);
    }
    by_pair.finish();
    by_kinds.finish();
    std::ranges::sort(delays);
    constexpr std::int64_t kUsual = kMicrosecond;
    graph_.event_delay_ns = delays.empty() ? kUsual : quantile(delays, 0.5);
    for (OpNode& node : graph_.ops) {
      if (node.before == kNoNode) continue;
      const std::optional<std::int64_t> seen = by_pair.of(pair_of(node));
      node.gap_ns = seen ? *seen : by_kinds.of(kinds_of(node)).value_or(kUsual);
    }
    for (const auto& [op, others] : waits_) {
      graph_.ops[op].waits.begin = static_cast<EventIndex>(graph_.op_waits.size());
      graph_.op_waits.insert(graph_.op_waits.end(), others.begin(), others.end());
      graph_.ops[op].waits.end = static_cast<EventIndex>(graph_.op_waits.size());
    }
  }
  // Names and launch configurations of the two.
  using Pair = std::tuple<StringId, StringId, std::uint32_t, std::uint32_t>;
  Pair pair_of(const OpNode& node) const {
    const EventIndex before = graph_.ops[node.before].event;
    return {gpu_.name[before], gpu_.name[node.event], gpu_.config[before], gpu_.config[node.event]};
  }
  std::pair<GpuKind, GpuKind> kinds_of(const OpNode& node) const {
    return {gpu_.kind[graph_.ops[node.before].event], gpu_.kind[node.event]};
  }

  void find_order() {
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      if (node.call == kNoNode) graph_.order.push_back({launched_ns_[node.event], kNoNode, op});
    }
    for (NodeIndex call = 0; call < graph_.calls.size(); ++call)
      graph_.order.push_back({begin_of(call), call, kNoNode});
    std::ranges::stable_sort(graph_.order, {}, &OrderedNode::time_ns);
  }

  const Trace& trace_;
  const Rank& rank_;
  const ApiCalls& api_;
  const GpuEvents& gpu_;
  const Dependencies& dependencies_;
  RankGraph graph_;
  std::vector<NodeIndex> node_of_call_;                // by ApiCalls' index
  std::vector<NodeIndex> node_of_event_;               // by GpuEvents' index
  std::vector<std::int64_t> launched_ns_;              // as well
  std::map<NodeIndex, std::vector<NodeIndex>> waits_;  // of ops for others
};

// Why a rank cannot be replayed, and what would help.
void require_replayable(const Rank& rank) {
  const GpuEvents& gpu = rank.gpu;
  std::size_t launched = 0;
  std::size_t graphs = 0;
  for (EventIndex e = 0; e < gpu.size(); ++e) {
    if (gpu.launch[e] != kNoEvent) ++launched;
    if (gpu.kind[e] == GpuKind::kGraph) ++graphs;
  }
  if (graphs > 0) {
    throw Error(ErrorKind::kUsage, "the trace cannot be replayed",
                fmt::format("{} CUDA graphs were recorded as one event each, their kernels are not known", graphs),
                "record with --cuda-graph-trace node");
  }
  constexpr double kEnough = 0.95;
  if (static_cast<double>(launched) < kEnough * static_cast<double>(gpu.size())) {
    throw Error(ErrorKind::kUsage, "the trace cannot be replayed",
                fmt::format("of {} GPU events {} have no launch that was recorded", gpu.size(), gpu.size() - launched),
                "record the runtime's calls, too (swinscope record, nsys -t cuda, or the profiler's CPU activity)");
  }
}

// Their members take the time of the transfer from when the last one has come.
void add_collectives(DependencyGraph& graph, const RunFacts& run) {
  std::vector<std::uint32_t> of_rank(run.trace.ranks.size(), kNoNode);
  std::vector<std::unordered_map<EventIndex, NodeIndex>> of_event(graph.ranks.size());
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
    of_rank[graph.ranks[r].rank_index] = r;
    for (NodeIndex op = 0; op < graph.ranks[r].ops.size(); ++op)
      of_event[r].emplace(graph.ranks[r].ops[op].event, op);
  }
  for (const Collective& collective : run.collectives()) {
    CollectiveNode node;
    for (const CollectiveMember& member : collective.members) {
      const std::uint32_t rank = of_rank[member.rank_index];
      if (rank != kNoNode && run.waits().wait_ns(member.rank_index, member.event))
        node.members.push_back({rank, of_event[rank].at(member.event)});
    }
    if (node.members.size() < 2) continue;
    for (const CollectiveNode::Member& member : node.members) {
      RankGraph& rank = graph.ranks[member.rank];
      OpNode& op = rank.ops[member.op];
      op.duration_ns -= *run.waits().wait_ns(rank.rank_index, op.event);
      op.collective = static_cast<std::uint32_t>(graph.collectives.size());
    }
    graph.collectives.push_back(std::move(node));
  }
}

}  // namespace

DependencyGraph make_graph(const RunFacts& run) {
  if (!run.scope.is_of_steps()) {
    throw Error(ErrorKind::kUsage, "there is no step to replay", "no steps were found",
                "name them with --step REGEX, or annotate them with NVTX");
  }
  DependencyGraph graph;
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    if (run.trace.ranks[r].gpu.size() == 0 || !run.scope.has_rank(r)) continue;
    require_replayable(run.trace.ranks[r]);
    graph.ranks.push_back(GraphMaker(run, r).make());
  }
  if (graph.ranks.empty())
    throw Error(ErrorKind::kUsage, "there is nothing to replay", "the trace has no GPU events", "record CUDA, too");
  add_collectives(graph, run);
  return graph;
}

}  // namespace swinscope
