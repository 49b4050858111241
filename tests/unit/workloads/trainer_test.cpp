#include "workloads/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/awaited_data.h"
#include "tests/unit/workloads/loss_harness.h"
#include "tests/unit/workloads/thread_ranks.h"
#include "workloads/initialize.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

using test::small_nano;

class Overfit : public testing::TestWithParam<const char*> {};

// 64 images in batches of 16: a model whose gradients are right learns them by heart.
TEST_P(Overfit, NanoLearns64ImagesByHeart) {
  SwinConfig config = find_model(GetParam());
  config.image_size = 32;
  ParameterStore<float> store(config, true);
  initialize_parameters(store, config.version, 1);
  SyntheticData data(config, 64, 1);
  const auto alone = make_single_rank();
  TrainerOptions options;
  options.batch_per_rank = 16;
  options.total_steps = 150;
  options.warmup_steps = 10;
  options.learning_rate = 2e-3;
  options.label_smoothing = 0.0;
  Trainer<float> trainer(config, options, data, store, *alone);
  std::vector<StepResult> results;
  while (trainer.steps_done() < options.total_steps)
    results.push_back(trainer.step());
  EXPECT_NEAR(results.front().loss, std::log(config.classes), 0.2);
  for (auto last = results.end() - 4; last != results.end(); ++last) {
    EXPECT_EQ(last->accuracy, 1.0);
    EXPECT_LT(last->loss, 0.05);
    EXPECT_FALSE(last->skipped);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Overfit, testing::Values("swin_nano", "swinv2_nano"),
                         [](const auto& model) { return std::string(model.param); });

TEST(Communicator, GathersTheValuesOfAllRanksByRank) {
  std::vector<std::vector<double>> gathered(3);
  test::ThreadRanks(3).run([&](Communicator& ranks) {
    gathered[static_cast<std::size_t>(ranks.rank())] = all_gather(ranks, 0.5 + ranks.rank());
  });
  for (const std::vector<double>& values : gathered)
    EXPECT_EQ(values, (std::vector<double>{0.5, 1.5, 2.5}));
}

TEST(Communicator, GathersBytesOfAnotherLengthOnEachRank) {
  using Bytes = std::vector<std::uint8_t>;
  const std::vector<Bytes> sent = {{1, 2, 3}, {}, {4}};
  std::vector<std::vector<Bytes>> gathered(sent.size());
  test::ThreadRanks(3).run([&](Communicator& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    gathered[rank] = all_gather(ranks, sent[rank]);
  });
  for (const std::vector<Bytes>& received : gathered)
    EXPECT_EQ(received, sent);
}

TEST(Trainer, AStepWithAGradientThatIsNotFiniteChangesNothing) {
  const SwinConfig config = small_nano(SwinVersion::kV1);
  ParameterStore<float> store(config, true);
  initialize_parameters(store, config.version, 1);
  SyntheticData data(config, 8, 1);
  const auto alone = make_single_rank();
  TrainerOptions options;
  options.total_steps = 10;
  Trainer<float> trainer(config, options, data, store, *alone);
  store.values(store.layout().find("norm.bias"))[0] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> before(store.values().begin(), store.values().end());
  EXPECT_TRUE(trainer.step().skipped);
  store.values(store.layout().find("norm.bias"))[0] = 0.0F;
  EXPECT_EQ(std::count_if(before.begin(), before.end(), [](float value) { return std::isnan(value); }), 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!std::isnan(before[i])) {
      ASSERT_EQ(store.values()[i], before[i]);
    }
  }
  EXPECT_FALSE(trainer.step().skipped);
}

TEST(Trainer, AStepSaysHowLongItsImagesWereWaitedFor) {
  const SwinConfig config = small_nano(SwinVersion::kV1);
  ParameterStore<float> store(config, true);
  initialize_parameters(store, config.version, 1);
  test::AwaitedData data(config, 8, 1);
  const auto alone = make_single_rank();
  TrainerOptions options;
  options.total_steps = 2;
  options.accumulate = 3;
  Trainer<float> trainer(config, options, data, store, *alone);
  for (int i = 0; i < 2; ++i) {
    const StepResult result = trainer.step();
    EXPECT_EQ(result.input_wait_ns, 3 * test::AwaitedData::kEachNs);
    EXPECT_GT(result.data_ns, 0);
  }
}

TEST(Trainer, GradientsBecomeFinalFromFrontToBack) {
  for (const SwinVersion version : {SwinVersion::kV1, SwinVersion::kV2}) {
    test::LossHarness<float> harness(small_nano(version), {1, 2}, 0.0, 3);
    std::vector<std::int64_t> ends;
    std::vector<std::vector<float>> finished;  // what was final at each call
    const std::span<const float> gradients = harness.store().gradients();
    harness.loss_and_gradients([&](std::int64_t end) {
      ends.push_back(end);
      finished.emplace_back(gradients.begin(), gradients.begin() + end);
    });
    EXPECT_TRUE(std::ranges::is_sorted(ends));
    EXPECT_EQ(ends.back(), harness.store().layout().flat_count());
    EXPECT_EQ(ends.size(), 1U + 2U * 4U + 1U + 1U);  // head, halves of blocks, merging, stem
    for (const std::vector<float>& part : finished) {
      EXPECT_TRUE(std::equal(part.begin(), part.end(), gradients.begin())) << "changed after it was called final";
    }
  }
}

// Ten ranks in one process: what the communicator is given, and when.
class RecordingCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 10; }
  void all_reduce_sum(std::span<float> values) override {
    if (fails) throw std::runtime_error("the network is down");
    lengths.push_back(values.size());
    for (float& value : values)
      value *= 10.0F;
  }
  void all_reduce_sum(std::span<double> /*values*/) override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void barrier() override {}

  std::vector<std::size_t> lengths;
  bool fails = false;
};

TEST(GradientReducer, SumsEveryElementOnceInBuckets) {
  std::vector<float> gradients(1000, 1.0F);
  RecordingCommunicator communicator;
  GradientReducer<float> reducer(gradients, 300 * sizeof(float), communicator);
  EXPECT_EQ(reducer.bucket_count(), 4U);
  for (int step = 1; step <= 2; ++step) {
    for (const std::int64_t end : {10, 299, 650, 651, 1000})
      reducer.ready(end);
    reducer.wait();
    EXPECT_EQ(communicator.lengths, (std::vector<std::size_t>{300, 300, 300, 100}));
    EXPECT_TRUE(std::ranges::all_of(gradients,
                                    [&](float value) { return value == std::pow(10.0F, static_cast<float>(step)); }));
    communicator.lengths.clear();
  }
}

TEST(GradientReducer, AFailureReachesTheTrainer) {
  std::vector<float> gradients(10);
  RecordingCommunicator communicator;
  communicator.fails = true;
  GradientReducer<float> reducer(gradients, 8, communicator);
  reducer.ready(10);
  EXPECT_THROW(reducer.wait(), std::runtime_error);
}

TEST(GradientReducer, OneRankHasNothingToSum) {
  std::vector<float> gradients(10, 2.0F);
  const auto alone = make_single_rank();
  GradientReducer<float> reducer(gradients, 8, *alone);
  EXPECT_EQ(reducer.bucket_count(), 0U);
  reducer.ready(10);
  reducer.wait();
  EXPECT_EQ(gradients, std::vector<float>(10, 2.0F));
}

TEST(SyntheticData, IsTheSameForAnyCutIntoBatches) {
  const SwinConfig config = small_nano(SwinVersion::kV1);
  SyntheticData data(config, 6, 5);
  const std::size_t elements = std::size_t{3} * 32 * 32;
  std::vector<float> all(8 * elements), part(2 * elements);
  std::vector<std::int32_t> all_labels(8), part_labels(2);
  data.fill<float>(3, all, all_labels);
  data.fill<float>(6, part, part_labels);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 3 * elements));
  EXPECT_TRUE(std::equal(part_labels.begin(), part_labels.end(), all_labels.begin() + 3));
  // Numbers wrap at the size: 9 is 3 again.
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(elements), all.begin() + 6 * elements));
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(elements), all.begin() + elements));
}

TEST(SyntheticData, HasAllClassesAndUnitVariance) {
  const SwinConfig config = small_nano(SwinVersion::kV1);
  SyntheticData data(config, 1024, 5);
  std::vector<float> images(std::size_t{64} * 3 * 32 * 32);
  std::vector<std::int32_t> labels(64);
  data.fill<float>(0, images, labels);
  EXPECT_EQ(std::set<std::int32_t>(labels.begin(), labels.end()).size(), static_cast<std::size_t>(config.classes));
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : images) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(images.size());
  EXPECT_NEAR(sum / count, 0.0, 0.1);
  EXPECT_NEAR(squares / count, 1.0, 0.1);
}

TEST(LearningRate, WarmsUpLinearlyAndFallsAsACosine) {
  EXPECT_DOUBLE_EQ(scheduled_learning_rate(1.0, 0, 4, 104), 0.25);
  EXPECT_DOUBLE_EQ(scheduled_learning_rate(1.0, 3, 4, 104), 1.0);
  EXPECT_DOUBLE_EQ(scheduled_learning_rate(1.0, 4, 4, 104), 1.0);
  EXPECT_NEAR(scheduled_learning_rate(1.0, 54, 4, 104), 0.5, 1e-12);
  EXPECT_NEAR(scheduled_learning_rate(1.0, 29, 4, 104), 0.5 + std::sqrt(0.125), 1e-12);
  EXPECT_DOUBLE_EQ(scheduled_learning_rate(1.0, 104, 4, 104), 0.0);
  EXPECT_DOUBLE_EQ(scheduled_learning_rate(1.0, 0, 0, 1), 1.0);
}

TEST(Optimizer, DecaysMatricesOnly) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    const ParameterLayout layout(find_model(name));
    for (const ParameterInfo& tensor : layout.tensors()) {
      const bool matrix = tensor.name.ends_with("qkv.weight") || tensor.name.ends_with("proj.weight") ||
                          tensor.name.ends_with("fc1.weight") || tensor.name.ends_with("fc2.weight") ||
                          tensor.name.ends_with("reduction.weight") || tensor.name == "head.fc.weight";
      EXPECT_EQ(tensor.decays, matrix) << tensor.name;
    }
  }
}

TEST(Initialization, V2BlocksStartAsTheIdentity) {
  const SwinConfig config = small_nano(SwinVersion::kV2);
  ParameterStore<double> store(config, false);
  initialize_parameters(store, config.version, 4);
  HostModel<double> model(config, 1, {}, store);
  model.weights_changed();
  model.forward(test::redrawn_images<double>(config, 1, 4).data());
  EXPECT_TRUE(std::ranges::equal(model.output("stage1"), model.output("stem")));
}

}  // namespace
}  // namespace swinscope
