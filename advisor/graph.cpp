#include "advisor/graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "advisor/delays.h"
#include "advisor/graph_launches.h"
#include "advisor/inferred_waits.h"
#include "advisor/rank_nodes.h"
#include "advisor/spin_waits.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;

// Makes the graph of one rank.
class GraphMaker {
 public:
  GraphMaker(const RunFacts& run, std::size_t rank_index)
      : nodes_(run.trace, run.trace.ranks[rank_index]),
        graph_(nodes_.graph),
        api_(nodes_.api),
        gpu_(nodes_.gpu),
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
    find_latencies(nodes_);
    find_own_times(nodes_);
    find_spin_waits(nodes_);
    infer_waits(nodes_, dependencies_.are_recorded());
    order_graph_launches(nodes_);
    find_gaps(nodes_);
    find_order();
    graph_.unresolved_waits = dependencies_.unresolved();
    return std::move(graph_);
  }

 private:
  // Calls by begin; one within another of its thread is part of it.
  void add_calls() {
    std::vector<EventIndex> events(api_.size());
    for (EventIndex e = 0; e < api_.size(); ++e)
      events[e] = e;
    std::ranges::stable_sort(events, [&](EventIndex a, EventIndex b) {
      return std::pair(api_.start_ns[a], -api_.end_ns[a]) < std::pair(api_.start_ns[b], -api_.end_ns[b]);
    });
    std::vector<NodeIndex> last(nodes_.rank.api_lanes.size(), kNoNode);  // of each thread
    node_of_call_.resize(api_.size(), kNoNode);
    for (const EventIndex e : events) {
      const std::uint32_t thread = api_.lane[e];
      if (last[thread] != kNoNode && api_.start_ns[e] < nodes_.end_of(last[thread])) {
        node_of_call_[e] = last[thread];
        continue;
      }
      CallNode call;
      call.event = e;
      call.thread = thread;
      call.before = last[thread];
      call.own_ns = api_.end_ns[e] - api_.start_ns[e];
      call.segment_ns = last[thread] == kNoNode ? 0 : api_.start_ns[e] - nodes_.end_of(last[thread]);
      last[thread] = node_of_call_[e] = static_cast<NodeIndex>(graph_.calls.size());
      graph_.calls.push_back(call);
    }
  }

  // When each event was launched. Without a launch: when it starts, but before what follows on its stream was launched.
  void find_launches() {
    launched_ns_.resize(gpu_.size());
    for (const GpuLane& lane : nodes_.rank.gpu_lanes) {
      std::int64_t next_ns = std::numeric_limits<std::int64_t>::max();
      for (EventIndex e = lane.events.end; e-- > lane.events.begin;) {
        const bool is_launched = gpu_.launch[e] != kNoEvent;
        launched_ns_[e] =
            is_launched ? nodes_.begin_of(node_of_call_[gpu_.launch[e]]) : std::min(gpu_.start_ns[e], next_ns);
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
    std::vector<NodeIndex> last(nodes_.rank.gpu_lanes.size(), kNoNode);
    for (const EventIndex e : events) {
      OpNode op;
      op.event = e;
      op.lane = gpu_.lane[e];
      op.call = gpu_.launch[e] == kNoEvent ? kNoNode : node_of_call_[gpu_.launch[e]];
      op.before = last[op.lane];
      const std::int64_t free_ns = op.before == kNoNode ? gpu_.start_ns[e] : nodes_.end_of_op(op.before);
      op.duration_ns = std::max<std::int64_t>(0, gpu_.end_ns[e] - std::max(gpu_.start_ns[e], free_ns));
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
    std::vector<std::vector<NodeIndex>> of_lane(nodes_.rank.gpu_lanes.size());
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op)
      if (graph_.ops[op].call != kNoNode) of_lane[graph_.ops[op].lane].push_back(op);
    for (const StreamWait& wait : dependencies_.stream_waits()) {
      const std::vector<NodeIndex>& ops = of_lane[wait.lane];
      const auto first = std::ranges::lower_bound(ops, api_.start_ns[wait.call], {},
                                                  [&](NodeIndex op) { return nodes_.begin_of(graph_.ops[op].call); });
      if (first == ops.end()) continue;
      const NodeIndex awaited = node_of_event_[wait.event];
      if (graph_.ops[awaited].lane != wait.lane && awaited < *first) nodes_.waits[*first].push_back(awaited);
    }
  }

  // A thread that pauses while another works goes on after it: forward and backward, or a loader. It is seen by the
  // calls of the other one within the pause: several of them, of which the last had ended. Threads that launch nothing
  // (one that asks from time to time whether a collective is done) hand nothing over.
  void hand_over() {
    constexpr std::int64_t kPauseNs = 20 * kMicrosecond;
    constexpr std::size_t kCalls = 3;
    std::vector<bool> launches(nodes_.rank.api_lanes.size(), false);
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
      if (graph_.calls[earlier].thread == call.thread || nodes_.end_of(earlier) > nodes_.begin_of(calls[i])) continue;
      if (call.before != kNoNode && call.segment_ns < kPauseNs) continue;
      const std::size_t since = call.before == kNoNode ? 0 : place[call.before] + 1;
      std::size_t count = 0;
      for (std::size_t other = i; count < kCalls && other-- > since;)
        if (graph_.calls[calls[other]].thread == graph_.calls[earlier].thread) ++count;
      if (count < kCalls) continue;
      call.handed_by = earlier;
      call.handed_ns = nodes_.begin_of(calls[i]) - nodes_.end_of(earlier);
    }
  }

  void find_order() {
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      if (node.call == kNoNode) graph_.order.push_back({launched_ns_[node.event], kNoNode, op});
    }
    for (NodeIndex call = 0; call < graph_.calls.size(); ++call)
      graph_.order.push_back({nodes_.begin_of(call), call, kNoNode});
    std::ranges::stable_sort(graph_.order, {}, &OrderedNode::time_ns);
  }

  RankNodes nodes_;
  RankGraph& graph_;  // the nodes'
  const ApiCalls& api_;
  const GpuEvents& gpu_;
  const Dependencies& dependencies_;
  std::vector<NodeIndex> node_of_call_;    // by ApiCalls' index
  std::vector<NodeIndex> node_of_event_;   // by GpuEvents' index
  std::vector<std::int64_t> launched_ns_;  // as well
};

// When the first work starts that was launched while calls were recorded; the least number where none was.
std::int64_t begin_of_launched_ns(const GpuEvents& gpu) {
  std::optional<std::int64_t> begin_ns;
  for (EventIndex e = 0; e < gpu.size(); ++e)
    if (gpu.launch[e] != kNoEvent) begin_ns = std::min(begin_ns.value_or(gpu.start_ns[e]), gpu.start_ns[e]);
  return begin_ns.value_or(std::numeric_limits<std::int64_t>::min());
}

// Why a rank cannot be replayed, and what would help. What the GPU had still to do when the recording began keeps its
// place.
void require_replayable(const Rank& rank) {
  const GpuEvents& gpu = rank.gpu;
  const std::int64_t begin_ns = begin_of_launched_ns(gpu);
  std::size_t counted = 0;
  std::size_t lost = 0;
  std::size_t graphs = 0;
  for (EventIndex e = 0; e < gpu.size(); ++e) {
    if (gpu.kind[e] == GpuKind::kGraph) ++graphs;
    if (gpu.start_ns[e] < begin_ns) continue;
    ++counted;
    if (gpu.launch[e] == kNoEvent) ++lost;
  }
  if (graphs > 0) {
    throw Error(ErrorKind::kUsage, "the trace cannot be replayed",
                fmt::format("{} CUDA graphs were recorded as one event each, their kernels are not known", graphs),
                "record with --cuda-graph-trace node");
  }
  constexpr double kFew = 0.05;
  if (static_cast<double>(lost) > kFew * static_cast<double>(counted)) {
    throw Error(ErrorKind::kUsage, "the trace cannot be replayed",
                fmt::format("of {} GPU events {} have no launch that was recorded", counted, lost),
                lost == counted
                    ? "record the runtime's calls, too (swinscope record, nsys -t cuda, or the profiler's CPU activity)"
                    : "calls were lost, or are of threads that were not recorded: record fewer steps, or all threads");
  }
}

// Their members take the time of the transfer from when the last one has come.
void add_collectives(DependencyGraph& graph, const RunFacts& run) {
  if (run.collectives().empty()) return;
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
      const GpuEvents& gpu = run.trace.ranks[rank.rank_index].gpu;
      op.duration_ns = gpu.end_ns[op.event] - gpu.start_ns[op.event] - *run.waits().wait_ns(rank.rank_index, op.event);
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
