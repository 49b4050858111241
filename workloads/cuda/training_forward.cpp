// The part of TrainingBuilder that goes from the images to the loss.
#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/cross_entropy.h"
#include "kernels/gelu.h"
#include "kernels/linear.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/training_builder.h"

namespace swinscope {

void TrainingBuilder::stem() {
  const PatchEmbedShape shape{batch_,     kImageChannels,   config_.image_size, config_.image_size,
                              kPatchSize, config_.embed_dim};
  const void* const images = at(layout_.images);
  void* const columns = at(layout_.columns);
  step("patch_embed.columns", OperationClass::kLayout, moves(shape.column_elements(), shape.column_elements()),
       {shape.batch, shape.channels, shape.height, shape.width}, {shape.tokens(), shape.column_length()},
       [=, type = type_](cuda::Stream stream) { cuda::patch_columns(shape, type, images, columns, stream); });
  linear({"patch_embed.proj", "patch_embed.proj.weight", shape.tokens(), shape.column_length(), shape.outputs,
          value("patch_embed.proj.bias")},
         columns, at(layout_.embedded));
  norm({"patch_embed.norm", "patch_embed.norm", {shape.tokens(), shape.outputs}}, at(layout_.embedded),
       at(layout_.stages.front().input));
}

// `again`: what the backward pass needs is computed once more; the result is there still.
void TrainingBuilder::block_forward(const Block& block, bool again) {
  const void* const x = at(block.input);
  const bool normalized = v1() && !block.first && !again;  // by the block before
  if (v1() && !normalized) norm(norm1(block), x, at(block.regions.norm1_side));
  attention_half(block);
  void* const middle = at(block.regions.middle);
  if (v1()) {
    add_and_norm(block, x, at(layout_.token), 0, middle, norm2(block), at(block.regions.norm2_side));
  } else {
    residual_norm(norm1(block), block, x, 0, middle);
  }
  mlp_hidden(block);
  // V2 normalizes what fc2 gives, so that the backward pass needs it.
  if (!again || !v1()) {
    linear(fc2(block), at(block.regions.activated), v1() ? at(layout_.token) : at(block.regions.norm2_side));
  }
  if (!again) close_block(block);
}

void TrainingBuilder::mlp_hidden(const Block& block) {
  const BlockRegions& regions = block.regions;
  const std::int64_t count = block.tokens * kMlpRatio * block.stage.width;
  linear(fc1(block), v1() ? at(regions.norm2_side) : at(regions.middle), at(regions.hidden));
  const void* const hidden = at(regions.hidden);
  void* const activated = at(regions.activated);
  const ShapeExtents extents = {block.tokens, std::int64_t{kMlpRatio} * block.stage.width};
  const bool backwards = serpentine_.against_the_last(true);
  step(
      block.path + ".mlp.gelu", OperationClass::kElementwise, gelu_forward_cost(count, element_), extents, extents,
      [=, type = type_](cuda::Stream stream) { cuda::gelu_forward(count, type, hidden, activated, stream, backwards); },
      backwards);
}

// The second residual connection; V1 with the normalization that comes next, where that is of whole rows.
void TrainingBuilder::close_block(const Block& block) {
  const void* const middle = at(block.regions.middle);
  void* const out = at(block.regions.out);
  if (!v1()) {
    residual_norm(norm2(block), block, middle, 1, out);
    return;
  }
  const void* const branch = at(layout_.token);
  const auto number = static_cast<std::size_t>(block.place.number);
  if (block.place.index + 1 < block.stage.depth) {
    const Block next = make_block(places_.at(number + 1));
    add_and_norm(block, middle, branch, 1, out, norm1(next), at(next.regions.norm1_side));
  } else if (block.place.stage + 1 == config_.stages && !segments()) {
    add_and_norm(block, middle, branch, 1, out, {"norm", "norm", {block.tokens, block.stage.width}},
                 at(layout_.normalized));
  } else {
    add(block, middle, branch, 1, out);
  }
}

// V1: reduction(LN(gather(x))). V2: LN(reduction(gather(x))).
void TrainingBuilder::merging(int stage) {
  const StageShape from = stage_shape(config_, stage);
  const StageRegions& regions = layout_.stages.at(static_cast<std::size_t>(stage));
  const PatchMergeShape shape{batch_, from.resolution, from.resolution, from.width};
  const std::string parameters = fmt::format("layers.{}.downsample", stage + 1);
  const std::string path = fmt::format("stage{}.merge", stage + 1);
  const std::int64_t rows = shape.merged_tokens();
  const void* const x = at(regions.blocks.back().out);
  void* const y = at(layout_.stages.at(static_cast<std::size_t>(stage) + 1).input);
  void* const merged = at(regions.merged);
  const Norm merge_norm{path + ".norm", parameters + ".norm", {rows, (v1() ? 4 : 2) * shape.channels}};
  const void* input = merged;
  if (v1() && options_.features.layernorm) {
    const cuda::LayerNormTensors tensors{x, value(merge_norm.parameters + ".weight"),
                                         value(merge_norm.parameters + ".bias"), at(regions.merged_normalized),
                                         nullptr};
    input = at(regions.merged_normalized);
    step(merge_norm.path, OperationClass::kNorm, layernorm_forward_cost(merge_norm.shape, element_),
         {rows, 4 * shape.channels}, {rows, 4 * shape.channels},
         [=, norm_shape = merge_norm.shape, type = type_](cuda::Stream stream) {
           cuda::layernorm_forward(norm_shape, type, tensors, stream, &shape);
         });
  } else {
    step(path + ".gather", OperationClass::kLayout, patch_merge_forward_cost(shape, element_),
         {batch_, shape.height, shape.width, shape.channels}, {rows, 4 * shape.channels},
         [=, type = type_](cuda::Stream stream) { cuda::patch_merge_forward(shape, type, x, merged, stream); });
    if (v1()) {
      norm(merge_norm, merged, at(regions.merged_normalized));
      input = at(regions.merged_normalized);
    }
  }
  linear({path + ".reduction", parameters + ".reduction.weight", rows, 4 * shape.channels, 2 * shape.channels}, input,
         v1() ? y : at(regions.reduced));
  if (!v1()) norm(merge_norm, at(regions.reduced), y);
}

void TrainingBuilder::head() {
  const StageShape last = stage_shape(config_, config_.stages - 1);
  const std::int64_t tokens = std::int64_t{last.resolution} * last.resolution;
  const PoolShape shape{batch_, tokens, last.width};
  const void* const normalized = at(layout_.normalized);
  void* const pooled = at(layout_.pooled);
  // V1's last block has done it.
  if (!v1()) {
    norm({"norm", "norm", {batch_ * tokens, last.width}}, at(layout_.stages.back().blocks.back().out),
         at(layout_.normalized));
  }
  step("head.pool", OperationClass::kElementwise, pool_forward_cost(shape, element_), {batch_, tokens, last.width},
       {batch_, last.width},
       [=, type = type_](cuda::Stream stream) { cuda::pool_forward(shape, type, normalized, pooled, stream); });
  linear({"head.fc", "head.fc.weight", batch_, last.width, config_.classes, value("head.fc.bias")}, pooled,
         at(layout_.logits));
}

void TrainingBuilder::loss_forward(bool training) {
  const CrossEntropyShape shape{batch_, config_.classes, training ? options_.label_smoothing : 0.0};
  const void* const logits = at(layout_.logits);
  const auto* const labels = static_cast<const std::int32_t*>(at(layout_.labels));
  float* const row_loss = floats(layout_.row_loss);
  float* const lse = floats(layout_.loss_lse);
  auto* const predicted = static_cast<std::int32_t*>(at(layout_.predicted));
  cuda::LossSums* const sums = &static_cast<DeviceControl*>(at(layout_.control))->sums;
  step("loss", OperationClass::kLoss, cross_entropy_forward_cost(shape, element_), {batch_, config_.classes}, {batch_},
       [=, type = type_](cuda::Stream stream) {
         cuda::cross_entropy_forward(shape, type, logits, labels, row_loss, lse, predicted, sums, stream);
       });
}

void TrainingBuilder::linear(const Linear& linear, const void* x, void* y) {
  cuda::MatmulShape shape;
  shape.m = linear.rows;
  shape.n = linear.outputs;
  shape.k = linear.inputs;
  shape.operand_type = type_;
  shape.result_type = type_;
  if (options_.precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  const bool bias_inside = linear.bias != nullptr && linear.bias_in_product;
  if (bias_inside) shape.epilogue = cuda::Epilogue::kBias;
  const cuda::Matmul& matmul = prepare_(shape);
  const void* const bias = linear.bias;
  const ShapeExtents extents = {linear.rows, linear.outputs};
  cuda::MatmulOperands operands{x, value(linear.weight), bias, y};
  operands.backwards = serpentine_.against_the_last(matmul.turns());
  step(
      linear.path, OperationClass::kGemm,
      linear_forward_cost({linear.rows, linear.inputs, linear.outputs, bias_inside}, element_),
      {linear.rows, linear.inputs}, extents, [=, &matmul](cuda::Stream stream) { matmul.run(operands, stream); },
      operands.backwards);
  if (bias == nullptr || bias_inside) return;
  const BiasShape bias_shape{linear.rows, linear.outputs};
  step(linear.path + ".bias", OperationClass::kElementwise, bias_forward_cost(bias_shape, element_), extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::bias_forward(bias_shape, type, y, bias, y, stream); });
}

void TrainingBuilder::norm(const Norm& norm, const void* x, void* y) {
  cuda::LayerNormTensors tensors{x, value(norm.parameters + ".weight"), value(norm.parameters + ".bias"), y, nullptr};
  const ShapeExtents extents = {norm.shape.rows, norm.shape.channels};
  const bool plain = !options_.features.layernorm;
  tensors.backwards = serpentine_.against_the_last(!plain);
  step(
      norm.path, OperationClass::kNorm, layernorm_forward_cost(norm.shape, element_), extents, extents,
      [=, shape = norm.shape, type = type_](cuda::Stream stream) {
        if (plain) {
          cuda::layernorm_forward_plain(shape, type, tensors, stream);
        } else {
          cuda::layernorm_forward(shape, type, tensors, stream);
        }
      },
      tensors.backwards);
}

// V2: y = x + scale * LN(branch), where the branch of a half lies in its norm side.
void TrainingBuilder::residual_norm(const Norm& norm, const Block& block, const void* x, int half, void* y) {
  const void* const branch = at(half == 0 ? block.regions.norm1_side : block.regions.norm2_side);
  if (!options_.features.layernorm) {
    this->norm(norm, branch, at(layout_.token));
    add(block, x, at(layout_.token), half, y);
    return;
  }
  cuda::LayerNormTensors tensors{branch, value(norm.parameters + ".weight"), value(norm.parameters + ".bias"), y, x};
  tensors.sample_scale = scales(block.place, half);
  tensors.rows_per_sample = block.tokens / batch_;
  const ShapeExtents extents = {norm.shape.rows, norm.shape.channels};
  OperationCost cost = layernorm_forward_cost(norm.shape, element_);
  cost.bytes_read += norm.shape.rows * norm.shape.channels * element_;
  tensors.backwards = serpentine_.against_the_last(true);
  step(
      norm.path, OperationClass::kNorm, cost, extents, extents,
      [=, shape = norm.shape, type = type_](cuda::Stream stream) {
        cuda::layernorm_forward(shape, type, tensors, stream);
      },
      tensors.backwards);
}

void TrainingBuilder::add(const Block& block, const void* x, const void* branch, int half, void* y) {
  const ResidualShape shape{batch_, block.tokens / batch_ * block.stage.width};
  const ShapeExtents extents = {batch_, shape.sample_elements};
  const float* const scale = scales(block.place, half);
  step(fmt::format("{}.residual{}", block.path, half + 1), OperationClass::kElementwise,
       residual_forward_cost(shape, scale != nullptr, element_), extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::residual_forward(shape, type, x, branch, scale, y, stream); });
}

// V1: sum = x + scale * branch, y = LN(sum).
void TrainingBuilder::add_and_norm(const Block& block, const void* x, const void* branch, int half, void* sum,
                                   const Norm& norm, void* y) {
  if (!options_.features.layernorm) {
    add(block, x, branch, half, sum);
    this->norm(norm, sum, y);
    return;
  }
  const bool backwards = serpentine_.against_the_last(true);
  const cuda::ResidualNormTensors tensors{x,
                                          branch,
                                          scales(block.place, half),
                                          block.tokens / batch_,
                                          value(norm.parameters + ".weight"),
                                          value(norm.parameters + ".bias"),
                                          sum,
                                          y,
                                          backwards};
  const ShapeExtents extents = {norm.shape.rows, norm.shape.channels};
  const std::int64_t count = norm.shape.rows * norm.shape.channels;
  OperationCost cost = layernorm_forward_cost(norm.shape, element_);
  cost += moves(count, count);
  step(
      norm.path, OperationClass::kNorm, cost, extents, extents,
      [=, shape = norm.shape, type = type_](cuda::Stream stream) {
        cuda::residual_layernorm_forward(shape, type, tensors, stream);
      },
      backwards);
}

}  // namespace swinscope
