// Where a trainer's images come from.
#pragma once

#include <cstdint>
#include <span>

namespace swinscope {

class TrainingData {
 public:
  TrainingData() = default;
  virtual ~TrainingData() = default;
  TrainingData(const TrainingData&) = delete;
  TrainingData& operator=(const TrainingData&) = delete;
  TrainingData(TrainingData&&) = delete;
  TrainingData& operator=(TrainingData&&) = delete;

  // Fills images [labels.size(), 3, size, size] and labels with the samples first, first + 1, ... Samples are numbered
  // through the whole training and over all ranks. A label of -1: not a sample, whatever the image holds. Some data can
  // be read in the order of training only, which the trainer keeps. Throws WorkloadError when there is nothing to read.
  virtual void load(std::int64_t first, std::span<float> images, std::span<std::int32_t> labels) = 0;
  virtual void load(std::int64_t first, std::span<double> images, std::span<std::int32_t> labels) = 0;
  // Time that load() has waited so far for samples that others make ready. What it makes or copies itself is no wait.
  virtual std::int64_t waited_ns() const { return 0; }
};

}  // namespace swinscope
