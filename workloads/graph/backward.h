// The backward pass of a graph: one rule for each kind of op, applied from the last op to the first. Where gradients of
// two paths meet they are added up.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/graph/graph.h"

namespace swinscope {

// Appends the backward pass of `graph`, whose outputs named in `losses` have gradients: inputs that are called
// "gradient of <name>". Gradients of parameters are tensors with the parameter's name.
void add_backward(Graph& graph, const std::vector<std::string_view>& losses);
// Of a model: from its logits and, where it has them, the auxiliary ones.
void add_backward(Graph& graph);

}  // namespace swinscope
