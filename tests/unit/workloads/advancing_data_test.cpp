// A rank that judges for long is not taken for one that hangs: every batch that it loads says that it has come on.
#include "workloads/data/advancing_data.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/data/synthetic_scenes.h"
#include "workloads/evaluator.h"
#include "workloads/initialize.h"
#include "workloads/synthetic_data.h"
#include "workloads/trainer.h"

namespace swinscope {
namespace {

constexpr int kSize = 32;
constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kImages = 5;  // in three batches

class CountingRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce_sum(std::span<float> /*values*/) override {}
  void all_reduce_sum(std::span<double> /*values*/) override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void barrier() override {}
  void advance() noexcept override { ++advances; }

  int advances = 0;
};

SwinConfig small_config(Task task) {
  SwinConfig config = find_model("swin_nano");
  config.image_size = kSize;
  config.task = task;
  if (task == Task::kSegmentation) config.classes = 13;
  return config;
}

template <typename T>
void expect_each_batch_of_images_to_count() {
  const SwinConfig config = small_config(Task::kClassification);
  ParameterStore<T> store(config, false);
  initialize_parameters(store, config.version, 1);
  CountingRank rank;
  SyntheticData plain(config, kImages, 1);
  const Evaluation expected = Evaluator<T>(config, kBatch, {}, store, rank).evaluate(plain, kImages);
  EXPECT_EQ(rank.advances, 0);
  const auto data = advancing(std::make_unique<SyntheticData>(config, kImages, 1), rank);
  const Evaluation result = Evaluator<T>(config, kBatch, {}, store, rank).evaluate(*data, kImages);
  EXPECT_EQ(rank.advances, 3);
  EXPECT_EQ(result.loss, expected.loss);
}

TEST(AdvancingData, EachBatchOfImagesCounts) {
  expect_each_batch_of_images_to_count<float>();
  expect_each_batch_of_images_to_count<double>();
}

TEST(AdvancingData, EachBatchOfScenesCounts) {
  const SwinConfig config = small_config(Task::kSegmentation);
  ParameterStore<float> store(config, false);
  initialize_parameters(store, config.version, 1);
  CountingRank rank;
  SyntheticScenes plain(kSize, kImages, 1);
  const Evaluation expected = Evaluator<float>(config, kBatch, {}, store, rank).evaluate(plain, kImages);
  EXPECT_EQ(rank.advances, 0);
  const auto data = advancing(std::make_unique<SyntheticScenes>(kSize, kImages, 1), rank);
  const Evaluation result = Evaluator<float>(config, kBatch, {}, store, rank).evaluate(*data, kImages);
  EXPECT_EQ(rank.advances, 3);
  EXPECT_EQ(result.loss, expected.loss);
}

class Awaited : public SyntheticScenes {
 public:
  using SyntheticScenes::SyntheticScenes;
  std::int64_t waited_ns() const override { return 7; }
};

class AwaitedImages : public SyntheticData {
 public:
  using SyntheticData::SyntheticData;
  std::int64_t waited_ns() const override { return 9; }
};

TEST(AdvancingData, WaitsForBatchesArePassedOn) {
  CountingRank rank;
  EXPECT_EQ(advancing(std::make_unique<Awaited>(kSize, kImages, 1), rank)->waited_ns(), 7);
  const SwinConfig config = small_config(Task::kClassification);
  EXPECT_EQ(advancing(std::make_unique<AwaitedImages>(config, kImages, 1), rank)->waited_ns(), 9);
  EXPECT_EQ(advancing(std::make_unique<SyntheticData>(config, kImages, 1), rank)->waited_ns(), 0);
}

// A rank that cannot read has come on as far as here: what is told of it is why it ended.
class Unreadable : public TrainingData {
 public:
  using TrainingData::load;
  void load(std::int64_t /*first*/, std::span<float> /*images*/, const Labels& /*labels*/) override {
    throw std::runtime_error("unreadable");
  }
};

TEST(AdvancingData, AFailureToReadIsPassedOn) {
  CountingRank rank;
  const auto data = advancing(std::make_unique<Unreadable>(), rank);
  EXPECT_THROW(data->load(0, std::span<float>{}, std::span<std::uint8_t>{}), std::runtime_error);
  EXPECT_EQ(rank.advances, 1);
}

}  // namespace
}  // namespace swinscope
