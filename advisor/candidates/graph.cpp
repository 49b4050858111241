#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "advisor/candidates/candidates.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {
namespace {

// What allocates while it is captured, or otherwise cannot be: it ends a region.
bool can_be_captured(const CallNode& call, const RankGraph& nodes, const Trace& trace) {
  const Rank& rank = trace.ranks[nodes.rank_index];
  if (call.waits.size() > 0 || is_graph_launch(trace.text(rank.api.name[call.event]))) return false;
  for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
    if (rank.gpu.graph_node[nodes.ops[op].event] != 0) return false;  // it is one
  return true;
}

}  // namespace

std::vector<Change> find_graphs(const Work& work) {
  constexpr std::int64_t kFew = 8;  // nodes that are worth a graph
  Change change;
  change.kind = "graph";
  change.id = "graph-1";
  std::int64_t launches = 0;
  for (std::uint32_t r = 0; r < work.graph.ranks.size(); ++r) {
    const RankGraph& rank = work.graph.ranks[r];
    std::map<std::uint32_t, Captured> open;  // by thread
    const auto close = [&](std::uint32_t thread) {
      Captured& captured = open[thread];
      if (captured.nodes >= kFew) {
        launches += static_cast<std::int64_t>(captured.calls.size());
        for (const NodeIndex index : captured.calls)
          for (NodeIndex op = rank.calls[index].ops.begin; op < rank.calls[index].ops.end; ++op)
            change.evidence.push_back({r, op});
        change.captured.push_back(captured);
      }
      captured = {r, {}, 0};
    };
    for (NodeIndex index = 0; index < rank.calls.size(); ++index) {
      const CallNode& call = rank.calls[index];
      const bool is_in_scope =
          call.ops.size() > 0 && work.run.scope.has_gpu_event(rank.rank_index, rank.ops[call.ops.begin].event);
      const bool begins_region = call.handed_by != kNoNode || !is_in_scope || call.segment_ns > kLongestDispatchNs;
      if (begins_region || !can_be_captured(call, rank, work.run.trace)) close(call.thread);
      if (!is_in_scope || !can_be_captured(call, rank, work.run.trace)) continue;
      Captured& captured = open[call.thread];
      captured.rank = r;
      captured.calls.push_back(index);
      captured.nodes += call.ops.size();
    }
    for (const auto& [thread, captured] : std::map(open))
      close(thread);
  }
  if (change.captured.empty()) return {};
  const double steps = static_cast<double>(std::max<std::int64_t>(1, work.steps()));
  change.title =
      fmt::format("Launch {:.4g} launches a step as CUDA graphs ({:.4g} a step)", static_cast<double>(launches) / steps,
                  static_cast<double>(change.captured.size()) / steps);
  change.why = "the host launches each kernel by itself; a graph launches them with one call";
  change.assumptions = {"shapes and addresses stay the same from step to step, and nothing allocates in between",
                        "2 % (0 to 10 %) of the host's time between launches stays"};
  return {change};
}

}  // namespace swinscope
