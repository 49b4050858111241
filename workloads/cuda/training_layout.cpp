#include "workloads/cuda/training_layout.h"

#include <algorithm>

#include "kernels/bias.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/gradient_buckets.h"

namespace swinscope {
namespace {

constexpr std::int64_t kAlignment = 256;

std::int64_t stage_tokens(const StageShape& shape, std::int64_t batch) {
  return batch * shape.resolution * shape.resolution;
}

}  // namespace

std::vector<BlockPlace> blocks_of(const SwinConfig& config) {
  std::vector<BlockPlace> places;
  for (int stage = 0; stage < config.stages; ++stage) {
    for (int index = 0; index < stage_shape(config, stage).depth; ++index)
      places.push_back({stage, index, static_cast<int>(places.size())});
  }
  return places;
}

WindowAttentionShape attention_shape(const SwinConfig& config, const BlockPlace& place, std::int64_t batch) {
  const StageShape shape = stage_shape(config, place.stage);
  const std::int64_t shift = place.index % 2 == 0 ? 0 : shape.shift;
  return {{batch, {shape.resolution, shape.resolution}, {shape.window, shape.window}, {shift, shift}},
          shape.heads,
          shape.width / shape.heads,
          config.version == SwinVersion::kV1 ? AttentionScore::kScaledDot : AttentionScore::kCosine};
}

std::int64_t attention_rows(const WindowGrid& grid, bool window_copies) {
  return window_copies ? grid.window_count() * grid.window_tokens() : grid.tokens();
}

TrainingLayout::TrainingLayout(const SwinConfig& config, std::int64_t batch, const TrainingLayoutOptions& options)
    : batch_(batch), options_(options), element_(element_bytes(options.type)) {
  place_parameters(ParameterLayout(config).flat_count());
  const StageShape first = stage_shape(config, 0);
  const bool segments = config.task == Task::kSegmentation;
  const std::int64_t pixels = batch * config.image_size * config.image_size;
  images = elements(pixels * kImageChannels);
  const std::int64_t label_bytes = segments ? pixels : batch * 4;
  if (!options.inference) labels = take(label_bytes);
  columns = elements(pixels * kImageChannels);
  embedded = elements(stage_tokens(first, batch) * first.width);
  if (options.inference) place_wide(config);
  for (int stage = 0; stage < config.stages; ++stage)
    place_stage(config, stage);
  predicted = take(label_bytes);
  if (!options.inference) control = take(sizeof(DeviceControl));
  if (options.stochastic_depth) depth_scales = floats(2 * static_cast<std::int64_t>(blocks_of(config).size()) * batch);
  if (!options.inference) ones = elements(segments ? stage_tokens(first, batch) : batch);
  if (segments) {
    place_uper(config);
  } else {
    place_classifier(config);
  }
  place_scratch(config);
}

void TrainingLayout::place_classifier(const SwinConfig& config) {
  const StageShape last = stage_shape(config, config.stages - 1);
  normalized = elements(stage_tokens(last, batch_) * last.width);
  pooled = elements(batch_ * last.width);
  logits = elements(batch_ * config.classes);
  row_loss = floats(batch_);
  loss_lse = floats(batch_);
  logits_gradient = elements(batch_ * config.classes);
  pooled_gradient = elements(batch_ * last.width);
}

Region TrainingLayout::take(std::int64_t bytes) {
  const Region region{bytes_, bytes};
  bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  regions_.push_back(region);
  return region;
}

void TrainingLayout::place_parameters(std::int64_t count) {
  masters = floats(count);
  if (options_.type != ElementType::kFp32) copies = elements(count);
  if (options_.inference) return;
  const ElementType reduced = options_.reduce_type;
  const std::int64_t sums = options_.reduce_by_copies ? padded_gradients(count, options_.ranks, reduced) : count;
  gradients = floats(sums);
  if (reduced != ElementType::kFp32) rounded_gradients = take(sums * element_bytes(reduced));
  first_moments = floats(count);
  second_moments = floats(count);
}

void TrainingLayout::place_stage(const SwinConfig& config, int stage) {
  const StageShape shape = stage_shape(config, stage);
  const std::int64_t tokens = stage_tokens(shape, batch_);
  StageRegions regions;
  regions.input = elements(tokens * shape.width);
  BlockRegions shared;
  const bool shares = options_.recompute || options_.inference;
  if (shares) shared = place_activations(config, stage);
  for (const BlockPlace& place : blocks_of(config)) {
    if (place.stage != stage) continue;
    BlockRegions block = shares ? shared : place_activations(config, stage);
    place_kept(config, place, block);
    if (options_.inference) {
      // A block's input is read until its `middle` is there, and so its output may take the same place.
      block.out = place.index > 0 ? regions.blocks.front().out : elements(tokens * shape.width);
    }
    regions.blocks.push_back(block);
  }
  if (stage + 1 < config.stages) {
    const std::int64_t rows = tokens / 4;
    const bool gathers = config.version == SwinVersion::kV1 && options_.gathering_norm;
    if (!gathers) regions.merged = elements(rows * 4 * shape.width);
    if (config.version == SwinVersion::kV1) {
      regions.merged_normalized = elements(rows * 4 * shape.width);
    } else {
      regions.reduced = elements(rows * 2 * shape.width);
    }
  }
  stages.push_back(std::move(regions));
}

void TrainingLayout::place_kept(const SwinConfig& config, const BlockPlace& place, BlockRegions& block) {
  const StageShape shape = stage_shape(config, place.stage);
  const WindowAttentionShape attention = attention_shape(config, place, batch_);
  const std::int64_t area = attention.grid.window_tokens();
  block.bias = options_.attention_steps ? floats(shape.heads * area * area)
                                        : take(cuda::attention_bias_bytes(attention, options_.type));
  if (!options_.inference) block.out = elements(stage_tokens(shape, batch_) * shape.width);
  if (config.version == SwinVersion::kV1) return;
  block.table = floats(bias_table_rows(attention.grid.window) * shape.heads);
  block.joint_bias = elements(std::int64_t{3} * shape.width);
}

BlockRegions TrainingLayout::place_activations(const SwinConfig& config, int stage) {
  const StageShape shape = stage_shape(config, stage);
  const std::int64_t tokens = stage_tokens(shape, batch_);
  const std::int64_t count = tokens * shape.width;
  BlockRegions block;
  block.norm1_side = elements(count);
  place_attention(config, stage, block);
  block.middle = elements(count);
  if (options_.inference) {
    block.norm2_side = block.norm1_side;
    block.hidden = block.activated = wide;
    return block;
  }
  block.norm2_side = elements(count);
  block.hidden = elements(kMlpRatio * count);
  block.activated = elements(kMlpRatio * count);
  return block;
}

void TrainingLayout::place_attention(const SwinConfig& config, int stage, BlockRegions& block) {
  const WindowAttentionShape shape = attention_shape(config, {stage, 0, 0}, batch_);
  const std::int64_t rows = attention_rows(shape.grid, options_.window_copies);
  if (options_.window_copies) block.windows = elements(rows * shape.channels());
  block.attended = elements(rows * shape.channels());
  if (!options_.attention_steps) {
    block.qkv = options_.inference ? wide : elements(rows * 3 * shape.channels());
    if (!options_.inference) block.lse = floats(rows * shape.heads);
    return;
  }
  const AttentionStepSizes sizes(shape);
  block.heads = elements(3 * sizes.part);
  if (config.version == SwinVersion::kV2) {
    block.norms = floats(2 * sizes.norms);
    block.cosines = floats(sizes.scores);
  }
  block.probabilities = elements(sizes.scores);
}

void TrainingLayout::place_attention_scratch(const SwinConfig& config) {
  std::int64_t parts = 0;
  std::int64_t score_count = 0;
  for (int stage = 0; stage < config.stages; ++stage) {
    const AttentionStepSizes sizes(attention_shape(config, {stage, 0, 0}, batch_));
    parts = std::max(parts, 4 * sizes.part);
    score_count = std::max(score_count, sizes.scores);
  }
  scores = floats(score_count);
  const bool apart = options_.type != ElementType::kFp32 && !options_.inference;
  rounded_scores = apart ? elements(score_count) : scores;
  head_gradients = elements(parts);
}

// Elements of the largest [R, C].
std::int64_t TrainingLayout::widest_rows(const SwinConfig& config) const {
  std::int64_t count = 0;
  for (int stage = 0; stage < config.stages; ++stage) {
    const WindowAttentionShape shape = attention_shape(config, {stage, 0, 0}, batch_);
    count = std::max(count, attention_rows(shape.grid, options_.window_copies) * shape.channels());
  }
  return count;
}

void TrainingLayout::place_wide(const SwinConfig& config) {
  const StageShape first = stage_shape(config, 0);
  // Each stage has half as many elements as the one before it.
  const std::int64_t count = stage_tokens(first, batch_) * first.width;
  wide = elements(std::max(kMlpRatio * count, 3 * widest_rows(config)));
}

void TrainingLayout::place_scratch(const SwinConfig& config) {
  const std::int64_t rows_count = widest_rows(config);
  side = elements(rows_count);
  token = elements(rows_count);
  if (options_.attention_steps) place_attention_scratch(config);
  if (!options_.inference) place_backward_scratch(config);
}

void TrainingLayout::place_backward_scratch(const SwinConfig& config) {
  const StageShape first = stage_shape(config, 0);
  const StageShape last = stage_shape(config, config.stages - 1);
  for (Region& stream : streams)
    stream = elements(stage_tokens(first, batch_) * first.width);
  place_wide(config);
  if (config.version == SwinVersion::kV2) {
    std::int64_t rows = 0;
    for (const BlockPlace& place : blocks_of(config)) {
      const WindowAttentionShape shape = attention_shape(config, place, batch_);
      rows = std::max(rows, bias_table_rows(shape.grid.window) * shape.heads);
    }
    table_gradient = floats(rows);
    bias_gradient = floats(std::int64_t{3} * last.width);
  }
  workspace = take(workspace_bytes(config));
}

std::int64_t TrainingLayout::workspace_bytes(const SwinConfig& config) const {
  std::int64_t bytes = 0;
  const auto norm = [&](std::int64_t rows, std::int64_t channels) {
    bytes = std::max(bytes, cuda::layernorm_backward_workspace_bytes({rows, channels}));
  };
  for (const BlockPlace& place : blocks_of(config)) {
    const StageShape shape = stage_shape(config, place.stage);
    const std::int64_t tokens = stage_tokens(shape, batch_);
    const WindowAttentionShape attention = attention_shape(config, place, batch_);
    const auto order = options_.window_copies ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage;
    norm(tokens, shape.width);
    if (place.stage + 1 < config.stages)
      norm(tokens / 4, std::int64_t{config.version == SwinVersion::kV1 ? 4 : 2} * shape.width);
    bytes = std::max({bytes, cuda::bias_backward_workspace_bytes({tokens, std::int64_t{kMlpRatio} * shape.width}),
                      cuda::bias_backward_workspace_bytes({tokens, shape.width}),
                      cuda::gelu_backward_workspace_bytes({tokens, std::int64_t{kMlpRatio} * shape.width}),
                      options_.attention_steps
                          ? attention_steps_workspace_bytes(attention, order)
                          : cuda::attention_backward_workspace_bytes(attention, options_.type, order)});
  }
  if (config.task == Task::kSegmentation) return std::max(bytes, uper_workspace_bytes(config));
  return std::max(bytes, cuda::bias_backward_workspace_bytes({batch_, config.classes}));
}

}  // namespace swinscope
