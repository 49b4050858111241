// Normalizations within the kernel of the product whose result they take: of the patch embedding as one kernel from the
// images, and of V2's layers with their residual sum.
#include "kernels/patch_embed.h"
#include "workloads/passes/passes.h"

namespace swinscope {

void fuse_patch_embed(Graph& graph, const PassContext& context) {
  if (!context.features.patchembed || !context.features.layernorm) return;
  Rewrite rewrite(graph);
  for (Op* const columns : rewrite.all(OpKind::kPatchColumns)) {
    const auto& shape = columns->as<PatchEmbedShape>();
    Op* const linear = rewrite.reader(columns->out[0], OpKind::kLinear);
    Op* const norm = linear == nullptr ? nullptr : rewrite.reader(linear->out[0], OpKind::kLayerNorm);
    if (norm == nullptr || !cuda::normalized_patch_embed_offered(shape, element_type_of(graph.type), context.gpu))
      continue;
    norm->kind = OpKind::kNormalizedPatchEmbed;
    norm->path = linear->path;
    norm->in = {columns->in[0], linear->in[1], linear->in[2], norm->in[1], norm->in[2]};
    norm->shape = shape;
    rewrite.remove(columns);
    rewrite.remove(linear);
  }
}

void fuse_gemm_norm(Graph& graph, const PassContext& context) {
  if (!context.features.postnorm || !context.features.layernorm) return;
  Rewrite rewrite(graph);
  for (Op* const linear : rewrite.all(OpKind::kLinear)) {
    Op* const norm = rewrite.reader(linear->out[0], OpKind::kLayerNorm);
    if (norm == nullptr || linear->in.size() > 3 || norm->gather || norm->to_bytes) continue;
    if (!context.normalizes_result(*linear, norm->input(3) != kNoTensor)) continue;
    linear->in.insert(linear->in.end(), {norm->input(3), norm->in[1], norm->in[2]});
    linear->out[0] = norm->out[0];
    rewrite.remove(norm);
  }
}

}  // namespace swinscope
