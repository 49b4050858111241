// The passes in the order in which they run: what comes first takes what it can, and leaves the rest to those behind
// it.
#include <iterator>
#include <utility>

#include "workloads/passes/hoist_constants.h"
#include "workloads/passes/passes.h"

namespace swinscope {

void hoist(Graph& graph, const PassContext& context) {
  hoist_constants(graph, [&](OpKind kind) {
    return kind == OpKind::kJointBias ? context.features.qkvbias : context.features.prebias;
  });
}

void optimize(Graph& graph, const PassContext& context) {
  for (const auto pass :
       {lower, lower_head, separate_biases, copy_windows, fuse_gather_norm, fuse_norm_residual, fuse_gelu,
        fuse_residual, quantize_products, fuse_narrow_block, fuse_qkv_attention, fuse_narrow_qkv, fuse_norm_rows,
        fuse_patch_embed, fuse_gemm_norm, prefetch_weights, set_l2_policy, hoist})
    pass(graph, context);
}

// Before the images are: the kernels of attention and of products begin while those before them end, and read their
// biases at once. Those must be finished by then, which the kernel that makes columns sees to, as it waits for all.
void make_biases_first(Graph& graph, const PassContext& /*context*/) {
  hoist_constants(graph);
  std::ranges::move(graph.forward, std::back_inserter(graph.once));
  graph.forward = std::exchange(graph.once, {});
}

void optimize_training(Graph& graph, const PassContext& context) {
  for (const auto pass :
       {lower, lower_head, separate_biases, copy_windows, fuse_gather_norm, fuse_norm_residual, differentiate,
        recompute, fuse_residual_norm, fuse_gradients, train_in_bytes, make_biases_first})
    pass(graph, context);
}

}  // namespace swinscope
