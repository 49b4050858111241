// When everything of a dependency graph happens, from its constraints alone. A call begins when its thread gets to it,
// and ends when it has done its part and what it waits for has ended; GPU work starts when its stream, its launch and
// what it waits for allow it. So a replay can be wrong, and how wrong it is can be measured.
#pragma once

#include <cstdint>
#include <vector>

#include "advisor/graph.h"
#include "analyzer/facts/scope.h"

namespace swinscope {

// What decided the time of a node.
enum class Decider : std::uint8_t {
  kNothing,     // it is the first
  kThread,      // the call before it on its thread, and what the thread did since
  kHandedOver,  // a call of another thread
  kQueue,       // room in the GPU's queue
  kLaunch,      // the call that launches it
  kStream,      // the work before it on its stream
  kEvent,       // work of another stream
};

struct NodeTimes {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  NodeIndex by = kNoNode;             // what decided the start: a call for kThread, kHandedOver, kLaunch, else an op
  Decider bound = Decider::kNothing;  // of the start
  NodeIndex waited_for = kNoNode;     // of a call: the op whose end decided its own; none: it did not wait
};

struct RankTimes {
  std::vector<NodeTimes> calls;
  std::vector<NodeTimes> ops;
};

struct Replay {
  std::vector<RankTimes> ranks;  // as DependencyGraph::ranks
  // Collectives whose members did not all come: they were replayed as if each were alone.
  std::int64_t unmatched = 0;
};

Replay replay(const DependencyGraph& graph);

// A device's window (scope.h) in replayed time.
struct ReplayedWindow {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  std::int32_t device = 0;
  std::int64_t steps = 0;
  Interval time;
  std::uint32_t thread = 0;  // in Rank::api_lanes: the one whose ranges mark the steps, or that launches most
};
std::vector<ReplayedWindow> replayed_windows(const DependencyGraph& graph, const Replay& replay, const RunFacts& run);

// The device whose steps take longest, over all of its windows.
struct SlowestDevice {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  std::int32_t device = 0;
  std::int64_t time_ns = 0;
  std::int64_t steps = 0;
  std::int64_t step_ns() const { return steps == 0 ? 0 : time_ns / steps; }
};
SlowestDevice slowest_device(const std::vector<ReplayedWindow>& windows);

// The time of a step in replayed time: of the slowest device.
std::int64_t replayed_step_ns(const DependencyGraph& graph, const Replay& replay, const RunFacts& run);

// The replay of the unmodified trace beside the trace.
struct ReplayError {
  std::int64_t traced_step_ns = 0;
  std::int64_t replayed_step_ns = 0;
  std::int64_t events = 0;        // of GPUs, in the scope
  std::int64_t start_p50_ns = 0;  // |replayed - recorded| start, from the start of the step on: it adds up
  std::int64_t start_p95_ns = 0;
  double within_2us = 0;      // share of those whose start follows to 2 us from what was recorded before it
  double step_error() const;  // |replayed - traced| / traced
};

ReplayError replay_error(const DependencyGraph& graph, const Replay& replay, const RunFacts& run);

}  // namespace swinscope
