#include "workloads/data/advancing_data.h"

#include <utility>

namespace swinscope {
namespace {

class AdvancingData : public TrainingData {
 public:
  AdvancingData(std::unique_ptr<TrainingData> data, Communicator& communicator)
      : data_(std::move(data)), communicator_(communicator) {}
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    communicator_.advance();
    data_->load(first, images, labels);
  }
  void load(std::int64_t first, std::span<double> images, const Labels& labels) override {
    communicator_.advance();
    data_->load(first, images, labels);
  }
  std::int64_t waited_ns() const override { return data_->waited_ns(); }

 private:
  std::unique_ptr<TrainingData> data_;
  Communicator& communicator_;
};

}  // namespace

std::unique_ptr<TrainingData> advancing(std::unique_ptr<TrainingData> data, Communicator& communicator) {
  return std::make_unique<AdvancingData>(std::move(data), communicator);
}

}  // namespace swinscope
