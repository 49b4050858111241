#include "workloads/program/scene_gradients.h"

#include "workloads/program/training_engine.h"

namespace swinscope {

void RememberedScenes::load(std::int64_t first, std::span<float> images, const Labels& labels) {
  data_.load(first, images, labels);
  images_.assign(images.begin(), images.end());
  labels_.assign(labels.pixels().begin(), labels.pixels().end());
}

void write_scene_gradients(const std::filesystem::path& file, const SwinConfig& config, const ParameterLayout& layout,
                           std::span<const float> gradients, std::span<const float> images,
                           std::span<const std::uint8_t> labels) {
  const std::int64_t side = config.image_size;
  const std::int64_t batch = static_cast<std::int64_t>(labels.size()) / (side * side);
  const std::vector<float> classes(labels.begin(), labels.end());
  std::vector<TensorSource> tensors = flat_tensors(layout, gradients);
  tensors.push_back({"batch.images", {batch, kImageChannels, side, side}, images, {}});
  tensors.push_back({"batch.labels", {batch, side, side}, classes, {}});
  write_safetensors(file, tensors, {});
}

}  // namespace swinscope
