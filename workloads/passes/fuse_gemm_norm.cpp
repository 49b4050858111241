// Normalizations within the kernel of the product whose result they take: of the patch embedding as one kernel from the
// images, and of V2's layers with their residual sum.
#include <algorithm>
#include <iterator>
#include <vector>

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
  std::vector<Op*> products = rewrite.all(OpKind::kLinear);
  std::ranges::copy(rewrite.all(OpKind::kQuantizedLinear), std::back_inserter(products));
  for (Op* const product : products) {
    Op* const norm = rewrite.reader(product->out[0], OpKind::kLayerNorm);
    if (norm == nullptr || product->input(3) != kNoTensor || norm->gather) continue;
    if (norm->to_bytes && norm->input(3) == kNoTensor) continue;
    product->beside = norm->to_bytes;
    if (!context.normalizes_result(*product, norm->input(3) != kNoTensor)) {
      product->beside = false;
      continue;
    }
    product->in.resize(std::max<std::size_t>(product->in.size(), 4), kNoTensor);
    product->in[3] = norm->input(3);
    product->in.insert(product->in.end(), {norm->in[1], norm->in[2]});
    product->out = norm->out;
    rewrite.remove(norm);
  }
}

}  // namespace swinscope
