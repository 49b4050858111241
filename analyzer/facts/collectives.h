// The collectives of a job (METRICS "Collectives"): which GPU events of the devices of all ranks are one and the same
// operation. A fact that analyses divide by and clocks are aligned by; nothing here compares times of two ranks.
//
// Matched are, of the devices of a scope, communication kernels with the same name:
//   by sequence   of the same process group and sequence number, where the source has these on each device of the
//   group; by order      else: the same ordinal within the same measured step (of the whole trace where that is the
//   scope), in
//                 the same process group where the source says that of all of them.
// What a CUDA graph replays is matched by order: a sequence number would be that of the capture, the same at each
// launch. One that only some of the devices have counts where its process group is known, else it was not recorded
// everywhere. A send and its receive are matched by sequence, in a process group of two: of a larger one nobody says
// who sends to whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class CollectiveMatch : std::uint8_t { kSequence, kOrder };

struct CollectiveMember {
  std::size_t rank_index = 0;  // in Trace::ranks
  std::int32_t device = 0;
  EventIndex event = kNoEvent;  // in Rank::gpu
};

struct Collective {
  CollectiveMatch method = CollectiveMatch::kOrder;
  std::vector<CollectiveMember> members;  // at least two, by rank, device, time
  bool is_transfer = false;               // of one rank to another: a send and its receive
  std::int64_t part = 0;  // which kernel of its call, where one sequence number has several: 0 is the first
};

// What the source says of a communication kernel; null: nothing. Of a graph's node it may have said it once, when the
// node was captured.
const CollectiveRecord* described_collective(const Rank& rank, EventIndex event);
// The same with a sequence number; null where it has none.
const CollectiveRecord* collective_record(const Rank& rank, EventIndex event);

// By process group, kernel name, step or sequence number, ordinal. None where fewer than two devices have any.
std::vector<Collective> match_collectives(const Trace& trace, const RunScope& scope);

// The communication kernels of the scope that none of the collectives has, by rank, device, time.
std::vector<CollectiveMember> unmatched_communication(const Trace& trace, const RunScope& scope,
                                                      const std::vector<Collective>& collectives);

}  // namespace swinscope
