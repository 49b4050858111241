// What --gradients writes of a training for segmentation: the gradients, and the batch that they are of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "workloads/parameters.h"
#include "workloads/training_data.h"

namespace swinscope {

// Data that remember their last batch: a device has another one in its memory as soon as it is evaluated.
class RememberedScenes : public TrainingData {
 public:
  // `data` must outlive this.
  explicit RememberedScenes(TrainingData& data) : data_(data) {}

  using TrainingData::load;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override;

  std::span<const float> images() const { return images_; }
  std::span<const std::uint8_t> labels() const { return labels_; }

 private:
  TrainingData& data_;
  std::vector<float> images_;
  std::vector<std::uint8_t> labels_;
};

// Gradients (in the layout's order) under the parameters' names, batch.images [batch, 3, size, size] and batch.labels
// [batch, size, size], as floats. Throws as write_safetensors().
void write_scene_gradients(const std::filesystem::path& file, const SwinConfig& config, const ParameterLayout& layout,
                           std::span<const float> gradients, std::span<const float> images,
                           std::span<const std::uint8_t> labels);

}  // namespace swinscope
