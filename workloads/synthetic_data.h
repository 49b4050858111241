// Images made from their number alone: deterministic, the same for every number of ranks, and learnable. An image is a
// grating whose direction, wavelength and colours are those of its class, with a phase of its own, under noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/models/model_table.h"
#include "workloads/training_data.h"

namespace swinscope {

class SyntheticData : public TrainingData {
 public:
  // `size`: number of different images; numbers wrap around.
  SyntheticData(const SwinConfig& config, std::int64_t size, std::uint64_t seed);

  std::int64_t size() const { return size_; }
  std::int32_t label(std::int64_t number) const;

  // Images [count, 3, size, size], of mean 0 and standard deviation about 1, and their labels, for the numbers first,
  // first + 1, ... T is float or double; count is labels.size().
  template <typename T>
  void fill(std::int64_t first, std::span<T> images, std::span<std::int32_t> labels) const;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    fill<float>(first, images, labels.classes());
  }
  void load(std::int64_t first, std::span<double> images, const Labels& labels) override {
    fill<double>(first, images, labels.classes());
  }

 private:
  // One of the class's gratings: wave numbers in cycles per image, and the weight of each colour.
  struct Grating {
    double horizontal = 0.0;
    double vertical = 0.0;
    double colours[kImageChannels] = {};
  };

  template <typename T>
  void draw(std::int64_t number, T* image) const;

  std::int64_t image_size_;
  std::int64_t size_;
  std::uint64_t seed_;
  std::vector<Grating> classes_;
};

}  // namespace swinscope
