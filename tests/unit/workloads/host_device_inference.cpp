// host_device.h: operations of inference that are only listed.
#include "kernels/linear.h"
#include "kernels/narrow_block.h"
#include "kernels/normalized_product.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_embed.h"
#include "kernels/qkv_attention.h"
#include "tests/unit/workloads/host_device_memory.h"

namespace swinscope::cuda {

using test::only_listed;

void linear_forward(const LinearShape& /*shape*/, ElementType /*type*/, const void* /*x*/, const void* /*weight*/,
                    const void* /*bias*/, void* /*y*/, Stream /*stream*/) {
  only_listed();
}
void narrow_qkv_forward(const NarrowShape& /*shape*/, const NarrowQkvTensors& /*tensors*/, Stream /*stream*/) {
  only_listed();
}
void narrow_mlp_forward(const NarrowShape& /*shape*/, const NarrowMlpTensors& /*tensors*/, Stream /*stream*/) {
  only_listed();
}
void narrow_block_end_forward(const NarrowShape& /*shape*/, const NarrowBlockEndTensors& /*t*/, Stream /*stream*/) {
  only_listed();
}
void normalized_rows_forward(const NormalizedRowsShape& /*shape*/, const NormalizedRowsTensors& /*tensors*/,
                             Stream /*stream*/) {
  only_listed();
}
void normalized_patch_embed_forward(const PatchEmbedShape& /*shape*/, ElementType /*type*/,
                                    const NormalizedPatchEmbedTensors& /*tensors*/, Stream /*stream*/) {
  only_listed();
}
void qkv_attention_forward(const WindowAttentionShape& /*shape*/, ElementType /*type*/,
                           const QkvAttentionTensors& /*tensors*/, Stream /*stream*/) {
  only_listed();
}
void fold_normalization(std::int64_t /*inputs*/, std::int64_t /*outputs*/, ElementType /*type*/,
                        const FoldedNormTensors& /*tensors*/, Stream /*stream*/) {
  only_listed();
}

}  // namespace swinscope::cuda
