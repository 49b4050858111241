// A run as what has to happen before what, without the times at which it did: the host's calls in the order of their
// threads, the work of the GPUs in the order of its streams, and what waits for what beside these. Idle time is no part
// of it: replay.h finds when everything would start.
//
// Durations are those of the trace but for what was waiting: a call that waited for the GPU, or for room in its queue,
// has the time that such a call takes otherwise. Delays (from a call to what it launches, from one kernel to the next)
// are statistics over the trace, never the delay that one event had.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/facts/dependencies.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = std::numeric_limits<NodeIndex>::max();

struct CallNode {
  EventIndex event = kNoEvent;    // in ApiCalls; calls that another of its thread encloses are part of that one
  std::uint32_t thread = 0;       // in Rank::api_lanes
  NodeIndex before = kNoNode;     // the call before it on its thread
  std::int64_t segment_ns = 0;    // what the thread does between that one's end and this one's begin
  NodeIndex handed_by = kNoNode;  // instead: the call of another thread that this one goes on after,
  std::int64_t handed_ns = 0;     // so much later
  std::int64_t own_ns = 0;        // how long it takes when it waits for nothing
  std::int64_t wake_ns = 0;       // from the end of what it waits for to its own
  Slice ops;                      // that it launches, in RankGraph::ops
  Slice waits;                    // for which it waits: in RankGraph::call_waits
  bool is_launch = false;         // it takes a place in the GPU's queue
};

struct OpNode {
  EventIndex event = kNoEvent;     // in GpuEvents
  std::uint32_t lane = 0;          // in Rank::gpu_lanes
  NodeIndex call = kNoNode;        // that launches it; none: not recorded
  NodeIndex before = kNoNode;      // the one before it on its stream
  std::int64_t gap_ns = 0;         // from that one's end to its start, where nothing else delays it; may be negative:
                                   // it starts early, and waits within for that end
  std::int64_t latency_ns = 0;     // from the begin of the call to its start, where nothing else delays it
  std::int64_t duration_ns = 0;    // from its start, or where that is later from the end of the one before it, to its
                                   // end; of a member of a collective: from the start of the last one
  Slice waits;                     // for other streams: in RankGraph::op_waits
  std::int64_t wait_delay_ns = 0;  // from the end of what it waits for to its start
  std::uint32_t collective = kNoNode;  // in DependencyGraph::collectives
  bool is_removed = false;             // by a change: it takes no time and waits for no launch
  bool has_half_values = false;        // by a change: what it reads and writes is half as wide as recorded
  std::int64_t recorded_start_ns = 0;  // for comparison only
};

// Kernels of several ranks that wait for each other.
struct CollectiveNode {
  struct Member {
    std::uint32_t rank = 0;  // in DependencyGraph::ranks
    NodeIndex op = kNoNode;
  };
  std::vector<Member> members;
};

// What comes next in the order in which it was recorded: a call with what it launches, or an event without a call.
struct OrderedNode {
  std::int64_t time_ns = 0;
  NodeIndex call = kNoNode;
  NodeIndex op = kNoNode;
};

struct RankGraph {
  std::size_t rank_index = 0;        // in Trace::ranks
  std::int64_t clock_offset_ns = 0;  // to be added to its times before they are compared with another rank's
  std::vector<CallNode> calls;
  std::vector<OpNode> ops;
  std::vector<NodeIndex> call_waits;  // ops
  std::vector<NodeIndex> op_waits;    // ops
  std::vector<OrderedNode> order;
  // How many launches may be outstanding, the latest one with them; 0: none waited for room.
  std::int64_t queue_length = 0;
  std::int64_t inferred_waits = 0;  // of a stream for another that nothing recorded, taken from what happened
  std::int64_t unresolved_waits = 0;
};

struct DependencyGraph {
  std::vector<RankGraph> ranks;  // those with GPU events
  std::vector<CollectiveNode> collectives;
};

// The whole trace, since what is before the steps decides how they begin. Throws Error(kUsage) where the trace cannot
// be replayed: no launches were recorded, or no step is known; its message says what to record instead.
DependencyGraph make_graph(const RunFacts& run);

}  // namespace swinscope
