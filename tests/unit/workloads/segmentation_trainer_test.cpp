// Training a segmentation model: it learns, on one rank as on two, and what it has learned holds for other scenes.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/upsample_loss.h"
#include "tests/unit/workloads/loss_harness.h"
#include "tests/unit/workloads/thread_ranks.h"
#include "workloads/error.h"
#include "workloads/evaluator.h"
#include "workloads/images/prepare.h"
#include "workloads/images/procedural.h"
#include "workloads/images/scene_folder.h"
#include "workloads/initialize.h"
#include "workloads/trainer.h"

namespace swinscope {
namespace {

// Procedural scenes, drawn where they are asked for; numbers wrap around.
class Scenes : public TrainingData {
 public:
  Scenes(int image_size, std::int64_t scenes, std::string part) : size_(image_size), part_(std::move(part)) {
    for (std::int64_t number = 0; number < scenes; ++number) {
      LabelledScene scene = draw_scene(part_, number, size_, 1);
      label_classes(scene.mask, kSceneClasses, "scene");
      scenes_.push_back(std::move(scene));
    }
  }
  using TrainingData::load;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    const auto pixels = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
    for (std::size_t i = 0; i * pixels < labels.pixels().size(); ++i) {
      const auto number = (static_cast<std::size_t>(first) + i) % scenes_.size();
      const LabelledScene& scene = scenes_[number];
      normalize(scene.image, false, images.subspan(3 * i * pixels, 3 * pixels));
      std::ranges::copy(scene.mask.labels, labels.pixels().begin() + static_cast<std::ptrdiff_t>(i * pixels));
    }
  }

 private:
  int size_;
  std::string part_;
  std::vector<LabelledScene> scenes_;
};

// All pixels ignored; each batch waited for, as it says.
class NoLabels : public TrainingData {
 public:
  static constexpr std::int64_t kEachNs = 7;
  std::int64_t waited_ns() const override { return waited_ns_; }
  using TrainingData::load;
  void load(std::int64_t /*first*/, std::span<float> images, const Labels& labels) override {
    waited_ns_ += kEachNs;
    std::ranges::fill(images, 0.5F);
    std::ranges::fill(labels.pixels(), kIgnoredLabel);
  }

 private:
  std::int64_t waited_ns_ = 1000;  // before the training
};

SwinConfig nano(SwinVersion version, int head_channels = 16) {
  SwinConfig config = test::small_nano(version);
  config.task = Task::kSegmentation;
  config.classes = kSceneClasses;
  config.head_channels = head_channels;
  return config;
}

TrainerOptions options_for(std::int64_t batch, std::int64_t steps) {
  TrainerOptions options;
  options.batch_per_rank = batch;
  options.total_steps = steps;
  options.warmup_steps = 5;
  options.learning_rate = 3e-3;
  options.label_smoothing = 0.0;
  return options;
}

class SegmentationTraining : public testing::TestWithParam<SwinVersion> {};

TEST_P(SegmentationTraining, NanoLearnsScenesByHeart) {
  const SwinConfig config = nano(GetParam(), 32);
  ParameterStore<float> store(config, true);
  initialize_parameters(store, config.version, 1);
  Scenes data(config.image_size, 4, "training");
  const auto alone = make_single_rank();
  TrainerOptions options = options_for(4, 300);
  options.learning_rate = 1e-2;
  Trainer<float> trainer(config, options, data, store, *alone);
  const StepResult first = trainer.step();
  EXPECT_NEAR(first.loss, 1.4 * std::log(config.classes), 0.4);
  StepResult last;
  while (trainer.steps_done() < 300)
    last = trainer.step();
  EXPECT_LT(last.loss, 0.35 * first.loss);
  EXPECT_GT(last.accuracy, 0.9);
  Evaluator<float> evaluator(config, 3, {}, store, *alone);  // the last batch is not full
  const Evaluation found = evaluator.evaluate(data, 4);
  EXPECT_GT(found.mean_iou.value(), 0.6);
  EXPECT_GT(found.accuracy, 0.9);
  EXPECT_LT(found.loss, 0.4);
  EXPECT_EQ(found.images, 4);
}

INSTANTIATE_TEST_SUITE_P(Versions, SegmentationTraining, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

TEST(SceneTrainer, TwoRanksTrainAsOneDoes) {
  const SwinConfig config = nano(SwinVersion::kV1);
  constexpr std::int64_t kSteps = 3;
  std::vector<double> alone_losses;
  std::vector<float> alone_statistics;
  {
    ParameterStore<float> store(config, true);
    redraw_parameters(store, 4);
    Scenes data(config.image_size, 8, "training");
    const auto alone = make_single_rank();
    Trainer<float> trainer(config, options_for(4, 20), data, store, *alone);
    for (std::int64_t i = 0; i < kSteps; ++i)
      alone_losses.push_back(trainer.step().loss);
    alone_statistics.assign(store.buffers().begin(), store.buffers().end());
  }
  std::vector<double> losses[2];
  std::vector<float> parameters[2];
  std::vector<float> statistics[2];
  double mean_iou[2] = {};
  test::ThreadRanks ranks(2);
  ranks.run([&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    ParameterStore<float> store(config, true);
    redraw_parameters(store, 4 + rank);  // the second takes the first one's
    std::ranges::fill(store.buffers(), static_cast<float>(rank));
    Scenes data(config.image_size, 8, "training");
    Trainer<float> trainer(config, options_for(2, 20), data, store, communicator);
    for (std::int64_t i = 0; i < kSteps; ++i)
      losses[rank].push_back(trainer.step(rank == 1 && i == 2).loss);
    parameters[rank].assign(store.values().begin(), store.values().end());
    statistics[rank].assign(store.buffers().begin(), store.buffers().end());
    Evaluator<float> evaluator(config, 2, {}, store, communicator);
    mean_iou[rank] = evaluator.evaluate(data, 7).mean_iou.value();
  });
  EXPECT_EQ(parameters[0], parameters[1]);
  EXPECT_EQ(statistics[0], statistics[1]);
  EXPECT_EQ(mean_iou[0], mean_iou[1]);
  for (std::size_t i = 0; i < kSteps; ++i)
    EXPECT_NEAR(losses[0][i], alone_losses[i], 2e-3 * alone_losses[i]) << i;
  EXPECT_NEAR(losses[0][0], alone_losses[0], 1e-5 * alone_losses[0]);
}

TEST(SceneTrainer, ABatchWithoutLabelsChangesNoParameter) {
  const SwinConfig config = nano(SwinVersion::kV2);
  ParameterStore<float> store(config, true);
  initialize_parameters(store, config.version, 1);
  NoLabels data;
  const auto alone = make_single_rank();
  Trainer<float> trainer(config, options_for(2, 20), data, store, *alone);
  const std::vector<float> before(store.values().begin(), store.values().end());
  const StepResult result = trainer.step();
  EXPECT_TRUE(result.skipped);
  EXPECT_EQ(result.loss, 0.0);
  EXPECT_EQ(result.input_wait_ns, NoLabels::kEachNs);
  EXPECT_TRUE(std::ranges::equal(before, store.values()));
}

TEST(SceneTrainer, RefusesWhatOnlyClassificationHas) {
  const SwinConfig config = nano(SwinVersion::kV1);
  ParameterStore<float> store(config, true);
  NoLabels data;
  const auto alone = make_single_rank();
  TrainerOptions options = options_for(1, 1);
  options.label_smoothing = 0.1;
  EXPECT_THROW(Trainer<float>(config, options, data, store, *alone), WorkloadError);
  options.label_smoothing = 0.0;
  options.accumulate = 2;
  EXPECT_THROW(Trainer<float>(config, options, data, store, *alone), WorkloadError);
}

}  // namespace
}  // namespace swinscope
