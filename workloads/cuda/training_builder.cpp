#include "workloads/cuda/training_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/stochastic_depth.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/element_type.h"

namespace swinscope {

TrainingBuilder::TrainingBuilder(const SwinConfig& config, std::int64_t batch, const TrainingBuildOptions& options,
                                 const TrainingLayout& layout, void* memory, PrepareProduct prepare)
    : config_(config),
      batch_(batch),
      options_(options),
      layout_(layout),
      parameters_(config),
      memory_(memory),
      prepare_(std::move(prepare)),
      type_(element_type_of(options.precision)),
      element_(element_bytes(type_)),
      places_(blocks_of(config)),
      serpentine_(options.features.serpentine) {}

std::vector<DeviceStep> TrainingBuilder::forward(bool training) {
  dropping_ = training && options_.drop_path > 0.0;
  if (dropping_) {
    const cuda::StochasticDepthShape shape{options_.drop_path, static_cast<int>(places_.size()), batch_, options_.seed};
    const cuda::SamplePlace* const place = &static_cast<DeviceControl*>(at(layout_.control))->place;
    float* const scales = floats(layout_.depth_scales);
    const std::int64_t count = 2 * static_cast<std::int64_t>(places_.size()) * batch_;
    step("drop_path", OperationClass::kOther, {0, 0, count * 4}, {}, {count},
         [=](cuda::Stream stream) { cuda::stochastic_depth_scales(shape, place, scales, stream); });
  }
  biases();
  backbone();
  if (segments()) {
    uper_head(training);
  } else {
    head();
    loss_forward(training);
  }
  return std::exchange(steps_, {});
}

InferenceSteps TrainingBuilder::inference(bool answers) {
  dropping_ = false;
  inferring_ = true;
  InferenceSteps steps;
  biases();
  uper_parameters();
  if (options_.features.prebias) steps.once = std::exchange(steps_, {});
  backbone();
  uper_maps(false);
  if (answers) uper_answers();
  steps.pass = std::exchange(steps_, {});
  inferring_ = false;
  return steps;
}

// What is made of parameters alone, and kept for the backward pass. Attention and products begin while the kernels
// before them end, and read their biases at once: those must be finished by then, which the kernel that makes columns
// sees to, as it waits for all before it.
void TrainingBuilder::biases() {
  for (const BlockPlace& place : places_) {
    const Block block = make_block(place);
    qkv_bias(block);
    position_bias(block);
  }
}

void TrainingBuilder::backbone() {
  stem();
  for (const BlockPlace& place : places_) {
    block_forward(make_block(place), false);
    if (place.index + 1 == stage_shape(config_, place.stage).depth && place.stage + 1 < config_.stages) {
      merging(place.stage);
    }
  }
}

BackwardSteps TrainingBuilder::backward(bool accumulate, double row_scale) {
  dropping_ = options_.drop_path > 0.0;
  accumulate_ = accumulate;
  row_scale_ = row_scale;
  std::size_t current = 0;
  if (segments()) {
    uper_head_backward();
  } else {
    head_backward();
  }
  for (std::size_t i = places_.size(); i-- > 0;) {
    const BlockPlace& place = places_[i];
    const Block block = make_block(place);
    block_backward(block, at(layout_.streams[current]));
    if (!block.first || place.stage == 0) continue;
    merging_backward(place.stage - 1, at(layout_.streams[current]), at(layout_.streams[1 - current]));
    current = 1 - current;
    if (segments()) {
      const int stage = place.stage - 1;
      add_feature_gradient(stage, fmt::format("stage{}.feature", stage + 1),
                           at(uper().feature_gradients.at(static_cast<std::size_t>(stage))),
                           at(layout_.streams[current]));
    }
  }
  stem_backward(at(layout_.streams[current]));
  return {std::exchange(steps_, {}), std::exchange(marks_, {})};
}

TrainingBuilder::Block TrainingBuilder::make_block(const BlockPlace& place) const {
  Block block;
  block.place = place;
  block.stage = stage_shape(config_, place.stage);
  const StageRegions& stage = layout_.stages.at(static_cast<std::size_t>(place.stage));
  block.regions = stage.blocks.at(static_cast<std::size_t>(place.index));
  block.parameters = fmt::format("layers.{}.blocks.{}", place.stage, place.index);
  block.path = fmt::format("stage{}.block{}", place.stage + 1, place.index + 1);
  block.attention = attention_shape(config_, place, batch_);
  block.tokens = block.attention.grid.tokens();
  block.rows = attention_rows(block.attention.grid, copies());
  block.first = place.index == 0;
  block.input = block.first ? stage.input : stage.blocks.at(static_cast<std::size_t>(place.index - 1)).out;
  return block;
}

TrainingBuilder::Norm TrainingBuilder::norm1(const Block& block) const {
  return {block.path + ".norm1", block.parameters + ".norm1", {block.tokens, block.stage.width}};
}

TrainingBuilder::Norm TrainingBuilder::norm2(const Block& block) const {
  return {block.path + ".norm2", block.parameters + ".norm2", {block.tokens, block.stage.width}};
}

TrainingBuilder::Linear TrainingBuilder::qkv(const Block& block) const {
  const std::string name = block.parameters + ".attn.qkv";
  const void* const bias = v1() ? value(name + ".bias") : at(block.regions.joint_bias);
  return {block.path + ".attn.qkv",
          name + ".weight",
          block.rows,
          block.stage.width,
          std::int64_t{3} * block.stage.width,
          bias,
          options_.features.qkvbias};
}

TrainingBuilder::Linear TrainingBuilder::projection(const Block& block) const {
  const std::string name = block.parameters + ".attn.proj";
  return {block.path + ".attn.proj", name + ".weight",          block.rows, block.stage.width, block.stage.width,
          value(name + ".bias"),     options_.features.residual};
}

TrainingBuilder::Linear TrainingBuilder::fc1(const Block& block) const {
  const std::string name = block.parameters + ".mlp.fc1";
  return {block.path + ".mlp.fc1",
          name + ".weight",
          block.tokens,
          block.stage.width,
          std::int64_t{kMlpRatio} * block.stage.width,
          value(name + ".bias"),
          options_.features.gelu};
}

TrainingBuilder::Linear TrainingBuilder::fc2(const Block& block) const {
  const std::string name = block.parameters + ".mlp.fc2";
  return {block.path + ".mlp.fc2",
          name + ".weight",
          block.tokens,
          std::int64_t{kMlpRatio} * block.stage.width,
          block.stage.width,
          value(name + ".bias"),
          options_.features.residual};
}

void TrainingBuilder::step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
                           const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run,
                           bool backwards) {
  steps_.push_back(
      {RangeName(path), make_payload(cost, operation_class, options_.precision, input, output), std::move(run)});
  serpentine_.went(backwards);
}

const void* TrainingBuilder::value(const std::string& name) const {
  if (type_ == ElementType::kFp32) return master(name);
  return static_cast<const char*>(at(layout_.copies)) + parameters_.find(name).offset * element_;
}

float* TrainingBuilder::master(const std::string& name) const {
  return floats(layout_.masters) + parameters_.find(name).offset;
}

float* TrainingBuilder::gradient(const std::string& name) const {
  return floats(layout_.gradients) + parameters_.find(name).offset;
}

// The first block of several is never dropped: its probability is 0.
const float* TrainingBuilder::scales(const BlockPlace& place, int half) const {
  if (!dropping_ || (place.number == 0 && places_.size() > 1)) return nullptr;
  return floats(layout_.depth_scales) + (2 * place.number + half) * batch_;
}

void TrainingBuilder::mark(const std::vector<std::string>& names) {
  std::int64_t end = marks_.empty() ? 0 : marks_.back().end;
  for (const std::string& name : names) {
    const ParameterInfo& tensor = parameters_.find(name);
    end = std::max(end, tensor.offset + tensor.count);
  }
  marks_.push_back({steps_.size(), end});
}

}  // namespace swinscope
