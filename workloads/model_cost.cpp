#include "workloads/model_cost.h"

namespace swinscope {
namespace {

std::int64_t matmul_flops(std::int64_t m, std::int64_t n, std::int64_t k) { return 2 * m * n * k; }

std::int64_t block_flops(const StageShape& shape) {
  const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution;
  const std::int64_t window_area = std::int64_t{shape.window} * shape.window;
  const std::int64_t width = shape.width;
  // QK^T and PV, on whole windows: what padding adds is work too.
  const std::int64_t windows = (shape.resolution + shape.window - 1) / shape.window;
  const std::int64_t attention = 2 * matmul_flops(windows * windows * window_area, window_area, width);
  return matmul_flops(tokens, 3 * width, width) + attention + matmul_flops(tokens, width, width) +
         2 * matmul_flops(tokens, kMlpRatio * width, width);
}

std::int64_t block_parameters(const SwinConfig& config, const StageShape& shape) {
  const std::int64_t width = shape.width;
  const std::int64_t norms = 4 * width;
  const std::int64_t projection = width * width + width;
  const std::int64_t mlp = std::int64_t{2} * kMlpRatio * width * width + (kMlpRatio + 1) * width;
  const std::int64_t qkv_weight = 3 * width * width;
  if (config.version == SwinVersion::kV1) {
    const std::int64_t side = 2 * shape.window - 1;
    return norms + qkv_weight + 3 * width + side * side * shape.heads + projection + mlp;
  }
  const std::int64_t position = 2 * kCpbHidden + kCpbHidden + kCpbHidden * shape.heads;
  return norms + qkv_weight + 2 * width + shape.heads + position + projection + mlp;
}

PartCost merging(const SwinConfig& config, const StageShape& shape) {
  const std::int64_t width = shape.width;
  const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution / 4;
  // V1 normalizes the gathered 4C channels, V2 the 2C that come out.
  const std::int64_t norm = config.version == SwinVersion::kV1 ? 8 * width : 4 * width;
  return {matmul_flops(tokens, 2 * width, 4 * width), norm + 8 * width * width};
}

// Convolution without bias and the weight and bias of the batch normalization behind it.
PartCost conv_norm(std::int64_t pixels, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel) {
  const std::int64_t weight = kernel * kernel * inputs * outputs;
  return {matmul_flops(pixels, outputs, kernel * kernel * inputs), weight + 2 * outputs};
}

// uper_head.h.
PartCost auxiliary_head(const SwinConfig& config) {
  const StageShape stage = stage_shape(config, config.stages - 2);
  const std::int64_t channels = config.head_channels / 2;
  const std::int64_t pixels = std::int64_t{stage.resolution} * stage.resolution;
  PartCost sum = conv_norm(pixels, stage.width, channels, 3);
  sum.flops += matmul_flops(pixels, config.classes, channels);
  sum.parameters += (channels + 1) * config.classes;
  return sum;
}

PartCost segmentation_head(const SwinConfig& config) {
  const std::int64_t d = config.head_channels;
  const int last = config.stages - 1;
  const auto width = [&](int stage) { return std::int64_t{stage_shape(config, stage).width}; };
  const auto pixels = [&](int stage) {
    const std::int64_t side = stage_shape(config, stage).resolution;
    return side * side;
  };
  PartCost sum;
  const auto add = [&sum](const PartCost& part) {
    sum.flops += part.flops;
    sum.parameters += part.parameters;
  };
  for (int stage = 0; stage <= last; ++stage)
    sum.parameters += 2 * width(stage);
  std::int64_t together = width(last);
  for (const int side : kPyramidSides) {
    add(conv_norm(std::int64_t{side} * side, width(last), d, 1));
    together += d;
  }
  add(conv_norm(pixels(last), together, d, 3));
  for (int stage = 0; stage < last; ++stage) {
    add(conv_norm(pixels(stage), width(stage), d, 1));
    add(conv_norm(pixels(stage), d, d, 3));
  }
  add(conv_norm(pixels(0), config.stages * d, d, 3));
  add({matmul_flops(pixels(0), config.classes, d), (d + 1) * config.classes});
  return sum;
}

}  // namespace

std::int64_t ModelCost::flops() const {
  std::int64_t sum = stem.flops + head.flops;
  for (const PartCost& stage : stages)
    sum += stage.flops;
  return sum;
}

// A product has two gradient products.
std::int64_t ModelCost::training_flops() const { return 3 * (flops() + auxiliary.flops); }

std::int64_t ModelCost::parameters() const {
  std::int64_t sum = stem.parameters + head.parameters + auxiliary.parameters;
  for (const PartCost& stage : stages)
    sum += stage.parameters;
  return sum;
}

ModelCost model_cost(const SwinConfig& config) {
  ModelCost cost;
  const StageShape first = stage_shape(config, 0);
  const std::int64_t patch = std::int64_t{kImageChannels} * kPatchSize * kPatchSize;
  const std::int64_t first_tokens = std::int64_t{first.resolution} * first.resolution;
  const std::int64_t width = first.width;
  cost.stem = {matmul_flops(first_tokens, width, patch), patch * width + width + 2 * width};
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    PartCost& part = cost.stages[static_cast<std::size_t>(stage)];
    part = {shape.depth * block_flops(shape), shape.depth * block_parameters(config, shape)};
    if (stage + 1 == config.stages) continue;
    const PartCost merge = merging(config, shape);
    part.flops += merge.flops;
    part.parameters += merge.parameters;
  }
  if (config.task == Task::kSegmentation) {
    cost.head = segmentation_head(config);
    cost.auxiliary = auxiliary_head(config);
    return cost;
  }
  const std::int64_t last = stage_shape(config, config.stages - 1).width;
  cost.head = {matmul_flops(1, config.classes, last), 2 * last + last * config.classes + config.classes};
  return cost;
}

}  // namespace swinscope
