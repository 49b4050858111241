// Normalizations and attention say which of their rows the L2 cache is to keep for the next op: results where they fit,
// and of what is read now and again as a residual nothing where that fills the cache anyway (kernels/eviction.h).
#include "workloads/passes/passes.h"

namespace swinscope {

void set_l2_policy(Graph& graph, const PassContext& context) {
  if (!context.features.cachehints) return;
  for (Op& op : graph.forward) {
    const std::int64_t bytes = graph.at(op.out[0]).bytes();
    if (op.kind == OpKind::kLayerNorm && !op.gather) {
      op.in_policy = cuda::eviction_before_residual(bytes, context.gpu.l2_bytes);
      op.out_policy = cuda::eviction_of_result(bytes, context.gpu.l2_bytes);
    }
    if (op.kind == OpKind::kWindowAttention) op.out_policy = cuda::eviction_of_result(bytes, context.gpu.l2_bytes);
  }
}

}  // namespace swinscope
