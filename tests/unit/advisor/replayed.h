// A trace made by hand, its dependency graph and its replay, in the units of the trace.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advisor/graph.h"
#include "advisor/replay.h"
#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {

using Times = std::pair<std::int64_t, std::int64_t>;  // start and end

class Replayed {
 public:
  explicit Replayed(Trace of, std::int64_t unit_ns = 1'000)
      : trace(std::move(of)), facts(trace, {}), graph(make_graph(facts)), unit_ns_(unit_ns) {
    again();
  }
  void again() { times = replay(graph); }

  NodeIndex op(std::string_view name, std::size_t rank = 0) const {
    const Rank& recorded = trace.ranks[graph.ranks[rank].rank_index];
    const std::vector<OpNode>& ops = graph.ranks[rank].ops;
    const auto found = std::ranges::find(ops, event_named(trace, recorded, name), &OpNode::event);
    if (found == ops.end()) throw std::runtime_error(fmt::format("no GPU event {}", name));
    return static_cast<NodeIndex>(found - ops.begin());
  }
  // The call that begins then.
  NodeIndex call(std::int64_t begin, std::size_t rank = 0) const {
    const ApiCalls& api = trace.ranks[graph.ranks[rank].rank_index].api;
    const std::vector<CallNode>& calls = graph.ranks[rank].calls;
    const auto found =
        std::ranges::find(calls, begin * unit_ns_, [&](const CallNode& c) { return api.start_ns[c.event]; });
    if (found == calls.end()) throw std::runtime_error(fmt::format("no call at {}", begin));
    return static_cast<NodeIndex>(found - calls.begin());
  }
  OpNode& op_node(std::string_view name, std::size_t rank = 0) { return graph.ranks[rank].ops[op(name, rank)]; }
  CallNode& call_node(std::int64_t begin, std::size_t rank = 0) { return graph.ranks[rank].calls[call(begin, rank)]; }
  void last(std::string_view name, std::int64_t units, std::size_t rank = 0) {
    op_node(name, rank).duration_ns = units * unit_ns_;
  }

  const NodeTimes& of(std::string_view name, std::size_t rank = 0) const {
    return times.ranks[rank].ops[op(name, rank)];
  }
  const NodeTimes& of_call(std::int64_t begin, std::size_t rank = 0) const {
    return times.ranks[rank].calls[call(begin, rank)];
  }
  Times at(std::string_view name, std::size_t rank = 0) const { return units(of(name, rank)); }
  Times call_at(std::int64_t begin, std::size_t rank = 0) const { return units(of_call(begin, rank)); }
  std::int64_t step() const { return replayed_step_ns(graph, times, facts) / unit_ns_; }
  std::int64_t traced_step() const { return facts.scope.step_ns() / unit_ns_; }

  // What is not at its time in the trace, a line each.
  std::vector<std::string> differences() const {
    std::vector<std::string> lines;
    const auto compare = [&](std::string_view what, const NodeTimes& found, std::int64_t start_ns,
                             std::int64_t end_ns) {
      if (std::pair(found.start_ns, found.end_ns) != std::pair(start_ns, end_ns)) {
        lines.push_back(
            fmt::format("{}: {}..{} instead of {}..{}", what, found.start_ns, found.end_ns, start_ns, end_ns));
      }
    };
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
      const Rank& rank = trace.ranks[graph.ranks[r].rank_index];
      for (NodeIndex i = 0; i < graph.ranks[r].ops.size(); ++i) {
        const EventIndex e = graph.ranks[r].ops[i].event;
        compare(trace.text(rank.gpu.name[e]), times.ranks[r].ops[i], rank.gpu.start_ns[e], rank.gpu.end_ns[e]);
      }
      for (NodeIndex i = 0; i < graph.ranks[r].calls.size(); ++i) {
        const EventIndex e = graph.ranks[r].calls[i].event;
        compare(trace.text(rank.api.name[e]), times.ranks[r].calls[i], rank.api.start_ns[e], rank.api.end_ns[e]);
      }
    }
    return lines;
  }

  // What starts before it may, or ends otherwise than it must, a line each.
  std::vector<std::string> violations() const {
    std::vector<std::string> lines;
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
      add_violations(graph.ranks[r], times.ranks[r], lines);
    for (const CollectiveNode& collective : graph.collectives) {
      std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
      for (const auto& [rank, op] : collective.members)
        last_ns = std::max(last_ns, times.ranks[rank].ops[op].start_ns + graph.ranks[rank].clock_offset_ns);
      for (const auto& [rank, op] : collective.members) {
        const std::int64_t end_ns = last_ns - graph.ranks[rank].clock_offset_ns + graph.ranks[rank].ops[op].duration_ns;
        if (times.unmatched == 0 && times.ranks[rank].ops[op].end_ns != end_ns)
          lines.emplace_back("a collective's end");
      }
    }
    return lines;
  }

  Trace trace;
  RunFacts facts;
  DependencyGraph graph;
  Replay times;

 private:
  static void add_violations(const RankGraph& rank, const RankTimes& found, std::vector<std::string>& lines) {
    const auto require = [&](bool holds, std::string_view what, NodeIndex node) {
      if (!holds) lines.push_back(fmt::format("{} of {}", what, node));
    };
    for (NodeIndex i = 0; i < rank.calls.size(); ++i) {
      const CallNode& call = rank.calls[i];
      const NodeTimes& at = found.calls[i];
      const std::int64_t segment_ns = call.handed_by == kNoNode ? call.segment_ns : 0;
      if (call.before != kNoNode) require(at.start_ns >= found.calls[call.before].end_ns + segment_ns, "the thread", i);
      if (call.handed_by != kNoNode)
        require(at.start_ns >= found.calls[call.handed_by].end_ns + call.handed_ns, "the other thread", i);
      std::int64_t end_ns = at.start_ns + call.own_ns;
      for (EventIndex w = call.waits.begin; w < call.waits.end; ++w)
        end_ns = std::max(end_ns, found.ops[rank.call_waits[w]].end_ns + call.wake_ns);
      require(at.end_ns == end_ns, "the end of call", i);
    }
    for (NodeIndex i = 0; i < rank.ops.size(); ++i) {
      const OpNode& op = rank.ops[i];
      const std::int64_t start_ns = found.ops[i].start_ns;
      if (op.call != kNoNode) require(start_ns >= found.calls[op.call].start_ns + op.latency_ns, "the launch", i);
      if (op.before != kNoNode) require(start_ns >= found.ops[op.before].end_ns + op.gap_ns, "the stream", i);
      for (EventIndex w = op.waits.begin; w < op.waits.end; ++w)
        require(start_ns >= found.ops[rank.op_waits[w]].end_ns + op.wait_delay_ns, "the other stream", i);
      const std::int64_t free_ns = op.before == kNoNode ? start_ns : std::max(start_ns, found.ops[op.before].end_ns);
      if (op.collective == kNoNode) require(found.ops[i].end_ns == free_ns + op.duration_ns, "the duration", i);
    }
  }

  Times units(const NodeTimes& of) const { return {of.start_ns / unit_ns_, of.end_ns / unit_ns_}; }

  std::int64_t unit_ns_;
};

}  // namespace swinscope::test
