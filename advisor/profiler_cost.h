// What a profiler of PyTorch cost the host: it notes the begin and the end of each operator, and its inputs where asked
// to, which takes several times as long as the operator itself where that does little.
#pragma once

#include <cstdint>

#include "advisor/graph.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// ns of an operator, by the trace alone: 2.4 times the median of what operators take that do nothing but call another
// one, beyond that one. The factor is that of nine programs on one machine (tests/peers/advisor): 2.3 to 2.5 for
// inference, 1.7 to 3.5 for training. 0: the rank has no operators, or too few of these.
std::int64_t operator_cost_ns(const Trace& trace, const Rank& rank);

// Takes half of it from the host's time in which an operator begins or ends, as far as that goes.
void remove_from_operators(std::int64_t ns, const Trace& trace, RankGraph& graph);

}  // namespace swinscope
