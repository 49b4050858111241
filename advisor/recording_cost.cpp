#include "advisor/recording_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "advisor/change.h"
#include "advisor/profiler_cost.h"
#include "advisor/replay.h"
#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

constexpr std::int64_t kOfRecordNs = 3'600;  // for each launch
constexpr std::int64_t kMostOfLaunchNs = 1 << 20;
constexpr std::int64_t kMostOfKernelNs = 8'192;

bool launches_a_graph(const CallNode& call) { return call.ops.size() > 1; }

bool is_ours(const DependencyGraph& graph, const Trace& trace) {
  return std::ranges::all_of(
      graph.ranks, [&](const RankGraph& rank) { return trace.ranks[rank.rank_index].run.source == "swinscope"; });
}

// A recorder has its work with a graph's nodes before they are handed to the GPU.
void start_graph_earlier(std::int64_t ns, std::int64_t least_ns, const CallNode& call, RankGraph& rank) {
  if (!launches_a_graph(call)) return;
  for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op) {
    std::int64_t& latency_ns = rank.ops[op].latency_ns;
    latency_ns = std::max(std::min(latency_ns, least_ns), latency_ns - ns);
  }
}

std::int64_t median_launch_ns(const DependencyGraph& graph) {
  std::vector<std::int64_t> own_ns;
  for (const RankGraph& rank : graph.ranks)
    for (const CallNode& call : rank.calls)
      if (call.is_launch) own_ns.push_back(call.own_ns);
  return quantile_of(own_ns, 0.5);
}

// The least cost from 0 to `most` with which the step is no longer than `wanted`; `most` where there is none.
template <typename StepWith>
std::int64_t least_cost(std::int64_t most, std::int64_t wanted_ns, const StepWith& step_with, std::int64_t exact = 10) {
  std::int64_t too_little = -1;
  std::int64_t enough = most;
  while (enough - too_little > exact) {
    const std::int64_t middle = std::midpoint(too_little, enough);
    (step_with(middle) <= wanted_ns ? enough : too_little) = middle;
  }
  return enough;
}

class CostFinder {
 public:
  CostFinder(const DependencyGraph& graph, const RunFacts& run, const Rates* rates)
      : graph_(graph), run_(run), rates_(rates) {}

  RecordingCost by(const TimedStep& timed) const {
    const std::int64_t timed_ns = timed.step_ns;
    RecordingCost cost;
    cost.timed_step_ns = timed_ns;
    cost.timed_spread = timed.spread;
    if (step_with(0, 0) <= timed_ns) return cost;
    const std::int64_t least_ns = step_with(kMostOfLaunchNs, 0);
    if (least_ns <= timed_ns)
      cost.per_launch_ns = least_cost(kMostOfLaunchNs, timed_ns, [&](std::int64_t ns) { return step_with(ns, 0); });
    constexpr double kLeastSpread = 0.01;
    constexpr double kMostSpread = 0.05;  // steps that differ more are the host's doing
    const double of_the_gpu =
        (1 - std::clamp(timed.spread.value_or(0), kLeastSpread, kMostSpread)) * static_cast<double>(timed_ns);
    constexpr double kOfTheHost = 0.9;  // of the step is the GPU's at most, where the host decides it
    const bool is_of_the_host = static_cast<double>(step_with_host(0, 0)) <= kOfTheHost * static_cast<double>(timed_ns);
    const bool is_explained = least_ns <= timed_ns && (usual_cost() == 0 || cost.per_launch_ns <= usual_cost());
    if (is_of_the_host && !is_explained) return of_slower_host(cost);
    if (static_cast<double>(least_ns) <= of_the_gpu) return cost;
    if (least_ns <= timed_ns) {
      cost.per_launch_ns = std::max(cost.per_launch_ns, usual_cost());
      return cost;
    }
    cost.per_launch_ns = of_launches_where_gaps_cost(timed_ns);
    const auto without_gaps = [&](std::int64_t ns) { return step_with(cost.per_launch_ns, ns); };
    cost.per_kernel_ns = least_cost(kMostOfKernelNs, std::max(timed_ns, without_gaps(kMostOfKernelNs)), without_gaps);
    const auto with_overlap = [&](std::int64_t ns) { return step_with(cost.per_launch_ns, cost.per_kernel_ns, ns); };
    if (with_overlap(0) > timed_ns && with_overlap(kMostOfKernelNs) < with_overlap(0))
      cost.per_overlap_ns =
          least_cost(kMostOfKernelNs, std::max(timed_ns, with_overlap(kMostOfKernelNs)), with_overlap);
    return cost;
  }

  // Gaps between kernels are longer in the traced run, too, and launches do not hold up what is left without them.
  std::int64_t of_launches_where_gaps_cost(std::int64_t timed_ns) const {
    constexpr double kHeldUp = 1.01;
    const auto without_gaps = [&](std::int64_t ns) { return step_with(ns, kMostOfKernelNs); };
    const std::int64_t wanted_ns = std::max(timed_ns, without_gaps(kMostOfLaunchNs));
    if (static_cast<double>(without_gaps(usual_cost())) <= kHeldUp * static_cast<double>(wanted_ns))
      return usual_cost();
    return least_cost(kMostOfLaunchNs, wanted_ns, without_gaps);
  }

  // The host decides the step, and launches do not explain how much longer it is than the timing runs'.
  RecordingCost of_slower_host(RecordingCost cost) const {
    constexpr std::int64_t kParts = 1'000;
    cost.per_launch_ns = usual_cost();
    const auto share_of = [&](std::int64_t taken) {
      return static_cast<double>(kParts - taken) / static_cast<double>(kParts);
    };
    const std::int64_t taken = least_cost(
        kParts, *cost.timed_step_ns,
        [&](std::int64_t parts) { return step_with_host(share_of(parts), cost.per_launch_ns); }, 1);
    cost.host_share = share_of(taken);
    return cost;
  }

  // Of a launch: what it takes longer than those of this GPU do when nothing records them.
  std::int64_t usual_cost() const {
    const std::int64_t known_ns = is_ours(graph_, run_.trace) ? kOfRecordNs : 0;
    const std::optional<double> unrecorded_ns = rates_ == nullptr ? std::nullopt : rates_->launch_ns();
    return unrecorded_ns ? std::max(known_ns, median_launch_ns(graph_) - std::int64_t{std::llround(*unrecorded_ns)})
                         : known_ns;
  }

 private:
  std::int64_t step_with(std::int64_t of_launch_ns, std::int64_t of_kernel_ns, std::int64_t of_overlap_ns = 0) const {
    DependencyGraph edited = graph_;
    remove_from_launches(static_cast<double>(of_launch_ns), run_, edited);
    remove_from_gaps(of_kernel_ns, edited);
    overlap_in_graphs(of_overlap_ns, edited);
    return replayed_step_ns(edited, replay(edited), run_);
  }

  std::int64_t step_with_host(double share, std::int64_t of_launch_ns) const {
    DependencyGraph edited = graph_;
    remove_from_launches(static_cast<double>(of_launch_ns), run_, edited);
    remove_from_host(share, run_, edited);
    return replayed_step_ns(edited, replay(edited), run_);
  }

  const DependencyGraph& graph_;
  const RunFacts& run_;
  const Rates* rates_;
};

}  // namespace

RecordingCost recording_cost_by(const TimedStep& timed, const DependencyGraph& graph, const RunFacts& run,
                                const Rates* rates) {
  return CostFinder(graph, run, rates).by(timed);
}

RecordingCost find_recording_cost(const DependencyGraph& graph, const RunFacts& run, const Rates* rates) {
  const Selection& selected = run.scope.selection();
  const bool is_whole_run = !selected.rank && !selected.device && !selected.stream && !selected.steps;
  RecordingCost cost;
  if (const auto timed = is_whole_run ? timed_step_beside(run.trace.path) : std::nullopt)
    return recording_cost_by(*timed, graph, run, rates);
  if (is_ours(graph, run.trace)) {
    cost.per_launch_ns = kOfRecordNs;
    return cost;
  }
  for (const RankGraph& rank : graph.ranks)
    cost.per_operator_ns =
        std::max(cost.per_operator_ns, operator_cost_ns(run.trace, run.trace.ranks[rank.rank_index]));
  if (cost.per_operator_ns > 0) cost.per_launch_ns = CostFinder(graph, run, rates).usual_cost();
  return cost;
}

void remove(const RecordingCost& cost, const RunFacts& run, DependencyGraph& graph) {
  for (RankGraph& rank : graph.ranks)
    remove_from_operators(cost.per_operator_ns, run.trace, rank);
  if (cost.per_launch_ns > 0) remove_from_launches(static_cast<double>(cost.per_launch_ns), run, graph);
  if (cost.host_share < 1) remove_from_host(cost.host_share, run, graph);
  if (cost.per_kernel_ns > 0) remove_from_gaps(cost.per_kernel_ns, graph);
  if (cost.per_overlap_ns > 0) overlap_in_graphs(cost.per_overlap_ns, graph);
}

void remove_from_launches(double ns, const RunFacts& run, DependencyGraph& graph) {
  constexpr std::int64_t kLeastNs = 1'500;  // of a call that launches: what drivers need at best
  for (RankGraph& rank : graph.ranks) {
    const ApiCalls& api = run.trace.ranks[rank.rank_index].api;
    const std::int64_t begin_ns = run.scope.host_window(rank.rank_index).begin_ns;
    const std::vector<NodeIndex> next = next_calls(rank);
    for (NodeIndex index = 0; index < rank.calls.size(); ++index) {
      CallNode& call = rank.calls[index];
      if (!call.is_launch || api.start_ns[call.event] < begin_ns) continue;
      std::int64_t rest_ns = std::llround(ns * static_cast<double>(std::max<std::size_t>(1, call.ops.size())));
      const std::int64_t taken_ns = std::clamp<std::int64_t>(call.own_ns - kLeastNs, 0, rest_ns);
      call.own_ns -= taken_ns;
      rest_ns -= taken_ns;
      start_graph_earlier(taken_ns, kLeastNs, call, rank);
      if (next[index] == kNoNode || rank.calls[next[index]].handed_by != kNoNode) continue;
      CallNode& after = rank.calls[next[index]];
      after.segment_ns = std::max<std::int64_t>(0, after.segment_ns - rest_ns);
    }
  }
}

void remove_from_host(double share, const RunFacts& run, DependencyGraph& graph) {
  const auto left = [&](std::int64_t& ns) { ns = std::llround(share * static_cast<double>(ns)); };
  for (RankGraph& rank : graph.ranks) {
    const ApiCalls& api = run.trace.ranks[rank.rank_index].api;
    const std::int64_t begin_ns = run.scope.host_window(rank.rank_index).begin_ns;
    for (CallNode& call : rank.calls) {
      if (api.start_ns[call.event] < begin_ns) continue;
      left(call.segment_ns);
      left(call.handed_ns);
      left(call.own_ns);
    }
  }
}

void remove_from_gaps(std::int64_t ns, DependencyGraph& graph) {
  for (RankGraph& rank : graph.ranks)
    for (OpNode& op : rank.ops)
      op.gap_ns = std::max(std::min<std::int64_t>(op.gap_ns, 0), op.gap_ns - ns);
}

void overlap_in_graphs(std::int64_t ns, DependencyGraph& graph) {
  for (RankGraph& rank : graph.ranks) {
    // The last one first: those before are as long as they were.
    std::for_each(rank.ops.rbegin(), rank.ops.rend(), [&](OpNode& op) {
      if (op.call == kNoNode || op.before == kNoNode || !launches_a_graph(rank.calls[op.call])) return;
      const OpNode& before = rank.ops[op.before];
      if (before.call == op.call) start_earlier(op, std::min(ns, before.duration_ns / 2));
    });
  }
}

}  // namespace swinscope
