#include "workloads/parameters.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace swinscope {

ParameterLayout::ParameterLayout(const SwinConfig& config) {
  const std::int64_t embed = config.embed_dim;
  add("patch_embed.proj.weight", {embed, kImageChannels, kPatchSize, kPatchSize}, true);
  add("patch_embed.proj.bias", {embed}, false);
  add_norm("patch_embed.norm", embed);
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    const std::string prefix = fmt::format("layers.{}", stage);
    if (stage > 0) add_merging(config, shape.width, prefix + ".downsample");
    for (int block = 0; block < shape.depth; ++block) {
      add_block(config, shape, fmt::format("{}.blocks.{}", prefix, block));
    }
  }
  if (config.task == Task::kSegmentation) {
    add_segmentation_head(config);
  } else {
    add_classifier(config);
  }
  place();
}

void ParameterLayout::add_classifier(const SwinConfig& config) {
  const std::int64_t width = stage_shape(config, config.stages - 1).width;
  add_norm("norm", width);
  add("head.fc.weight", {config.classes, width}, true);
  add("head.fc.bias", {config.classes}, false);
}

// See uper_head.h for what they are.
void ParameterLayout::add_segmentation_head(const SwinConfig& config) {
  const std::int64_t channels = config.head_channels;
  const int last = config.stages - 1;
  const auto width = [&](int stage) { return std::int64_t{stage_shape(config, stage).width}; };
  for (int stage = 0; stage <= last; ++stage)
    add_norm(fmt::format("norm{}", stage), width(stage));
  for (std::size_t level = 0; level < kPyramidSides.size(); ++level)
    add_conv_norm(fmt::format("h.ppm.{}.1", level), width(last), channels, 1);
  add_conv_norm("h.bott", width(last) + static_cast<std::int64_t>(kPyramidSides.size()) * channels, channels, 3);
  for (int stage = 0; stage < last; ++stage)
    add_conv_norm(fmt::format("h.lat.{}", stage), width(stage), channels, 1);
  for (int stage = 0; stage < last; ++stage)
    add_conv_norm(fmt::format("h.fpn.{}", stage), channels, channels, 3);
  add_conv_norm("h.fuse", config.stages * channels, channels, 3);
  add("h.cls.weight", {config.classes, channels}, true);
  add("h.cls.bias", {config.classes}, false);
  add_conv_norm("h.aux.0", width(last - 1), channels / 2, 3);
  add("h.aux.1.weight", {config.classes, channels / 2}, true);
  add("h.aux.1.bias", {config.classes}, false);
}

// The weight as convolution.h has it: torch's in memory format channels_last.
void ParameterLayout::add_conv_norm(const std::string& prefix, std::int64_t inputs, std::int64_t outputs,
                                    std::int64_t kernel) {
  add(prefix + ".0.weight", {outputs, kernel, kernel, inputs}, true);
  add_norm(prefix + ".1", outputs);
  add_buffer(prefix + ".1.running_mean", outputs);
  add_buffer(prefix + ".1.running_var", outputs);
}

void ParameterLayout::add_buffer(std::string name, std::int64_t count) {
  buffers_.push_back({std::move(name), {count}, count, buffer_count_, false});
  buffer_count_ += count;
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape, bool decays) {
  ParameterInfo tensor;
  tensor.count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.decays = decays;
  index_.emplace(tensor.name, tensors_.size());
  tensors_.push_back(std::move(tensor));
}

void ParameterLayout::add_norm(const std::string& prefix, std::int64_t channels) {
  add(prefix + ".weight", {channels}, false);
  add(prefix + ".bias", {channels}, false);
}

// The order inside a block is timm's: V1 normalizes before the attention, V2 after it.
void ParameterLayout::add_block(const SwinConfig& config, const StageShape& shape, const std::string& prefix) {
  const std::int64_t width = shape.width;
  const bool pre_norm = config.version == SwinVersion::kV1;
  if (pre_norm) add_norm(prefix + ".norm1", width);
  add_attention(config, shape, prefix + ".attn");
  add_norm(prefix + (pre_norm ? ".norm2" : ".norm1"), width);
  add(prefix + ".mlp.fc1.weight", {kMlpRatio * width, width}, true);
  add(prefix + ".mlp.fc1.bias", {kMlpRatio * width}, false);
  add(prefix + ".mlp.fc2.weight", {width, kMlpRatio * width}, true);
  add(prefix + ".mlp.fc2.bias", {width}, false);
  if (!pre_norm) add_norm(prefix + ".norm2", width);
}

void ParameterLayout::add_attention(const SwinConfig& config, const StageShape& shape, const std::string& prefix) {
  const std::int64_t width = shape.width;
  const std::int64_t heads = shape.heads;
  if (config.version == SwinVersion::kV1) {
    const std::int64_t side = 2 * shape.window - 1;
    add(prefix + ".relative_position_bias_table", {side * side, heads}, false);
    add(prefix + ".qkv.weight", {3 * width, width}, true);
    add(prefix + ".qkv.bias", {3 * width}, false);
  } else {
    add(prefix + ".logit_scale", {heads, 1, 1}, false);
    add(prefix + ".q_bias", {width}, false);
    add(prefix + ".v_bias", {width}, false);
    add(prefix + ".cpb_mlp.0.weight", {kCpbHidden, 2}, false);
    add(prefix + ".cpb_mlp.0.bias", {kCpbHidden}, false);
    add(prefix + ".cpb_mlp.2.weight", {heads, kCpbHidden}, false);
    add(prefix + ".qkv.weight", {3 * width, width}, true);
  }
  add(prefix + ".proj.weight", {width, width}, true);
  add(prefix + ".proj.bias", {width}, false);
}

// `width` is that of the stage which the merging leads to.
void ParameterLayout::add_merging(const SwinConfig& config, std::int64_t width, const std::string& prefix) {
  const std::int64_t gathered = 2 * width;
  const bool pre_norm = config.version == SwinVersion::kV1;
  if (pre_norm) add_norm(prefix + ".norm", gathered);
  add(prefix + ".reduction.weight", {width, gathered}, true);
  if (!pre_norm) add_norm(prefix + ".norm", width);
}

void ParameterLayout::place() {
  std::for_each(tensors_.rbegin(), tensors_.rend(), [this](ParameterInfo& tensor) {
    tensor.offset = flat_count_;
    flat_count_ += (tensor.count + kAlignment - 1) / kAlignment * kAlignment;
  });
}

const ParameterInfo& ParameterLayout::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) throw std::out_of_range("no parameter named " + std::string(name));
  return tensors_[found->second];
}

const ParameterInfo& ParameterLayout::find_buffer(std::string_view name) const {
  const auto found = std::ranges::find(buffers_, name, &ParameterInfo::name);
  if (found == buffers_.end()) throw std::out_of_range("no buffer named " + std::string(name));
  return *found;
}

template <typename T>
ParameterStore<T>::ParameterStore(const SwinConfig& config, bool with_gradients)
    : layout_(config),
      values_(static_cast<std::size_t>(layout_.flat_count())),
      gradients_(with_gradients ? static_cast<std::size_t>(layout_.flat_count()) : 0),
      buffers_(static_cast<std::size_t>(layout_.buffer_count())) {}

template <typename T>
void ParameterStore<T>::clear_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), T{0});
}

template class ParameterStore<float>;
template class ParameterStore<double>;

}  // namespace swinscope
