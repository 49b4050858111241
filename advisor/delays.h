// How long after what allows it each node of a rank begins, and how long a call takes that waits for nothing:
// statistics over the trace, never the delay that one event had.
#pragma once

#include "advisor/rank_nodes.h"

namespace swinscope {

// From calls to what they launch.
void find_latencies(RankNodes& nodes);
// Of calls, without what they waited for; and how many launches may be outstanding.
void find_own_times(RankNodes& nodes);
// Between work of one stream, and from that of another stream. Needs all waits.
void find_gaps(RankNodes& nodes);

}  // namespace swinscope
