// Ops whose inputs are parameters and running statistics alone are run once for each set of weights, not in each pass:
// Swin V2's position tables and joint biases, and what batch normalization makes of its running statistics. Inference
// only: in training the parameters change with each step.
#pragma once

#include "workloads/graph/graph.h"

namespace swinscope {

void hoist_constants(Graph& graph);

}  // namespace swinscope
