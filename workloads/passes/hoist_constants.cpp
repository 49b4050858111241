#include "workloads/passes/hoist_constants.h"

#include <algorithm>
#include <utility>

namespace swinscope {

void hoist_constants(Graph& graph) {
  const auto is_constant = [&graph](TensorId id) {
    if (id == kNoTensor) return true;
    const TensorRole role = graph.at(id).role;
    return role == TensorRole::kParameter || role == TensorRole::kBuffer || role == TensorRole::kConstant;
  };
  std::vector<Op> rest;
  for (Op& op : graph.forward) {
    if (!std::ranges::all_of(op.in, is_constant)) {
      rest.push_back(std::move(op));
      continue;
    }
    for (const TensorId id : op.out)
      if (id != kNoTensor) graph.at(id).role = TensorRole::kConstant;
    graph.once.push_back(std::move(op));
  }
  graph.forward = std::move(rest);
}

}  // namespace swinscope
