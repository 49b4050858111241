// Few tokens: products take as long as their weights, which all tiles share. A normalization before a product brings
// what the two products after that one read into the L2 cache meanwhile.
#include "workloads/passes/passes.h"

namespace swinscope {

void prefetch_weights(Graph& graph, const PassContext& context) {
  constexpr std::int64_t kMostTokens = 1024;
  if (!context.features.weightsahead) return;
  for (std::size_t i = 0; i < graph.forward.size(); ++i) {
    Op& norm = graph.forward[i];
    if (norm.kind != OpKind::kLayerNorm || graph.at(norm.out[0]).rows() > kMostTokens) continue;
    if (!is_layer(norm, "norm1") && !is_layer(norm, "norm2")) continue;
    if (norm.in.size() > 3 || graph.forward[i + 1].kind == OpKind::kResidual) continue;  // V2's, behind its product
    std::vector<TensorId> weights;
    for (std::size_t j = i + 1; j < graph.forward.size() && weights.size() < 3; ++j) {
      if (graph.forward[j].kind == OpKind::kConvolution) break;  // between them there is all of a head
      if (graph.forward[j].kind == OpKind::kLinear) weights.push_back(graph.forward[j].in[1]);
    }
    if (weights.size() < 3) continue;
    norm.ahead_first = weights[1];
    norm.ahead_last = weights[2];
  }
}

}  // namespace swinscope
