// The part of TrainingBuilder that is the forward pass of UPerNet's head: models/uper.cpp has its formulas.
#include <fmt/format.h>

#include "kernels/upsample_loss.h"
#include "workloads/cuda/training_builder.h"
#include "workloads/segmentation_loss.h"

namespace swinscope {

TrainingBuilder::ConvNorm TrainingBuilder::conv_norm(const std::string& parameters, const std::string& path,
                                                     std::int64_t side, std::int64_t inputs, std::int64_t outputs,
                                                     std::int64_t kernel, const ConvNormRegions& regions) const {
  return {parameters, path,
          ConvolutionShape{
              .batch = batch_, .height = side, .width = side, .inputs = inputs, .outputs = outputs, .kernel = kernel},
          regions};
}

TrainingBuilder::ConvNorm TrainingBuilder::level(std::size_t index) const {
  const int grid = kPyramidSides.at(index);
  return conv_norm(fmt::format("h.ppm.{}.1", index), fmt::format("head.pyramid{}", grid), grid,
                   stage_shape(config_, last_stage()).width, head_channels(), 1, uper().levels.at(index));
}

TrainingBuilder::ConvNorm TrainingBuilder::bottleneck() const {
  const std::int64_t inputs =
      stage_shape(config_, last_stage()).width + static_cast<std::int64_t>(kPyramidSides.size()) * head_channels();
  return conv_norm("h.bott", "head.bottleneck", side(last_stage()), inputs, head_channels(), 3, uper().bottleneck);
}

TrainingBuilder::ConvNorm TrainingBuilder::lateral(int stage) const {
  return conv_norm(fmt::format("h.lat.{}", stage), fmt::format("head.lateral{}", stage + 1), side(stage),
                   stage_shape(config_, stage).width, head_channels(), 1,
                   uper().laterals.at(static_cast<std::size_t>(stage)));
}

TrainingBuilder::ConvNorm TrainingBuilder::output(int stage) const {
  return conv_norm(fmt::format("h.fpn.{}", stage), fmt::format("head.fpn{}", stage + 1), side(stage), head_channels(),
                   head_channels(), 3, uper().outputs.at(static_cast<std::size_t>(stage)));
}

TrainingBuilder::ConvNorm TrainingBuilder::fusion() const {
  return conv_norm("h.fuse", "head.fusion", side(0), config_.stages * head_channels(), head_channels(), 3,
                   uper().fusion);
}

TrainingBuilder::ConvNorm TrainingBuilder::auxiliary() const {
  const int stage = last_stage() - 1;
  return conv_norm("h.aux.0", "head.aux", side(stage), stage_shape(config_, stage).width, head_channels() / 2, 3,
                   uper().auxiliary);
}

TrainingBuilder::Linear TrainingBuilder::classifier() const {
  return {"head.classifier", "h.cls.weight", pixels(0), head_channels(), config_.classes, value("h.cls.bias")};
}

TrainingBuilder::Linear TrainingBuilder::auxiliary_classifier() const {
  return {"head.aux.classifier", "h.aux.1.weight", pixels(last_stage() - 1),
          head_channels() / 2,   config_.classes,  value("h.aux.1.bias")};
}

TrainingBuilder::Norm TrainingBuilder::feature_norm(int stage) const {
  return {fmt::format("head.norm{}", stage + 1),
          fmt::format("norm{}", stage),
          {pixels(stage), stage_shape(config_, stage).width}};
}

AdaptivePoolShape TrainingBuilder::grid(std::size_t level) const {
  const std::int64_t extent = side(last_stage());
  return {batch_, extent, extent, stage_shape(config_, last_stage()).width, kPyramidSides.at(level)};
}

// Of maps with the head's channels.
UpsampleShape TrainingBuilder::resize(std::int64_t from, int stage) const {
  return {batch_, from, from, side(stage), side(stage), head_channels()};
}

// From a stage's map to the labels.
UpsampleShape TrainingBuilder::logits_resize(int stage) const {
  return {batch_, side(stage), side(stage), config_.image_size, config_.image_size, config_.classes};
}

TrainingBuilder::Slice TrainingBuilder::pyramid_part(const Region& whole, std::int64_t first) const {
  return {static_cast<char*>(at(whole)) + first * element_, bottleneck().shape.inputs};
}

TrainingBuilder::Slice TrainingBuilder::fused_part(const Region& whole, int stage) const {
  return {static_cast<char*>(at(whole)) + stage * head_channels() * element_, config_.stages * head_channels()};
}

void TrainingBuilder::uper_maps(bool training) {
  for (int i = 0; i <= last_stage(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    norm(feature_norm(i), at(layout_.stages.at(index).blocks.back().out), at(uper().features.at(index)));
  }
  uper_pyramid(training);
  uper_fusion(training);
  linear(classifier(), at(uper().fusion_output), at(uper().logits));
}

// What an inference's head makes of its parameters alone.
void TrainingBuilder::uper_parameters() {
  for (std::size_t i = 0; i < kPyramidSides.size(); ++i)
    statistics(level(i), false);
  statistics(bottleneck(), false);
  for (int i = 0; i < last_stage(); ++i) {
    statistics(lateral(i), false);
    statistics(output(i), false);
  }
  statistics(fusion(), false);
  if (options_.tap_fusion) pack_fusion();
}

void TrainingBuilder::uper_head(bool training) {
  uper_maps(training);
  if (training) {
    conv_norm_forward(auxiliary(), at(uper().features.at(static_cast<std::size_t>(last_stage() - 1))),
                      {at(uper().auxiliary_output)}, true);
    linear(auxiliary_classifier(), at(uper().auxiliary_output), at(uper().auxiliary_logits));
  }
  uper_loss(training);
}

void TrainingBuilder::uper_pyramid(bool training) {
  const void* const deepest = at(uper().features.back());
  const std::int64_t width = stage_shape(config_, last_stage()).width;
  UpsampleShape same = resize(side(last_stage()), last_stage());
  same.channels = width;
  enlarge("head.pyramid.concat", same, deepest, nullptr, pyramid_part(uper().pyramid, 0));
  for (std::size_t i = 0; i < kPyramidSides.size(); ++i) {
    const ConvNorm conv = level(i);
    const AdaptivePoolShape shape = grid(i);
    void* const pooled = at(uper().pooled.at(i));
    step(conv.path + ".pool", OperationClass::kElementwise, adaptive_pool_forward_cost(shape, element_),
         {batch_, shape.height, shape.width, shape.channels}, {batch_, shape.side, shape.side, shape.channels},
         [=, type = type_](cuda::Stream stream) { cuda::adaptive_pool_forward(shape, type, deepest, pooled, stream); });
    conv_norm_forward(conv, pooled, {at(uper().wide)}, training);
    enlarge(conv.path + ".resize", resize(shape.side, last_stage()), at(uper().wide), nullptr,
            pyramid_part(uper().pyramid, width + static_cast<std::int64_t>(i) * head_channels()));
  }
  conv_norm_forward(bottleneck(), at(uper().pyramid), {at(uper().joined.back())}, training);
}

void TrainingBuilder::uper_fusion(bool training) {
  for (int i = last_stage() - 1; i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    void* const joined = at(uper().joined.at(index));
    conv_norm_forward(lateral(i), at(uper().features.at(index)), {joined}, training);
    enlarge(lateral(i).path + ".resize", resize(side(i + 1), i), at(uper().joined.at(index + 1)), joined, {joined});
  }
  if (options_.tap_fusion) {
    for (int i = 0; i < last_stage(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      conv_norm_forward(output(i), at(uper().joined.at(index)), {at(uper().parts.at(index))}, training);
    }
    cut_fusion();
    normalize(fusion(), {at(uper().fusion_output)}, training);
    return;
  }
  for (int i = 0; i <= last_stage(); ++i) {
    const Slice slice = fused_part(uper().fused, i);
    const void* map = at(uper().joined.at(static_cast<std::size_t>(i)));
    if (i < last_stage()) {
      conv_norm_forward(output(i), map, i == 0 ? slice : Slice{at(uper().wide)}, training);
      map = at(uper().wide);
    }
    if (i > 0) enlarge(part_path(i) + ".resize", resize(side(i), 0), map, nullptr, slice);
  }
  conv_norm_forward(fusion(), at(uper().fused), {at(uper().fusion_output)}, training);
}

void TrainingBuilder::uper_answers() {
  const UpsampleShape shape = logits_resize(0);
  const void* const logits = at(uper().logits);
  auto* const answers = static_cast<std::uint8_t*>(at(layout_.predicted));
  step("answer", OperationClass::kOther, upsample_argmax_cost(shape, element_),
       {batch_, shape.height, shape.width, shape.channels}, {batch_, config_.image_size, config_.image_size},
       [=, type = type_](cuda::Stream stream) { cuda::upsample_argmax(shape, type, logits, answers, stream); });
}

// Training: main and auxiliary loss of all ranks, and what a pixel's gradient is multiplied with. Else this rank's sums
// and answers.
void TrainingBuilder::uper_loss(bool training) {
  DeviceControl* const control = this->control();
  pixel_loss("loss", 0, uper().logits, uper().lse, &control->sums);
  if (!training) {
    uper_answers();
    return;
  }
  step("loss.clear", OperationClass::kOther, {}, {}, {},
       [=](cuda::Stream stream) { cuda::clear(&control->auxiliary, sizeof(cuda::LossSums), stream); });
  pixel_loss("loss.aux", last_stage() - 1, uper().auxiliary_logits, uper().auxiliary_lse, &control->auxiliary);
  step("loss.sum", OperationClass::kLoss, {}, {}, {},
       [=](cuda::Stream stream) { cuda::add_loss(kAuxiliaryWeight, &control->auxiliary, &control->sums, stream); });
  if (options_.ranks != nullptr) {
    step("loss.allreduce", OperationClass::kCommunication, {0, 32, 32}, {4}, {4},
         [=, ranks = options_.ranks](cuda::Stream stream) {
           ranks->all_reduce_sum(&control->sums.loss, 1, ReduceType::kFp64, stream);
           ranks->all_reduce_sum(&control->sums.count, 3, ReduceType::kInt64, stream);  // and who wants to stop
         });
  }
  step("loss.scale", OperationClass::kLoss, {}, {}, {}, [=](cuda::Stream stream) {
    cuda::pixel_loss_scale(&control->sums, &control->state.loss_scale, &control->pixel_scale, stream);
  });
}

void TrainingBuilder::pixel_loss(const char* path, int stage, const Region& logits, const Region& lse,
                                 cuda::LossSums* sums) {
  const UpsampleShape shape = logits_resize(stage);
  cuda::PixelLossTensors tensors;
  tensors.logits = at(logits);
  tensors.labels = static_cast<const std::uint8_t*>(at(layout_.labels));
  tensors.lse = floats(lse);
  tensors.sums = sums;
  tensors.workspace = workspace();
  step(path, OperationClass::kLoss, upsample_loss_forward_cost(shape, element_),
       {batch_, shape.height, shape.width, shape.channels}, {batch_, shape.out_height, shape.out_width},
       [=, type = type_](cuda::Stream stream) { cuda::upsample_loss_forward(shape, type, tensors, stream); });
}

void TrainingBuilder::conv_norm_forward(const ConvNorm& conv, const void* x, const Slice& y, bool training) {
  convolve(conv.path + ".conv", conv.shape, x, value(conv.parameters + ".0.weight"), at(conv.regions.convolved));
  normalize(conv, y, training);
}

void TrainingBuilder::convolve(const std::string& path, const ConvolutionShape& shape, const void* x,
                               const void* weight, void* y) {
  cuda::ConvolutionProblem problem;
  problem.shape = shape;
  problem.operand_type = problem.result_type = type_;
  problem.tf32 = options_.precision == Precision::kTf32;
  const cuda::Convolution& convolution = options_.prepare_convolution(problem);
  step(path, OperationClass::kConv, convolution_forward_cost(shape, false, element_),
       {batch_, shape.height, shape.width, shape.inputs}, {batch_, shape.height, shape.width, shape.outputs},
       [=, &convolution](cuda::Stream stream) { convolution.run(x, weight, y, stream); });
}

// What was convolved.
void TrainingBuilder::normalize(const ConvNorm& conv, const Slice& y, bool training) {
  if (!inferring_) statistics(conv, training);
  cuda::BatchNormTensors tensors;
  tensors.x = at(conv.regions.convolved);
  tensors.statistics = floats(conv.regions.statistics);
  tensors.gamma = value(conv.parameters + ".1.weight");
  tensors.beta = value(conv.parameters + ".1.bias");
  tensors.relu = true;
  tensors.y = y.data;
  tensors.y_stride = y.stride;
  const ShapeExtents extents = {batch_, conv.shape.height, conv.shape.width, conv.shape.outputs};
  step(conv.path + ".norm", OperationClass::kNorm, batchnorm_forward_cost(conv.norm(), element_), extents, extents,
       [=, norm = conv.norm(), type = type_](cuda::Stream stream) {
         cuda::batchnorm_forward(norm, type, tensors, stream);
       });
}

// Of the batch of all ranks, or the running ones.
void TrainingBuilder::statistics(const ConvNorm& conv, bool training) {
  const BatchNormShape norm = conv.norm();
  const std::int64_t size = options_.ranks == nullptr ? 1 : options_.ranks->size();
  const std::int64_t rank = options_.ranks == nullptr ? 0 : options_.ranks->rank();
  const std::int64_t count = norm.sum_elements();
  float* const all = floats(uper().moments);
  float* const own = all + rank * count;
  float* const statistics = floats(conv.regions.statistics);
  const auto buffer = [&](const char* name) {
    return floats(uper().running) + parameters_.find_buffer(conv.parameters + name).offset;
  };
  float* const mean = buffer(".1.running_mean");
  float* const variance = buffer(".1.running_var");
  const ShapeExtents extents = {norm.rows, norm.channels};
  const void* const x = at(conv.regions.convolved);
  void* const workspace = this->workspace();
  if (!training) {
    step(conv.path + ".sums", OperationClass::kNorm, {0, 2 * norm.channels * 4, count * 4}, extents, {norm.channels},
         [=](cuda::Stream stream) { cuda::batchnorm_running(norm, mean, variance, statistics, stream); });
    return;
  }
  // A sum over the ranks of what only one of them has: all get everyone's moments.
  step(conv.path + ".sums", OperationClass::kNorm, batchnorm_sums_cost(norm, element_), extents, {norm.channels},
       [=, type = type_](cuda::Stream stream) {
         if (size > 1) cuda::clear(all, size * count * 4, stream);
         cuda::batchnorm_moments(norm, type, x, own, workspace, stream);
       });
  if (size > 1) {
    step(conv.path + ".allreduce", OperationClass::kCommunication, {0, size * count * 4, size * count * 4},
         {size * count}, {size * count}, [=, ranks = options_.ranks](cuda::Stream stream) {
           ranks->all_reduce_sum(all, size * count, ReduceType::kFp32, stream);
         });
  }
  step(conv.path + ".statistics", OperationClass::kNorm, {0, size * count * 4, count * 4}, {size * count}, {count},
       [=](cuda::Stream stream) { cuda::batchnorm_statistics(norm, all, size, statistics, mean, variance, stream); });
}

// Also between maps of one size: then it copies into a part of a wider one.
void TrainingBuilder::enlarge(const std::string& path, const UpsampleShape& shape, const void* x, const void* addend,
                              const Slice& y) {
  const cuda::UpsampleTensors tensors{x, addend, y.data, y.stride};
  step(path, OperationClass::kElementwise, upsample_forward_cost(shape, addend != nullptr, element_),
       {shape.batch, shape.height, shape.width, shape.channels},
       {shape.batch, shape.out_height, shape.out_width, shape.channels},
       [=, type = type_](cuda::Stream stream) { cuda::upsample_forward(shape, type, tensors, stream); });
}

}  // namespace swinscope
