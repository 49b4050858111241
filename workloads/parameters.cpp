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
  const std::int64_t width = stage_shape(config, config.stages - 1).width;
  add_norm("norm", width);
  add("head.fc.weight", {config.classes, width}, true);
  add("head.fc.bias", {config.classes}, false);
  place();
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
  for (auto tensor = tensors_.rbegin(); tensor != tensors_.rend(); ++tensor) {
    tensor->offset = flat_count_;
    flat_count_ += (tensor->count + kAlignment - 1) / kAlignment * kAlignment;
  }
}

const ParameterInfo& ParameterLayout::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) throw std::out_of_range("no parameter named " + std::string(name));
  return tensors_[found->second];
}

template <typename T>
ParameterStore<T>::ParameterStore(const SwinConfig& config, bool with_gradients)
    : layout_(config),
      values_(static_cast<std::size_t>(layout_.flat_count())),
      gradients_(with_gradients ? static_cast<std::size_t>(layout_.flat_count()) : 0) {}

template <typename T>
void ParameterStore<T>::clear_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), T{0});
}

template class ParameterStore<float>;
template class ParameterStore<double>;

}  // namespace swinscope
