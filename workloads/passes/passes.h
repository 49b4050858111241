// The optimizations on a GPU, each a rewrite of the graph that leaves the function as it is: one file for
// each, run in the order of ladder.cpp. A pass does nothing where its features are not wanted, the GPU has no kernel
// for it, or the kernel is no faster there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/delayed_scale.h"
#include "kernels/matmul.h"
#include "workloads/cuda/features.h"
#include "workloads/graph/graph.h"
#include "workloads/passes/rewrite.h"
#include "workloads/quantization.h"

namespace swinscope {

struct PassContext {
  Features features;
  bool recompute = false;                     // training
  std::int64_t ranks = 1;                     // that batches are normalized over
  bool tanh_gelu = false;                     // GELU in its tanh form is as good
  ByteFormat bytes = ByteFormat::kNone;       // that is quantized to
  const InputRanges* input_ranges = nullptr;  // of what is quantized
  // Training with products of 8-bit operands, of layers with so many channels on both sides; byte_gradients: also of
  // gradients, in e4m3.
  ByteFormat training_bytes = ByteFormat::kNone;
  bool byte_gradients = false;
  std::int64_t least_byte_width = 0;
  cuda::DeviceInfo gpu;
  // Whether a product that normalizes its result is there and faster than two kernels.
  std::function<bool(const Op& linear, bool accumulates)> normalizes_result;
};

// One kernel for each operation of the framework: patches as columns, attention with the bias of all pairs, biases
// apart from products unless features have them inside; a segmentation head's maps.
void lower(Graph& graph, const PassContext& context);
void lower_head(Graph& graph, const PassContext& context);
void separate_biases(Graph& graph, const PassContext& context);
// Without the feature window: maps are rolled and cut into windows by copies, and put together again.
void copy_windows(Graph& graph, const PassContext& context);
// A gathering of pixels within the normalization behind it (V1's merging); V2's residual sum within the normalization
// before it.
void fuse_gather_norm(Graph& graph, const PassContext& context);
void fuse_norm_residual(Graph& graph, const PassContext& context);
// GELU, and V1's residual sum, within the product before it.
void fuse_gelu(Graph& graph, const PassContext& context);
void fuse_residual(Graph& graph, const PassContext& context);
// Products of 8-bit numbers (kernels/byte_format.h) where that is faster, and what is before them to give such.
void quantize_products(Graph& graph, const PassContext& context);
// kernels/narrow_block.h, kernels/qkv_attention.h, kernels/normalized_rows.h, kernels/patch_embed.h.
void fuse_narrow_block(Graph& graph, const PassContext& context);
void fuse_qkv_attention(Graph& graph, const PassContext& context);
void fuse_narrow_qkv(Graph& graph, const PassContext& context);
void fuse_norm_rows(Graph& graph, const PassContext& context);
void fuse_patch_embed(Graph& graph, const PassContext& context);
// A normalization within the product whose result it takes.
void fuse_gemm_norm(Graph& graph, const PassContext& context);
// Normalizations of few tokens bring weights into the L2 cache that later products read.
void prefetch_weights(Graph& graph, const PassContext& context);
// Which rows the L2 cache is to keep.
void set_l2_policy(Graph& graph, const PassContext& context);
// What follows from parameters alone is made once.
void hoist(Graph& graph, const PassContext& context);

// Training: the backward pass, what of it is computed again, and what of it needs no kernel of its own.
void differentiate(Graph& graph, const PassContext& context);
void recompute(Graph& graph, const PassContext& context);
void fuse_residual_norm(Graph& graph, const PassContext& context);
void fuse_gradients(Graph& graph, const PassContext& context);
// Products of 8-bit operands.
void train_in_bytes(Graph& graph, const PassContext& context);
// Of a graph of training: before anything was seen. Empty where it has none.
std::vector<DelayedScale> first_scales(const Graph& graph);
// What follows from parameters alone is made before everything else.
void make_biases_first(Graph& graph, const PassContext& context);

// Counts the magnitudes of what blocks' products and attention read, for calibration: "counts." and the op's path.
void count_inputs(Graph& graph);

// All of inference in order, and all of training.
void optimize(Graph& graph, const PassContext& context);
void optimize_training(Graph& graph, const PassContext& context);

}  // namespace swinscope
