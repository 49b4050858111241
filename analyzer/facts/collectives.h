// The collectives of a job (METRICS "Collectives"): which GPU events of the devices of all ranks are one and the same
// operation. A fact that analyses divide by and clocks are aligned by; nothing here compares times of two ranks.
//
// Matched are, of the devices of a scope, communication kernels that are no send or receive and have the same name:
//   by sequence   of the same process group and sequence number, where the source has these;
//   by order      else: the same ordinal within the same measured step (of the whole trace where that is the scope).
// One that only some of the devices have counts where its process group is known, else it was not recorded everywhere.
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
};

// By process group, kernel name, step or sequence number, ordinal. None where fewer than two devices have any.
std::vector<Collective> match_collectives(const Trace& trace, const RunScope& scope);

}  // namespace swinscope
