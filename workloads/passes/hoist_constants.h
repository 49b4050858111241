// Ops whose inputs are parameters and running statistics alone are run once for each set of weights, not in each pass:
// Swin V2's position tables and joint biases, and what batch normalization makes of its running statistics. Inference
// only: in training the parameters change with each step.
#pragma once

#include <functional>

#include "workloads/graph/graph.h"

namespace swinscope {

// Of the kinds that are `wanted`.
void hoist_constants(
    Graph& graph, const std::function<bool(OpKind)>& wanted = [](OpKind) { return true; });

}  // namespace swinscope
