// What only passes over the elements of a neighbour becomes a part of its kernel: V1's gathering of pixels before a
// normalization, V2's residual sum after one, GELU and V1's residual sum after a product.
#include <utility>

#include "workloads/passes/passes.h"

namespace swinscope {

void fuse_gather_norm(Graph& graph, const PassContext& context) {
  if (!context.features.layernorm) return;
  Rewrite rewrite(graph);
  for (Op* const gather : rewrite.all(OpKind::kPatchMerge)) {
    Op* const norm = rewrite.reader(gather->out[0], OpKind::kLayerNorm);
    if (norm == nullptr) continue;
    norm->gather = gather->as<PatchMergeShape>();
    norm->in[0] = gather->in[0];
    rewrite.remove(gather);
  }
}

void fuse_norm_residual(Graph& graph, const PassContext& context) {
  if (!context.features.layernorm) return;
  Rewrite rewrite(graph);
  for (Op* const norm : rewrite.all(OpKind::kLayerNorm)) {
    Op* const sum = rewrite.reader(norm->out[0], OpKind::kResidual);
    if (sum == nullptr || sum->in[1] != norm->out[0]) continue;
    norm->in.push_back(sum->in[0]);
    if (sum->in[2] != kNoTensor) norm->in.push_back(sum->in[2]);
    norm->out[0] = sum->out[0];
    rewrite.remove(sum);
  }
}

void fuse_gelu(Graph& graph, const PassContext& context) {
  if (!context.features.gelu || !context.tanh_gelu) return;
  Rewrite rewrite(graph);
  for (Op* const linear : rewrite.all(OpKind::kLinear)) {
    Op* const gelu = rewrite.reader(linear->out[0], OpKind::kGelu);
    if (gelu == nullptr || linear->in[2] == kNoTensor) continue;
    linear->gelu = true;
    linear->out[0] = gelu->out[0];
    rewrite.remove(gelu);
  }
}

void fuse_residual(Graph& graph, const PassContext& context) {
  if (!context.features.residual) return;
  Rewrite rewrite(graph);
  for (Op* const linear : rewrite.all(OpKind::kLinear)) {
    Op* const sum = rewrite.reader(linear->out[0], OpKind::kResidual);
    if (sum == nullptr || sum->in[1] != linear->out[0]) continue;
    linear->in.push_back(sum->in[0]);
    linear->out[0] = sum->out[0];
    rewrite.remove(sum);
  }
}

}  // namespace swinscope
