// Places of all that training, or segmenting pictures, needs on a device, in one piece of memory: decided, and so
// known, before any is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.h"
#include "kernels/window_attention.h"
#include "workloads/model_table.h"
#include "workloads/parameters.h"

namespace swinscope {

// Bytes from the start of the memory; each region starts at a multiple of 256.
struct Region {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

// What the forward pass leaves for the backward pass. V1 normalizes before the branches, V2 after them; T = tokens,
// R = T or, where windows are copied, their rows with padding.
struct BlockRegions {
  Region bias;        // position bias of all pairs of a window
  Region table;       // V2: made by the network, fp32
  Region joint_bias;  // V2: [3C] of q, zeros, v
  Region norm1_side;  // [T, C]: V1 the normalized input, V2 what is to be normalized; norm2_side alike
  Region windows;     // [R, C]: qkv's input, where windows are copied
  Region qkv;         // [R, 3C]; not with attention by steps
  Region attended;    // [R, C]
  Region lse;         // [R, heads], fp32; not with attention by steps
  // Attention by steps: see AttentionStepBuffers.
  Region heads, norms, cosines, probabilities;
  Region middle;      // [T, C] between the halves
  Region norm2_side;  // [T, C]
  Region hidden;      // [T, 4C] before GELU
  Region activated;   // [T, 4C]
  Region out;         // [T, C]
};

struct StageRegions {
  Region input;                      // [T, C]
  std::vector<BlockRegions> blocks;  // with recomputation all but bias, table, joint_bias and out are shared
  Region merged;                     // [T / 4, 4C] gathered; not where the normalization gathers by itself
  Region merged_normalized;          // [T / 4, 4C]: V1
  Region reduced;                    // [T / 4, 2C]: V2, before its normalization
};

// A convolution and its batch normalization: what the backward pass reads.
struct ConvNormRegions {
  Region convolved;   // [pixels, channels]
  Region statistics;  // [2 channels + 1], fp32
};

// Of UPerNet's head (models/uper.cpp has its formulas). P_i: pixels of stage i's map, S: the last one, d: the head's
// channels.
struct UperRegions {
  std::vector<Region> features;  // [P_i, C_i]: normalized stages
  std::vector<Region> pooled;    // [batch, side, side, C_S]
  std::vector<ConvNormRegions> levels;
  Region pyramid;  // [P_S, C_S + 4 d]
  ConvNormRegions bottleneck;
  std::vector<ConvNormRegions> laterals, outputs;  // of all stages but the last
  std::vector<Region> joined;                      // [P_i, d]: l_i
  Region fused;                                    // [P_1, stages d]; not where taps are fused
  // Where they are: o_i of all stages but the last, [P_i, d], slices of the weight, the first [d, 9, d], the others
  // [9, d, d], the gradient of one of them in fp32, and taps of one part, [P_i, 9, d].
  std::vector<Region> parts, packed;
  Region packed_gradient, taps;
  ConvNormRegions fusion;
  Region fusion_output;  // [P_1, d]
  Region logits;         // [P_1, classes]
  ConvNormRegions auxiliary;
  Region auxiliary_output;    // [P_{S-1}, d / 2]
  Region auxiliary_logits;    // [P_{S-1}, classes]
  Region lse, auxiliary_lse;  // [batch, size, size], fp32
  // Gradients of stages stay until the stage's turn; of the rest no value outlives the head's backward pass.
  std::vector<Region> feature_gradients;
  std::vector<Region> joined_gradients;
  Region logits_gradient, auxiliary_logits_gradient, fused_gradient, pyramid_gradient;
  Region wide;    // [P_1, d], of the output of any ConvNorm, and each part of a concatenation before it is resized
  Region narrow;  // of the input of any ConvNorm but those of concatenations
  Region convolved_gradient;  // [P_1, d]
  Region moments;             // [ranks, 2 d + 1], fp32: each rank's, and sums over the ranks in the backward pass
  Region running;             // ParameterLayout::buffers(), fp32
};

struct TrainingLayoutOptions {
  ElementType type = ElementType::kFp16;  // of activations and of the products' operands
  bool recompute = false;                 // blocks keep their outputs only, and are computed again in the backward pass
  bool stochastic_depth = false;
  bool gathering_norm = true;  // V1's merging is gathered and normalized at once
  bool window_copies = false;
  bool attention_steps = false;
  ElementType reduce_type = ElementType::kFp32;  // of gradients on their way between ranks
  std::int64_t ranks = 1;
  bool tap_fusion = false;
  // A segmentation model's forward pass alone: nothing that only a backward pass reads, and what no longer is needed
  // makes room for what comes next.
  bool inference = false;
  bool reduce_by_copies = false;  // each rank adds up a part of the gradients, all of one size
};

// Of one block; `number` counts through the model.
struct BlockPlace {
  int stage = 0;
  int index = 0;
  int number = 0;
};
std::vector<BlockPlace> blocks_of(const SwinConfig& config);
WindowAttentionShape attention_shape(const SwinConfig& config, const BlockPlace& place, std::int64_t batch);
// Of qkv and of the attended values.
std::int64_t attention_rows(const WindowGrid& grid, bool window_copies);

class TrainingLayout {
 public:
  TrainingLayout(const SwinConfig& config, std::int64_t batch, const TrainingLayoutOptions& options);

  std::int64_t bytes() const { return bytes_; }
  // Of all regions, for checks.
  const std::vector<Region>& regions() const { return regions_; }

  // Flat, in the order of ParameterLayout; fp32 but for the copies, which there are with 16-bit types only.
  Region masters, copies, gradients, first_moments, second_moments;
  Region rounded_gradients;                  // flat, where gradients travel in 16 bits
  Region images, labels, columns, embedded;  // embedded: before its normalization
  std::vector<StageRegions> stages;
  // Of a classifier's head; labels are [batch], int32.
  Region normalized, pooled, logits;
  Region row_loss, loss_lse;  // [batch], fp32
  // Of a segmentation head; labels are [batch, size, size], uint8.
  UperRegions uper;
  Region predicted;     // as labels
  Region control;       // DeviceControl
  Region depth_scales;  // [blocks, 2, batch], fp32
  Region ones;          // [batch], or as many as a segmentation head's logits have pixels
  // In which no value outlives a half of a block.
  Region logits_gradient, pooled_gradient;
  Region streams[2];   // gradient of the residual stream, [T, C] of the first stage
  Region side, token;  // [R, C]
  Region wide;         // [T, 4C] and [R, 3C]
  // Attention by steps: see AttentionStepBuffers. Gradients of q, k, v, and what is attended or its gradient.
  Region scores, rounded_scores, head_gradients;
  Region table_gradient, bias_gradient;  // V2, fp32: [table rows, heads], [3C]
  Region workspace;

 private:
  Region take(std::int64_t bytes);
  Region elements(std::int64_t count) { return take(count * element_); }
  Region floats(std::int64_t count) { return take(count * 4); }
  void place_parameters(std::int64_t count);
  void place_stage(const SwinConfig& config, int stage);
  void place_kept(const SwinConfig& config, const BlockPlace& place, BlockRegions& block);
  BlockRegions place_activations(const SwinConfig& config, int stage);
  void place_attention(const SwinConfig& config, int stage, BlockRegions& block);
  void place_attention_scratch(const SwinConfig& config);
  void place_scratch(const SwinConfig& config);
  void place_backward_scratch(const SwinConfig& config);
  std::int64_t widest_rows(const SwinConfig& config) const;
  void place_wide(const SwinConfig& config);
  void place_classifier(const SwinConfig& config);
  void place_uper(const SwinConfig& config);
  void place_uper_gradients(const SwinConfig& config);
  void place_fusion(const SwinConfig& config);
  std::int64_t widest_map(const SwinConfig& config) const;
  ConvNormRegions place_conv_norm(std::int64_t pixels, std::int64_t channels);
  std::int64_t uper_workspace_bytes(const SwinConfig& config) const;
  std::int64_t workspace_bytes(const SwinConfig& config) const;

  std::int64_t batch_;
  TrainingLayoutOptions options_;
  std::int64_t element_;
  std::int64_t bytes_ = 0;
  std::vector<Region> regions_;
};

}  // namespace swinscope
