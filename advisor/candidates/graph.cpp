#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "advisor/candidates/candidates.h"
#include "analyzer/base/text.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {
namespace {

// What allocates while it is captured, or otherwise cannot be: it ends a region.
bool can_be_captured(const CallNode& call, const RankGraph& nodes, const Trace& trace) {
  const Rank& rank = trace.ranks[nodes.rank_index];
  const std::string_view name = trace.text(rank.api.name[call.event]);
  const bool may_block = name.find("Memcpy") != std::string_view::npos && name.find("Async") == std::string_view::npos;
  if (call.waits.size() > 0 || is_graph_launch(name) || may_block || call.own_ns > kLongestDispatchNs) return false;
  for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
    if (rank.gpu.graph_node[nodes.ops[op].event] != 0) return false;  // it is one
  return true;
}

// Calls that ask or note something, without which a graph that was captured once is launched, and sets of no bytes
// (cuBLAS makes one before many products). What allocates, waits or may do so is none of these.
bool is_left_out(const CallNode& call, std::string_view name) {
  constexpr std::array kHarmless = {
      "Get",         "IsCapturing", "PeekAtLastError", "Occupancy",      "FuncSetAttribute",
      "EventRecord", "EventQuery",  "StreamWaitEvent", "ThreadExchange", "MemsetAsync"};
  return call.ops.size() == 0 && call.waits.size() == 0 && std::ranges::any_of(kHarmless, [&](std::string_view word) {
           return name.find(word) != std::string_view::npos;
         });
}

// Of the host: the step that begins last before it; -1: none.
std::ptrdiff_t step_at(std::span<const Interval> steps, std::int64_t when_ns) {
  return std::ranges::upper_bound(steps, when_ns, {}, &Interval::begin_ns) - steps.begin() - 1;
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
    const Rank& recorded = work.run.trace.ranks[rank.rank_index];
    const std::span<const Interval> steps = work.run.scope.steps()[rank.rank_index].measured();
    std::map<std::uint32_t, Captured> open;  // by thread
    std::map<std::uint32_t, std::ptrdiff_t> step_of;
    const auto close = [&](std::uint32_t thread) {
      Captured& captured = open[thread];
      if (captured.nodes >= kFew) {
        std::erase_if(captured.left_out, [&](NodeIndex index) { return index > captured.calls.back(); });
        launches += static_cast<std::int64_t>(captured.calls.size());
        for (const NodeIndex index : captured.calls)
          for (NodeIndex op = rank.calls[index].ops.begin; op < rank.calls[index].ops.end; ++op)
            change.evidence.push_back({r, op});
        change.captured.push_back(captured);
      }
      captured = {.rank = r};
    };
    for (NodeIndex index = 0; index < rank.calls.size(); ++index) {
      const CallNode& call = rank.calls[index];
      const bool is_in_scope =
          call.ops.size() > 0 && work.run.scope.has_gpu_event(rank.rank_index, rank.ops[call.ops.begin].event);
      const std::ptrdiff_t step = step_at(steps, recorded.api.start_ns[call.event]);
      const bool is_next_step = std::exchange(step_of[call.thread], step) != step;
      const bool is_paused = call.handed_by != kNoNode || is_next_step || call.segment_ns > kLongestDispatchNs;
      if (!is_paused && is_left_out(call, work.run.trace.text(recorded.api.name[call.event]))) {
        if (!open[call.thread].calls.empty()) open[call.thread].left_out.push_back(index);
        continue;
      }
      const bool begins_region = is_paused || !is_in_scope;
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
  change.title = fmt::format("Launch {} launches a step as CUDA graphs ({} a step)",
                             format_number(static_cast<double>(launches) / work.rank_steps()),
                             format_number(static_cast<double>(change.captured.size()) / work.rank_steps()));
  change.why = "the host launches each kernel by itself; a graph launches them with one call";
  change.assumptions = {"shapes and addresses stay the same from step to step, and nothing allocates in between",
                        "2 % (0 to 10 %) of the host's time between launches stays"};
  return {change};
}

}  // namespace swinscope
