// Where a segmentation trainer's images and labels come from.
#pragma once

#include <cstdint>
#include <span>

namespace swinscope {

class SegmentationData {
 public:
  SegmentationData() = default;
  virtual ~SegmentationData() = default;
  SegmentationData(const SegmentationData&) = delete;
  SegmentationData& operator=(const SegmentationData&) = delete;
  SegmentationData(SegmentationData&&) = delete;
  SegmentationData& operator=(SegmentationData&&) = delete;

  // Fills images [n, 3, size, size] and labels [n, size, size] with the samples first, first + 1, ..., numbered as
  // TrainingData's. What is not a sample has no label but kIgnoredLabel. Throws WorkloadError when there is nothing to
  // read.
  virtual void load(std::int64_t first, std::span<float> images, std::span<std::uint8_t> labels) = 0;
  // Time that load() has waited so far for samples that others make ready. What it makes or copies itself is no wait.
  virtual std::int64_t waited_ns() const { return 0; }
};

}  // namespace swinscope
