// The part of TrainingBuilder that goes from the loss back to the images.
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

void TrainingBuilder::head_backward() {
  const StageShape last = stage_shape(config_, config_.stages - 1);
  const std::int64_t tokens = std::int64_t{last.resolution} * last.resolution;
  const CrossEntropyShape loss_shape{batch_, config_.classes, options_.label_smoothing};
  const void* const logits = at(layout_.logits);
  const auto* const labels = static_cast<const std::int32_t*>(at(layout_.labels));
  const float* const lse = floats(layout_.loss_lse);
  const float* const loss_scale = &static_cast<DeviceControl*>(at(layout_.control))->state.loss_scale;
  void* const dlogits = at(layout_.logits_gradient);
  step("loss", OperationClass::kLoss, cross_entropy_backward_cost(loss_shape, element_), {batch_, config_.classes},
       {batch_, config_.classes}, [=, row_scale = row_scale_, type = type_](cuda::Stream stream) {
         cuda::cross_entropy_backward(loss_shape, type, logits, labels, lse, row_scale, loss_scale, dlogits, stream);
       });
  const Linear classifier{"head.fc", "head.fc.weight", batch_, last.width, config_.classes, value("head.fc.bias")};
  product_backward(classifier, dlogits, at(layout_.pooled), at(layout_.pooled_gradient), false);
  bias_gradient("head.fc", batch_, config_.classes, dlogits, gradient("head.fc.bias"), accumulate_);
  const PoolShape pool_shape{batch_, tokens, last.width};
  const void* const dpooled = at(layout_.pooled_gradient);
  void* const dnormalized = at(layout_.token);
  step("head.pool", OperationClass::kElementwise, pool_backward_cost(pool_shape, element_), {batch_, last.width},
       {batch_, tokens, last.width},
       [=, type = type_](cuda::Stream stream) { cuda::pool_backward(pool_shape, type, dpooled, dnormalized, stream); });
  norm_backward({"norm", "norm", {batch_ * tokens, last.width}}, at(layout_.stages.back().blocks.back().out),
                dnormalized, nullptr, at(layout_.streams[0]));
  mark({"head.fc.weight", "head.fc.bias", "norm.weight", "norm.bias"});
}

// `stream` holds the gradient of the block's output and then of its input.
void TrainingBuilder::block_backward(const Block& block, void* stream) {
  if (options_.recompute) block_forward(block, true);
  mlp_half_backward(block, stream);
  const std::string& prefix = block.parameters;
  mark({prefix + ".mlp.fc1.weight", prefix + ".mlp.fc1.bias", prefix + ".mlp.fc2.weight", prefix + ".mlp.fc2.bias",
        prefix + ".norm2.weight", prefix + ".norm2.bias"});
  attention_half_backward(block, stream);
  mark({prefix + ".attn.qkv.weight", prefix + ".attn.proj.weight", prefix + ".attn.proj.bias", prefix + ".norm1.weight",
        prefix + ".norm1.bias", v1() ? prefix + ".attn.relative_position_bias_table" : prefix + ".attn.logit_scale"});
}

void TrainingBuilder::mlp_half_backward(const Block& block, void* stream) {
  const BlockRegions& regions = block.regions;
  const Linear second = fc2(block);
  const Linear first = fc1(block);
  const void* dbranch = at(layout_.side);
  if (v1()) {
    dbranch = branch_gradient(block, 1, second, stream);
  } else {
    branch_norm_backward(norm2(block), block, 1, second, at(regions.norm2_side), stream);
  }
  void* const dhidden = at(layout_.wide);
  product_backward(second, dbranch, at(regions.activated), dhidden, false);
  const BiasShape shape{block.tokens, first.outputs};
  float* const dbias = gradient(block.parameters + ".mlp.fc1.bias");
  cuda::GeluGradientTensors tensors;
  tensors.x = at(regions.hidden);
  tensors.dy = dhidden;
  tensors.dx = dhidden;
  if (options_.features.gelu) {
    tensors.dbias = dbias;
    tensors.accumulate = accumulate_;
    tensors.workspace = workspace();
  }
  const ShapeExtents extents = {block.tokens, first.outputs};
  tensors.backwards = serpentine_.against_the_last(true);
  step(
      block.path + ".mlp.gelu", OperationClass::kElementwise, gelu_backward_cost(shape.rows * shape.columns, element_),
      extents, extents, [=, type = type_](cuda::Stream on) { cuda::gelu_backward(shape, type, tensors, on); },
      tensors.backwards);
  if (!options_.features.gelu) bias_gradient(first.path, shape.rows, shape.columns, dhidden, dbias, accumulate_);
  if (v1()) {
    product_backward(first, dhidden, at(regions.norm2_side), at(layout_.token), false);
    norm_into_stream(norm2(block), block, 1, at(regions.middle), at(layout_.token), stream,
                     branch_bias_sums(block.place, 0));
  } else if (options_.features.residual) {
    product_backward(first, dhidden, at(regions.middle), stream, true);
  } else {
    product_backward(first, dhidden, at(regions.middle), at(layout_.token), false);
    add_into_stream(block, 1, at(layout_.token), stream);
  }
}

// `from`: gradient of the stage behind the merging; `to`: of the stage before it.
void TrainingBuilder::merging_backward(int stage, void* from, void* to) {
  const StageShape shape_before = stage_shape(config_, stage);
  const StageRegions& regions = layout_.stages.at(static_cast<std::size_t>(stage));
  const PatchMergeShape shape{batch_, shape_before.resolution, shape_before.resolution, shape_before.width};
  const std::string parameters = fmt::format("layers.{}.downsample", stage + 1);
  const std::string path = fmt::format("stage{}.merge", stage + 1);
  const std::int64_t rows = shape.merged_tokens();
  void* const dgathered = at(layout_.wide);
  const Norm merge_norm{path + ".norm", parameters + ".norm", {rows, (v1() ? 4 : 2) * shape.channels}};
  const Linear reduction{path + ".reduction", parameters + ".reduction.weight", rows, 4 * shape.channels,
                         2 * shape.channels};
  if (v1()) {
    product_backward(reduction, from, at(regions.merged_normalized), dgathered, false);
  } else {
    norm_backward(merge_norm, at(regions.reduced), from, nullptr, at(layout_.side));
    product_backward(reduction, at(layout_.side), at(regions.merged), dgathered, false);
  }
  if (v1() && options_.features.layernorm) {
    cuda::LayerNormGradientTensors tensors;
    tensors.x = at(regions.blocks.back().out);
    tensors.gamma = value(merge_norm.parameters + ".weight");
    tensors.dy = dgathered;
    tensors.dx = to;
    tensors.dgamma = gradient(merge_norm.parameters + ".weight");
    tensors.dbeta = gradient(merge_norm.parameters + ".bias");
    tensors.accumulate = accumulate_;
    tensors.workspace = workspace();
    const ShapeExtents extents = {rows, 4 * shape.channels};
    step(merge_norm.path, OperationClass::kNorm, layernorm_backward_cost(merge_norm.shape, element_), extents, extents,
         [=, norm_shape = merge_norm.shape, type = type_](cuda::Stream stream) {
           cuda::layernorm_backward(norm_shape, type, tensors, stream, &shape);
         });
  } else {
    if (v1()) norm_backward(merge_norm, at(regions.merged), dgathered, nullptr, dgathered);
    step(path + ".gather", OperationClass::kLayout, patch_merge_backward_cost(shape, element_),
         {rows, 4 * shape.channels}, {batch_, shape.height, shape.width, shape.channels},
         [=, type = type_](cuda::Stream stream) { cuda::patch_merge_backward(shape, type, dgathered, to, stream); });
  }
  mark({parameters + ".reduction.weight", parameters + ".norm.weight", parameters + ".norm.bias"});
}

// The images need no gradient.
void TrainingBuilder::stem_backward(void* stream) {
  const PatchEmbedShape shape{batch_,     kImageChannels,   config_.image_size, config_.image_size,
                              kPatchSize, config_.embed_dim};
  void* const dembedded = at(layout_.token);
  norm_backward({"patch_embed.norm", "patch_embed.norm", {shape.tokens(), shape.outputs}}, at(layout_.embedded), stream,
                nullptr, dembedded);
  bias_gradient("patch_embed.proj", shape.tokens(), shape.outputs, dembedded, gradient("patch_embed.proj.bias"),
                accumulate_);
  product_backward(
      {"patch_embed.proj", "patch_embed.proj.weight", shape.tokens(), shape.column_length(), shape.outputs}, dembedded,
      at(layout_.columns), nullptr, false);
  marks_.push_back({steps_.size(), parameters_.flat_count()});
}

// dx = dy W, or added to what is there, where it is wanted; dW = dy^T x. The second one first where the next operation
// is to find dx in the L2 cache.
void TrainingBuilder::product_backward(const Linear& linear, const void* dy, const void* x, void* dx, bool add_to_dx) {
  if (serpentine_.on()) weight_gradient(linear, dy, x);
  if (dx != nullptr) input_gradient(linear, dy, dx, add_to_dx);
  if (!serpentine_.on()) weight_gradient(linear, dy, x);
}

cuda::MatmulShape TrainingBuilder::gradient_product() const {
  cuda::MatmulShape shape;
  shape.transpose_b = false;
  shape.operand_type = type_;
  shape.spare_multiprocessors = options_.spare_multiprocessors;
  if (options_.precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  return shape;
}

void TrainingBuilder::input_gradient(const Linear& linear, const void* dy, void* dx, bool add) {
  cuda::MatmulShape shape = gradient_product();
  shape.m = linear.rows;
  shape.n = linear.inputs;
  shape.k = linear.outputs;
  shape.result_type = type_;
  shape.accumulate = add;
  const cuda::Matmul& matmul = prepare_(shape);
  const void* const weight = value(linear.weight);
  const std::int64_t count = linear.rows * linear.inputs;
  const std::int64_t weights = linear.inputs * linear.outputs;
  OperationCost cost = moves(linear.rows * linear.outputs + weights + (add ? count : 0), count);
  cost.flops = 2 * linear.rows * weights;
  step(linear.path, OperationClass::kGemm, cost, {linear.rows, linear.outputs}, {linear.rows, linear.inputs},
       [=, &matmul](cuda::Stream stream) {
         matmul.run({dy, weight, nullptr, dx}, stream);
       });
}

void TrainingBuilder::weight_gradient(const Linear& linear, const void* dy, const void* x) {
  cuda::MatmulShape shape = gradient_product();
  shape.m = linear.outputs;
  shape.n = linear.inputs;
  shape.k = linear.rows;
  shape.transpose_a = true;
  shape.result_type = ElementType::kFp32;
  shape.accumulate = accumulate_;
  const cuda::Matmul& matmul = prepare_(shape);
  float* const dweight = gradient(linear.weight);
  const std::int64_t weights = linear.inputs * linear.outputs;
  const OperationCost cost{2 * linear.rows * weights,
                           linear.rows * (linear.inputs + linear.outputs) * element_ + (accumulate_ ? weights * 4 : 0),
                           weights * 4};
  step(linear.path, OperationClass::kGemm, cost, {linear.rows, linear.outputs}, {linear.outputs, linear.inputs},
       [=, &matmul](cuda::Stream stream) {
         matmul.run({dy, x, nullptr, dweight}, stream);
       });
}

// dx_sums: where dx is summed up, too; null: nowhere.
void TrainingBuilder::norm_backward(const Norm& norm, const void* x, const void* dy, const void* residual, void* dx,
                                    const float* sample_scale, float* dx_sums) {
  cuda::LayerNormGradientTensors tensors;
  tensors.x = x;
  tensors.gamma = value(norm.parameters + ".weight");
  tensors.dy = dy;
  tensors.residual = residual;
  tensors.dx = dx;
  tensors.sample_scale = sample_scale;
  tensors.rows_per_sample = norm.shape.rows / batch_;
  tensors.dgamma = gradient(norm.parameters + ".weight");
  tensors.dbeta = gradient(norm.parameters + ".bias");
  tensors.dx_sums = dx_sums;
  tensors.accumulate = accumulate_;
  tensors.workspace = workspace();
  const ShapeExtents extents = {norm.shape.rows, norm.shape.channels};
  OperationCost cost = layernorm_backward_cost(norm.shape, element_);
  if (residual != nullptr) cost.bytes_read += norm.shape.rows * norm.shape.channels * element_;
  tensors.backwards = serpentine_.against_the_last(true);
  step(
      norm.path, OperationClass::kNorm, cost, extents, extents,
      [=, shape = norm.shape, type = type_](cuda::Stream stream) {
        cuda::layernorm_backward(shape, type, tensors, stream);
      },
      tensors.backwards);
}

// Where the gradient of a branch's last bias goes if a normalization's backward pass sums it up: V2's own, V1's whose
// result is what comes back into the branch. Null where that is scaled on the way or each operation is a kernel.
float* TrainingBuilder::branch_bias_sums(const BlockPlace& place, int half) const {
  if (!options_.features.layernorm || (v1() && scales(place, half) != nullptr)) return nullptr;
  return branch_bias(place, half);
}

float* TrainingBuilder::branch_bias(const BlockPlace& place, int half) const {
  return gradient(
      fmt::format("layers.{}.blocks.{}.{}.bias", place.stage, place.index, half == 0 ? "attn.proj" : "mlp.fc2"));
}

// V1: `stream` += the gradient of what a half normalized. bias_sums: of the branch that the stream's gradient goes into
// next; null: it has none, or gets it otherwise.
void TrainingBuilder::norm_into_stream(const Norm& norm, const Block& block, int half, const void* x, const void* dy,
                                       void* stream, float* bias_sums) {
  if (options_.features.layernorm) {
    norm_backward(norm, x, dy, stream, stream, nullptr, bias_sums);
    return;
  }
  norm_backward(norm, x, dy, nullptr, at(layout_.side));
  add_into_stream(block, half, at(layout_.side), stream);
}

void TrainingBuilder::add_into_stream(const Block& block, int half, const void* dx, void* stream) {
  const ResidualShape shape{batch_, block.tokens / batch_ * block.stage.width};
  const ShapeExtents extents = {batch_, shape.sample_elements};
  step(fmt::format("{}.residual{}", block.path, half + 1), OperationClass::kElementwise,
       residual_forward_cost(shape, false, element_), extents, extents,
       [=, type = type_](cuda::Stream on) { cuda::residual_forward(shape, type, stream, dx, stream, on); });
}

// A branch's gradient where stochastic depth scales it, on the rungs where that is a kernel of its own.
void TrainingBuilder::scale_branch(const Block& block, int half, const float* scale, const void* dy, void* dbranch) {
  const ResidualShape shape{batch_, block.tokens / batch_ * block.stage.width};
  const ShapeExtents extents = {batch_, shape.sample_elements};
  step(fmt::format("{}.residual{}", block.path, half + 1), OperationClass::kElementwise,
       residual_backward_cost(shape, true, element_), extents, extents,
       [=, type = type_](cuda::Stream on) { cuda::residual_backward(shape, type, scale, dy, dbranch, on); });
}

// V2: from the stream to `side`, through the normalization that ends a branch, with the gradient of its last bias.
void TrainingBuilder::branch_norm_backward(const Norm& norm, const Block& block, int half, const Linear& last,
                                           const void* x, const void* dy) {
  const float* scale = scales(block.place, half);
  if (scale != nullptr && !options_.features.layernorm) {
    scale_branch(block, half, scale, dy, at(layout_.side));
    dy = at(layout_.side);
    scale = nullptr;
  }
  float* const sums = branch_bias_sums(block.place, half);
  norm_backward(norm, x, dy, nullptr, at(layout_.side), scale, sums);
  if (sums != nullptr) return;
  bias_gradient(last.path, block.tokens, block.stage.width, at(layout_.side), branch_bias(block.place, half),
                accumulate_);
}

// V1: what comes back into a branch through its residual connection, and with it the gradient of its last bias.
const void* TrainingBuilder::branch_gradient(const Block& block, int half, const Linear& last, const void* dy) {
  float* const dbias = branch_bias(block.place, half);
  const float* const scale = scales(block.place, half);
  if (scale != nullptr && !options_.features.residual) {
    scale_branch(block, half, scale, dy, at(layout_.side));
    dy = at(layout_.side);
  }
  if (scale == nullptr || !options_.features.residual) {
    // A stage's last block gets its gradient from a merging or from the head.
    const bool summed =
        branch_bias_sums(block.place, half) != nullptr && (half == 0 || block.place.index + 1 < block.stage.depth);
    if (!summed) bias_gradient(last.path, block.tokens, block.stage.width, dy, dbias, accumulate_);
    return dy;
  }
  cuda::BiasGradientTensors tensors;
  tensors.dy = dy;
  tensors.sample_scale = scale;
  tensors.rows_per_sample = block.tokens / batch_;
  tensors.dx = at(layout_.side);
  tensors.dbias = dbias;
  tensors.accumulate = accumulate_;
  tensors.workspace = workspace();
  const BiasShape shape{block.tokens, block.stage.width};
  const ShapeExtents extents = {shape.rows, shape.columns};
  OperationCost cost = bias_backward_cost(shape, element_);
  cost += moves(0, shape.rows * shape.columns);
  step(fmt::format("{}.residual{}", block.path, half + 1), OperationClass::kElementwise, cost, extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::bias_backward(shape, type, tensors, stream); });
  return tensors.dx;
}

// The column sums of dy. A classifier's columns may be too few for the kernel: then as a product with ones.
void TrainingBuilder::bias_gradient(const std::string& path, std::int64_t rows, std::int64_t columns, const void* dy,
                                    float* dbias, bool accumulate) {
  const BiasShape shape{rows, columns};
  const ShapeExtents extents = {rows, columns};
  const OperationCost cost = bias_backward_cost(shape, element_);
  if (columns % 8 == 0) {
    cuda::BiasGradientTensors tensors;
    tensors.dy = dy;
    tensors.dbias = dbias;
    tensors.accumulate = accumulate;
    tensors.workspace = workspace();
    step(path, OperationClass::kElementwise, cost, extents, {columns},
         [=, type = type_](cuda::Stream stream) { cuda::bias_backward(shape, type, tensors, stream); });
    return;
  }
  cuda::MatmulShape product;
  product.m = 1;
  product.n = columns;
  product.k = rows;
  product.transpose_b = false;
  product.operand_type = type_;
  product.result_type = ElementType::kFp32;
  product.accumulate = accumulate;
  product.spare_multiprocessors = options_.spare_multiprocessors;
  const cuda::Matmul& matmul = prepare_(product);
  const void* const ones = at(layout_.ones);
  step(path, OperationClass::kElementwise, cost, extents, {columns}, [=, &matmul](cuda::Stream stream) {
    matmul.run({ones, dy, nullptr, dbias}, stream);
  });
}

}  // namespace swinscope
