// The part of TrainingLayout that is UPerNet's head.
#include <algorithm>

#include "kernels/batchnorm.h"
#include "kernels/bias.h"
#include "kernels/upsample_loss.h"
#include "workloads/cuda/training_layout.h"

namespace swinscope {
namespace {

std::int64_t stage_pixels(const SwinConfig& config, int stage, std::int64_t batch) {
  const std::int64_t side = stage_shape(config, stage).resolution;
  return batch * side * side;
}

}  // namespace

// Without a backward pass what was convolved is read at once, so that all have one place.
ConvNormRegions TrainingLayout::place_conv_norm(std::int64_t pixels, std::int64_t channels) {
  const Region convolved = options_.inference ? uper.fusion.convolved : elements(pixels * channels);
  return {convolved, floats(BatchNormShape{.rows = pixels, .channels = channels}.sum_elements())};
}

void TrainingLayout::place_uper(const SwinConfig& config) {
  const std::int64_t d = config.head_channels;
  const int last = config.stages - 1;
  const std::int64_t width = stage_shape(config, last).width;
  const auto pixels = [&](int stage) { return stage_pixels(config, stage, batch_); };
  if (options_.inference) {
    uper.fusion.convolved = elements(widest_map(config));
    uper.wide = elements(widest_map(config));
  }
  for (int i = 0; i <= last; ++i)
    uper.features.push_back(elements(pixels(i) * stage_shape(config, i).width));
  for (const std::int64_t grid : kPyramidSides) {
    uper.pooled.push_back(elements(batch_ * grid * grid * width));
    uper.levels.push_back(place_conv_norm(batch_ * grid * grid, d));
  }
  uper.pyramid = elements(pixels(last) * (width + static_cast<std::int64_t>(kPyramidSides.size()) * d));
  uper.bottleneck = place_conv_norm(pixels(last), d);
  for (int i = 0; i < last; ++i) {
    uper.laterals.push_back(place_conv_norm(pixels(i), d));
    uper.outputs.push_back(place_conv_norm(pixels(i), d));
  }
  for (int i = 0; i <= last; ++i)
    uper.joined.push_back(elements(pixels(i) * d));
  place_fusion(config);
  uper.fusion = place_conv_norm(pixels(0), d);
  uper.fusion_output = elements(pixels(0) * d);
  uper.logits = elements(pixels(0) * config.classes);
  uper.running = floats(ParameterLayout(config).buffer_count());
  if (options_.inference) return;
  uper.auxiliary = place_conv_norm(pixels(last - 1), d / 2);
  uper.auxiliary_output = elements(pixels(last - 1) * d / 2);
  uper.auxiliary_logits = elements(pixels(last - 1) * config.classes);
  const std::int64_t image_pixels = batch_ * config.image_size * config.image_size;
  uper.lse = floats(image_pixels);
  uper.auxiliary_lse = floats(image_pixels);
  uper.moments = floats(options_.ranks * BatchNormShape{.channels = d}.sum_elements());
  place_uper_gradients(config);
}

void TrainingLayout::place_fusion(const SwinConfig& config) {
  const std::int64_t d = config.head_channels;
  if (!options_.tap_fusion) {
    uper.fused = elements(stage_pixels(config, 0, batch_) * config.stages * d);
    return;
  }
  for (int i = 0; i < config.stages; ++i) {
    if (i + 1 < config.stages) uper.parts.push_back(elements(stage_pixels(config, i, batch_) * d));
    uper.packed.push_back(elements(9 * d * d));
  }
  if (!options_.inference) uper.packed_gradient = floats(9 * d * d);
  uper.taps = elements(stage_pixels(config, 1, batch_) * 9 * d);
}

// Elements of the largest output of a ConvNorm.
std::int64_t TrainingLayout::widest_map(const SwinConfig& config) const {
  std::int64_t widest = stage_pixels(config, 0, batch_) * config.head_channels;
  for (const std::int64_t grid : kPyramidSides)  // a grid may be finer than a small map
    widest = std::max(widest, batch_ * grid * grid * config.head_channels);
  return widest;
}

void TrainingLayout::place_uper_gradients(const SwinConfig& config) {
  const std::int64_t d = config.head_channels;
  const int last = config.stages - 1;
  const std::int64_t width = stage_shape(config, last).width;
  std::int64_t narrow = 0;
  for (int i = 0; i <= last; ++i) {
    const std::int64_t pixels = stage_pixels(config, i, batch_);
    const std::int64_t channels = stage_shape(config, i).width;
    uper.feature_gradients.push_back(elements(pixels * channels));
    uper.joined_gradients.push_back(elements(pixels * d));
    narrow = std::max(narrow, pixels * std::max(d, channels));
  }
  for (const std::int64_t grid : kPyramidSides)
    narrow = std::max(narrow, batch_ * grid * grid * width);
  uper.logits_gradient = elements(stage_pixels(config, 0, batch_) * config.classes);
  uper.auxiliary_logits_gradient = elements(stage_pixels(config, last - 1, batch_) * config.classes);
  if (!options_.tap_fusion) uper.fused_gradient = elements(stage_pixels(config, 0, batch_) * config.stages * d);
  uper.pyramid_gradient = elements(uper.pyramid.bytes / element_);
  uper.wide = elements(widest_map(config));
  uper.narrow = elements(narrow);
  uper.convolved_gradient = elements(widest_map(config));
}

std::int64_t TrainingLayout::uper_workspace_bytes(const SwinConfig& config) const {
  const std::int64_t d = config.head_channels;
  std::int64_t bytes = 0;
  for (int i = 0; i < config.stages; ++i) {
    const std::int64_t extent = stage_shape(config, i).resolution;
    const BatchNormShape norm{.rows = batch_ * extent * extent, .channels = d};
    const UpsampleShape resize{batch_, extent, extent, config.image_size, config.image_size, config.classes};
    bytes = std::max({bytes, cuda::batchnorm_workspace_bytes(norm), cuda::upsample_loss_workspace_bytes(resize)});
    if (config.classes % 8 == 0)
      bytes = std::max(bytes, cuda::bias_backward_workspace_bytes({norm.rows, config.classes}));
  }
  for (const std::int64_t grid : kPyramidSides)
    bytes = std::max(bytes, cuda::batchnorm_workspace_bytes({.rows = batch_ * grid * grid, .channels = d}));
  return bytes;
}

}  // namespace swinscope
