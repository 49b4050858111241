// Waits of a stream for another that nothing recorded, taken from what happened.
#pragma once

#include "advisor/rank_nodes.h"

namespace swinscope {

// Adds to RankNodes::waits where work started later than its stream and its launch would have let it: that of CUDA
// graphs, whose edges no trace has, and all of it unless waits of streams were recorded.
//  - In a graph that was launched several times: for the node that had ended in every launch and, where this one was
//    late, nearest to its start. The least delay between the two is that of the wait alone.
//  - Elsewhere: for what ended just before.
void infer_waits(RankNodes& nodes, bool are_recorded);

}  // namespace swinscope
