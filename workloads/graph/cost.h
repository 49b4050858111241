// What an op must at least do, of what class it is and on which extents it works: from its kind, its shape and the type
// of the graph's elements, as annotations have it.
#pragma once

#include "kernels/cost.h"
#include "workloads/annotate.h"
#include "workloads/graph/graph.h"

namespace swinscope {

OperationCost cost_of(const Graph& graph, const Op& op);
OperationPayload payload_of(const Graph& graph, const Op& op, Precision precision);

}  // namespace swinscope
