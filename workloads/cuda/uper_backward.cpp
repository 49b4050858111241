// The part of TrainingBuilder that is the backward pass of UPerNet's head. All of its gradients, and those of the
// stages' normalizations, are final at its one mark: until then the ranks' communicator serves the batch
// normalizations.
#include <fmt/format.h>

#include "kernels/residual.h"
#include "kernels/upsample_loss.h"
#include "workloads/cuda/training_builder.h"
#include "workloads/segmentation_loss.h"

namespace swinscope {

// Leaves the last stage's gradient in the first stream, the others' in feature_gradients.
void TrainingBuilder::uper_head_backward() {
  pixel_loss_backward("loss", 0, 1.0, uper().logits, uper().lse, uper().logits_gradient);
  pixel_loss_backward("loss.aux", last_stage() - 1, kAuxiliaryWeight, uper().auxiliary_logits, uper().auxiliary_lse,
                      uper().auxiliary_logits_gradient);
  uper_fusion_backward();
  uper_laterals_backward();
  uper_pyramid_backward();
  auxiliary_backward();
  std::vector<std::string> names;
  for (int i = 0; i <= last_stage(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    void* const dfeature = at(uper().feature_gradients.at(index));
    norm_backward(feature_norm(i), at(layout_.stages.at(index).blocks.back().out), dfeature, nullptr,
                  i == last_stage() ? at(layout_.streams[0]) : dfeature);
  }
  for (const ParameterInfo& tensor : parameters_.tensors()) {
    if (tensor.name.starts_with("h.") || tensor.name.starts_with("norm")) names.push_back(tensor.name);
  }
  mark(names);
}

void TrainingBuilder::pixel_loss_backward(const char* path, int stage, double weight, const Region& logits,
                                          const Region& lse, const Region& gradient) {
  const UpsampleShape shape = logits_resize(stage);
  cuda::PixelLossTensors tensors;
  tensors.logits = at(logits);
  tensors.labels = static_cast<const std::uint8_t*>(at(layout_.labels));
  tensors.lse = floats(lse);
  tensors.workspace = workspace();
  const float* const scale = &control()->pixel_scale;
  void* const dlogits = at(gradient);
  const ShapeExtents extents = {batch_, shape.height, shape.width, shape.channels};
  step(path, OperationClass::kLoss, upsample_loss_backward_cost(shape, element_),
       {batch_, shape.out_height, shape.out_width}, extents, [=, type = type_](cuda::Stream stream) {
         cuda::upsample_loss_backward(shape, type, tensors, weight, scale, dlogits, stream);
       });
}

// Leaves the gradients of l_i in joined_gradients, as far as they come from the outputs.
void TrainingBuilder::uper_fusion_backward() {
  const Linear linear = classifier();
  const void* const dlogits = at(uper().logits_gradient);
  product_backward(linear, dlogits, at(uper().fusion_output), at(uper().wide), false);
  bias_gradient(linear.path, linear.rows, linear.outputs, dlogits, gradient("h.cls.bias"), accumulate_);
  if (options_.tap_fusion) return cut_fusion_backward();
  conv_norm_backward(fusion(), at(uper().fused), {at(uper().wide)}, at(uper().fused_gradient));
  for (int i = 0; i <= last_stage(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    Slice dy = fused_part(uper().fused_gradient, i);
    void* const djoined = at(uper().joined_gradients.at(index));
    if (i > 0) {
      void* const small = i < last_stage() ? at(uper().wide) : djoined;
      reduce(part_path(i) + ".resize", resize(side(i), 0), dy, false, small);
      dy = {small};
    }
    if (i < last_stage()) conv_norm_backward(output(i), at(uper().joined.at(index)), dy, djoined);
  }
}

void TrainingBuilder::uper_laterals_backward() {
  for (int i = 0; i < last_stage(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const Slice djoined = {at(uper().joined_gradients.at(index))};
    reduce(lateral(i).path + ".resize", resize(side(i + 1), i), djoined, true,
           at(uper().joined_gradients.at(index + 1)));
    conv_norm_backward(lateral(i), at(uper().features.at(index)), djoined, at(uper().feature_gradients.at(index)));
  }
}

void TrainingBuilder::uper_pyramid_backward() {
  void* const dfeature = at(uper().feature_gradients.back());
  const std::int64_t width = stage_shape(config_, last_stage()).width;
  conv_norm_backward(bottleneck(), at(uper().pyramid), {at(uper().joined_gradients.back())},
                     at(uper().pyramid_gradient));
  UpsampleShape same = resize(side(last_stage()), last_stage());
  same.channels = width;
  reduce("head.pyramid.concat", same, pyramid_part(uper().pyramid_gradient, 0), false, dfeature);
  for (std::size_t i = 0; i < kPyramidSides.size(); ++i) {
    const ConvNorm conv = level(i);
    const AdaptivePoolShape shape = grid(i);
    reduce(conv.path + ".resize", resize(shape.side, last_stage()),
           pyramid_part(uper().pyramid_gradient, width + static_cast<std::int64_t>(i) * head_channels()), false,
           at(uper().wide));
    void* const dpooled = at(uper().narrow);
    conv_norm_backward(conv, at(uper().pooled.at(i)), {at(uper().wide)}, dpooled);
    step(conv.path + ".pool", OperationClass::kElementwise, adaptive_pool_backward_cost(shape, true, element_),
         {batch_, shape.side, shape.side, shape.channels}, {batch_, shape.height, shape.width, shape.channels},
         [=, type = type_](cuda::Stream stream) {
           cuda::adaptive_pool_backward(shape, type, dpooled, true, dfeature, stream);
         });
  }
}

void TrainingBuilder::auxiliary_backward() {
  const int stage = last_stage() - 1;
  const auto index = static_cast<std::size_t>(stage);
  const Linear linear = auxiliary_classifier();
  const void* const dlogits = at(uper().auxiliary_logits_gradient);
  product_backward(linear, dlogits, at(uper().auxiliary_output), at(uper().wide), false);
  bias_gradient(linear.path, linear.rows, linear.outputs, dlogits, gradient("h.aux.1.bias"), accumulate_);
  conv_norm_backward(auxiliary(), at(uper().features.at(index)), {at(uper().wide)}, at(uper().narrow));
  add_feature_gradient(stage, "head.aux.add", at(uper().narrow), at(uper().feature_gradients.at(index)));
}

// dx is overwritten.
void TrainingBuilder::conv_norm_backward(const ConvNorm& conv, const void* x, const Slice& dy, void* dx) {
  normalize_backward(conv, dy);
  convolve_backward(conv.path + ".conv", conv.shape, x, value(conv.parameters + ".0.weight"),
                    gradient(conv.parameters + ".0.weight"), dx);
}

void TrainingBuilder::normalize_backward(const ConvNorm& conv, const Slice& dy) {
  const BatchNormShape norm = conv.norm();
  const ShapeExtents extents = {batch_, conv.shape.height, conv.shape.width, conv.shape.outputs};
  cuda::BatchNormGradientTensors tensors;
  tensors.x = at(conv.regions.convolved);
  tensors.statistics = floats(conv.regions.statistics);
  tensors.gamma = value(conv.parameters + ".1.weight");
  tensors.beta = value(conv.parameters + ".1.bias");
  tensors.relu = true;
  tensors.dy = dy.data;
  tensors.dy_stride = dy.stride;
  tensors.sums = floats(uper().moments);
  tensors.dgamma = gradient(conv.parameters + ".1.weight");
  tensors.dbeta = gradient(conv.parameters + ".1.bias");
  tensors.accumulate = accumulate_;
  tensors.dx = at(uper().convolved_gradient);
  tensors.workspace = workspace();
  step(conv.path + ".sums", OperationClass::kNorm, batchnorm_backward_sums_cost(norm, element_), extents,
       {norm.channels},
       [=, type = type_](cuda::Stream stream) { cuda::batchnorm_backward_sums(norm, type, tensors, stream); });
  if (options_.ranks != nullptr) {
    const std::int64_t count = 2 * norm.channels;
    step(conv.path + ".allreduce", OperationClass::kCommunication, {0, count * 4, count * 4}, {count}, {count},
         [=, ranks = options_.ranks](cuda::Stream stream) {
           ranks->all_reduce_sum(tensors.sums, count, ReduceType::kFp32, stream);
         });
  }
  step(conv.path + ".norm", OperationClass::kNorm, batchnorm_backward_cost(norm, element_), extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::batchnorm_backward(norm, type, tensors, stream); });
}

// From convolved_gradient.
void TrainingBuilder::convolve_backward(const std::string& path, const ConvolutionShape& shape, const void* x,
                                        const void* weight, float* dweight, void* dx) {
  const void* const dy = at(uper().convolved_gradient);
  const ShapeExtents extents = {batch_, shape.height, shape.width, shape.outputs};
  const OperationCost weight_only = convolution_backward_cost(shape, false, element_);
  const OperationCost both = convolution_backward_cost(shape, true, element_);
  cuda::ConvolutionProblem problem;
  problem.shape = shape;
  problem.operand_type = type_;
  problem.tf32 = options_.precision == Precision::kTf32;
  problem.pass = cuda::ConvolutionPass::kWeightGradient;
  const cuda::Convolution& weight_gradient = options_.prepare_convolution(problem);
  step(path, OperationClass::kConv, weight_only, extents, {shape.outputs, shape.kernel, shape.kernel, shape.inputs},
       [=, &weight_gradient](cuda::Stream stream) { weight_gradient.run(x, dy, dweight, stream); });
  problem.pass = cuda::ConvolutionPass::kInputGradient;
  problem.result_type = type_;
  const cuda::Convolution& input_gradient = options_.prepare_convolution(problem);
  step(path, OperationClass::kConv,
       {both.flops - weight_only.flops, both.bytes_read - weight_only.bytes_read,
        both.bytes_written - weight_only.bytes_written},
       extents, {batch_, shape.height, shape.width, shape.inputs},
       [=, &input_gradient](cuda::Stream stream) { input_gradient.run(dy, weight, dx, stream); });
}

void TrainingBuilder::reduce(const std::string& path, const UpsampleShape& shape, const Slice& dy, bool accumulate,
                             void* dx) {
  const cuda::UpsampleGradientTensors tensors{dy.data, dy.stride, dx, accumulate, nullptr};
  step(path, OperationClass::kElementwise, upsample_backward_cost(shape, accumulate, element_),
       {shape.batch, shape.out_height, shape.out_width, shape.channels},
       {shape.batch, shape.height, shape.width, shape.channels},
       [=, type = type_](cuda::Stream stream) { cuda::upsample_backward(shape, type, tensors, stream); });
}

void TrainingBuilder::add_feature_gradient(int stage, const std::string& path, const void* x, void* sum) {
  const ResidualShape shape{batch_, side(stage) * side(stage) * stage_shape(config_, stage).width};
  const ShapeExtents extents = {batch_, shape.sample_elements};
  step(path, OperationClass::kElementwise, residual_forward_cost(shape, false, element_), extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::residual_forward(shape, type, sum, x, sum, stream); });
}

}  // namespace swinscope
