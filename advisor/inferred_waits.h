// Waits of a stream for another that nothing recorded, taken from what happened.
#pragma once

#include "advisor/rank_nodes.h"

namespace swinscope {

// Adds to RankNodes::waits where work started later than its stream and its launch would have let it: that of CUDA
// graphs, whose edges no trace has, and all of it unless waits of streams were recorded.
//  - In a graph that was launched several times: for the node that had ended in every launch and, where this one was
//    late, nearest to its start. The least delay between the two is that of the wait alone.
//  - Elsewhere: for what ended just before.
// What still started 100 us later than all that is known lets it waits for room: for the kernel of another stream at
// whose end it started, whether waits were recorded or not.
void infer_waits(RankNodes& nodes, bool are_recorded);

}  // namespace swinscope
