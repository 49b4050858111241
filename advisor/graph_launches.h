// What CUDA promises of a graph's launch and no trace records, since a graph's nodes are on streams of their own: it is
// one piece of work of its stream, and launches of one graph never overlap.
#pragma once

#include "advisor/rank_nodes.h"

namespace swinscope {

// Adds to RankNodes::waits: the first node on each stream waits for all of the graph's launch before this one and for
// what its stream held, and what follows on its stream waits for all of it. Its stream is that of its first node, if
// work outside graphs is there, too; else it is not known.
void order_graph_launches(RankNodes& nodes);

}  // namespace swinscope
