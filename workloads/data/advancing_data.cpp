#include "workloads/data/advancing_data.h"

#include <utility>

namespace swinscope {
namespace {

class AdvancingImages : public TrainingData {
 public:
  AdvancingImages(std::unique_ptr<TrainingData> data, Communicator& communicator)
      : data_(std::move(data)), communicator_(communicator) {}
  void load(std::int64_t first, std::span<float> images, std::span<std::int32_t> labels) override {
    communicator_.advance();
    data_->load(first, images, labels);
  }
  void load(std::int64_t first, std::span<double> images, std::span<std::int32_t> labels) override {
    communicator_.advance();
    data_->load(first, images, labels);
  }
  std::int64_t waited_ns() const override { return data_->waited_ns(); }

 private:
  std::unique_ptr<TrainingData> data_;
  Communicator& communicator_;
};

class AdvancingScenes : public SegmentationData {
 public:
  AdvancingScenes(std::unique_ptr<SegmentationData> data, Communicator& communicator)
      : data_(std::move(data)), communicator_(communicator) {}
  void load(std::int64_t first, std::span<float> images, std::span<std::uint8_t> labels) override {
    communicator_.advance();
    data_->load(first, images, labels);
  }
  std::int64_t waited_ns() const override { return data_->waited_ns(); }

 private:
  std::unique_ptr<SegmentationData> data_;
  Communicator& communicator_;
};

}  // namespace

std::unique_ptr<TrainingData> advancing(std::unique_ptr<TrainingData> data, Communicator& communicator) {
  return std::make_unique<AdvancingImages>(std::move(data), communicator);
}

std::unique_ptr<SegmentationData> advancing(std::unique_ptr<SegmentationData> data, Communicator& communicator) {
  return std::make_unique<AdvancingScenes>(std::move(data), communicator);
}

}  // namespace swinscope
