// Where a trainer's images and their labels come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace swinscope {

// Of a batch: [n], the class of each image, or [n, size, size], of each pixel.
class Labels {
 public:
  Labels(std::span<std::int32_t> classes) : labels_(classes) {}               // NOLINT: either is one
  Labels(std::span<std::uint8_t> pixels) : labels_(pixels) {}                 // NOLINT
  Labels(std::vector<std::int32_t>& classes) : Labels(std::span(classes)) {}  // NOLINT
  Labels(std::vector<std::uint8_t>& pixels) : Labels(std::span(pixels)) {}    // NOLINT
  // Throw std::bad_variant_access where they are the others: data of another task.
  std::span<std::int32_t> classes() const { return std::get<0>(labels_); }
  std::span<std::uint8_t> pixels() const { return std::get<1>(labels_); }

 private:
  std::variant<std::span<std::int32_t>, std::span<std::uint8_t>> labels_;
};

class TrainingData {
 public:
  TrainingData() = default;
  virtual ~TrainingData() = default;
  TrainingData(const TrainingData&) = delete;
  TrainingData& operator=(const TrainingData&) = delete;
  TrainingData(TrainingData&&) = delete;
  TrainingData& operator=(TrainingData&&) = delete;

  // Fills images [n, 3, size, size] and labels with the samples first, first + 1, ... Samples are numbered through the
  // whole training and over all ranks. What is not a sample has the label -1, its pixels kIgnoredLabel, whatever the
  // image holds. Some data can be read in the order of training only, which the trainer keeps. Throws WorkloadError
  // when there is nothing to read.
  virtual void load(std::int64_t first, std::span<float> images, const Labels& labels) = 0;
  virtual void load(std::int64_t first, std::span<double> images, const Labels& labels) {
    std::vector<float> values(images.size());
    load(first, std::span(values), labels);
    std::ranges::copy(values, images.begin());
  }
  // Time that load() has waited so far for samples that others make ready. What it makes or copies itself is no wait.
  virtual std::int64_t waited_ns() const { return 0; }
};

}  // namespace swinscope
