// Training on a device against training on the CPU. Built twice: with the device functions in host memory, where it
// runs everywhere, and with those of a GPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/gpu_test.h"
#include "tests/unit/workloads/gradient_comparison.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/cuda/training_plan.h"
#include "workloads/initialize.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

using test::relative;

constexpr std::int64_t kDataset = 16;
constexpr std::uint64_t kSeed = 5;

// Nano at an eighth of the work, and the same with a map that its windows do not divide (56 pixels: 14 x 14, 7 x 7).
SwinConfig nano(SwinVersion version, int image_size = 32) {
  SwinConfig config = find_model(version == SwinVersion::kV1 ? "swin_nano" : "swinv2_nano");
  config.image_size = image_size;
  return config;
}

// Heads of 32 channels, as in the real models: what the kernels for 16 bits are made for.
SwinConfig wide_nano(SwinVersion version) {
  SwinConfig config = nano(version);
  config.embed_dim = 64;
  return config;
}

// Trainers that are compared bit by bit must have the same products: the first one's choices are kept here.
const std::filesystem::path& choices_folder() {
  static const test::TemporaryFolder folder;
  return folder.path();
}

DeviceTrainerOptions rung_options(Precision precision, std::string_view level) {
  DeviceTrainerOptions options;
  options.algorithm_folder = choices_folder();
  options.precision = precision;
  options.features = training_features(find_level(level).features);
  options.trainer.batch_per_rank = 3;
  options.trainer.total_steps = 8;
  options.trainer.warmup_steps = 2;
  options.trainer.learning_rate = 1e-3;
  options.trainer.drop_path = 0.3;
  options.trainer.seed = kSeed;
  return options;
}

DeviceTrainerOptions device_options(Precision precision, bool graph = false) {
  return rung_options(precision, graph ? "graph" : "attention");
}

ParameterStore<float> redrawn(const SwinConfig& config) { return test::redrawn(config, kSeed); }

struct Outcome {
  std::vector<FinishedStep> steps;
  std::vector<float> values, first, second, gradients;
  DeviceTrainingState state;
  std::size_t graph_nodes = 0;
};

void keep(DeviceTrainer& trainer, Outcome& run) {
  for (const FinishedStep& step : trainer.finished(true))
    run.steps.push_back(step);
  const auto count = static_cast<std::size_t>(trainer.gradients().size());
  run.values.resize(count);
  run.first.resize(count);
  run.second.resize(count);
  run.gradients = trainer.gradients();
  run.state = trainer.download(run.values, run.first, run.second);
  run.graph_nodes = trainer.graph_nodes();
}

Outcome train(const SwinConfig& config, const DeviceTrainerOptions& options, int steps,
              const ParameterStore<float>& store) {
  DeviceTrainer trainer(config, options, store);
  SyntheticData data(config, kDataset, kSeed);
  ResidentFeed feed(data, data.size(), config, options.trainer.batch_per_rank, trainer.element_type(),
                    trainer.stream());
  for (int i = 0; i < steps; ++i)
    trainer.step(feed);
  Outcome run;
  keep(trainer, run);
  return run;
}

Outcome train(const SwinConfig& config, const DeviceTrainerOptions& options, int steps) {
  return train(config, options, steps, redrawn(config));
}

struct CpuRun {
  std::vector<StepResult> steps;
  ParameterStore<float> store;
};

CpuRun train_on_cpu(const SwinConfig& config, const TrainerOptions& options, int steps,
                    const ParameterStore<float>& store) {
  CpuRun run{{}, store};
  SyntheticData data(config, kDataset, kSeed);
  const auto alone = make_single_rank();
  Trainer<float> trainer(config, options, data, run.store, *alone);
  for (int i = 0; i < steps; ++i)
    run.steps.push_back(trainer.step());
  return run;
}

CpuRun train_on_cpu(const SwinConfig& config, const TrainerOptions& options, int steps) {
  return train_on_cpu(config, options, steps, redrawn(config));
}

void expect_gradients(const SwinConfig& config, const Outcome& device, const CpuRun& cpu, double tolerance) {
  test::expect_gradients(config, device.gradients, cpu.store.gradients(), tolerance);
}

class DeviceTrainerTest : public test::GpuTest, public testing::WithParamInterface<SwinVersion> {};

TEST_P(DeviceTrainerTest, GradientsAreThoseOfTheCpu) {
  for (const int image_size : {32, 56}) {
    const SwinConfig config = nano(GetParam(), image_size);
    const DeviceTrainerOptions options = device_options(Precision::kFp32);
    const Outcome device = train(config, options, 1);
    const CpuRun cpu = train_on_cpu(config, options.trainer, 1);
    expect_gradients(config, device, cpu, 1e-4);
    EXPECT_NEAR(device.steps[0].result.loss, cpu.steps[0].loss, 1e-5);
    EXPECT_EQ(device.steps[0].result.accuracy, cpu.steps[0].accuracy);
    EXPECT_NEAR(device.steps[0].result.gradient_norm, cpu.steps[0].gradient_norm, 1e-4 * cpu.steps[0].gradient_norm);
    EXPECT_EQ(device.steps[0].result.learning_rate, cpu.steps[0].learning_rate);
  }
}

// Roundings of 16 bits add up over the model's operations: the tolerance is some times that of one of them.
TEST_P(DeviceTrainerTest, GradientsIn16BitsAreNearThoseOfTheCpu) {
  const SwinConfig config = wide_nano(GetParam());
  for (const auto& [precision, tolerance] : {std::pair(Precision::kFp16, 1e-2), std::pair(Precision::kBf16, 6e-2)}) {
    const DeviceTrainerOptions options = device_options(precision);
    const Outcome device = train(config, options, 1);
    const CpuRun cpu = train_on_cpu(config, options.trainer, 1);
    EXPECT_LT(relative(device.gradients, cpu.store.gradients()), tolerance);
    EXPECT_NEAR(device.steps[0].result.loss, cpu.steps[0].loss, tolerance);
    EXPECT_FALSE(device.steps[0].result.skipped);
  }
}

TEST_P(DeviceTrainerTest, ThreeStepsEndWhereTheCpuEnds) {
  const SwinConfig config = nano(GetParam());
  const DeviceTrainerOptions options = device_options(Precision::kFp32);
  const Outcome device = train(config, options, 3);
  const CpuRun cpu = train_on_cpu(config, options.trainer, 3);
  ASSERT_EQ(device.steps.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(device.steps[i].result.loss, cpu.steps[i].loss, 1e-4);
    EXPECT_EQ(device.steps[i].result.learning_rate, cpu.steps[i].learning_rate);
  }
  EXPECT_EQ(device.state.updates, 3);
  EXPECT_EQ(device.state.steps_done, 3);
  // Adam's first steps have the size of the learning rate whatever the gradient's size, so that an element whose
  // gradient is next to nothing may go either way.
  EXPECT_LT(relative(device.values, cpu.store.values()), 2e-4);
}

TEST_P(DeviceTrainerTest, AGraphAndSingleLaunchesGiveTheSameBits) {
  const SwinConfig config = wide_nano(GetParam());
  for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
    const Outcome single = train(config, device_options(precision, false), 4);
    const Outcome graph = train(config, device_options(precision, true), 4);
    EXPECT_EQ(single.graph_nodes, 0U);
    EXPECT_GT(graph.graph_nodes, 50U);
    EXPECT_EQ(single.values, graph.values);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(single.steps[i].result.loss, graph.steps[i].result.loss);
  }
}

TEST_P(DeviceTrainerTest, TwoRunsGiveTheSameBits) {
  const SwinConfig config = wide_nano(GetParam());
  const Outcome one = train(config, device_options(Precision::kBf16, true), 4);
  const Outcome other = train(config, device_options(Precision::kBf16, true), 4);
  EXPECT_EQ(one.values, other.values);
  EXPECT_EQ(one.second, other.second);
}

TEST_P(DeviceTrainerTest, GoingBackAndForthThroughTheTokensChangesNoBit) {
  const SwinConfig config = wide_nano(GetParam());
  for (const bool recompute : {false, true}) {
    DeviceTrainerOptions options = device_options(Precision::kFp16, true);
    options.recompute = recompute;
    options.features.serpentine = false;
    const Outcome forth = train(config, options, 4);
    options.features.serpentine = true;
    const Outcome back = train(config, options, 4);
    EXPECT_EQ(forth.values, back.values);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(forth.steps[i].result.loss, back.steps[i].result.loss);
  }
}

// Two batches of three are one of six: the loss is a mean, and stochastic depth knows each sample by its number.
TEST_P(DeviceTrainerTest, AccumulationEqualsTheJoinedBatch) {
  for (const int image_size : {32, 56}) {
    const SwinConfig config = nano(GetParam(), image_size);
    for (const bool graph : {false, true}) {
      DeviceTrainerOptions options = device_options(Precision::kFp32, graph);
      options.trainer.accumulate = 2;
      DeviceTrainerOptions joined_options = options;
      joined_options.trainer.accumulate = 1;
      joined_options.trainer.batch_per_rank = 6;
      const Outcome parts = train(config, options, 1);
      const Outcome joined = train(config, joined_options, 1);
      EXPECT_NEAR(parts.steps[0].result.loss, joined.steps[0].result.loss, 1e-5);
      EXPECT_LT(relative(parts.gradients, joined.gradients), 1e-4);
      // The first step of a graph is launched one by one.
      EXPECT_LT(relative(train(config, options, 3).values, train(config, joined_options, 3).values), 2e-4);
    }
  }
}

TEST_P(DeviceTrainerTest, RecomputationChangesNoBit) {
  const SwinConfig config = wide_nano(GetParam());
  DeviceTrainerOptions options = device_options(Precision::kFp16, true);
  const Outcome kept = train(config, options, 3);
  options.recompute = true;
  const Outcome again = train(config, options, 3);
  EXPECT_EQ(kept.values, again.values);
  const TrainingPlan less(config, options, 64);
  options.recompute = false;
  EXPECT_LT(less.bytes(), TrainingPlan(config, options, 64).bytes());
}

// A framework's kernels on the lower rungs, ours on the upper ones: the same gradients, padded windows included.
TEST_P(DeviceTrainerTest, EveryRungGivesTheGradientsOfTheCpu) {
  for (const int image_size : {32, 56}) {
    const SwinConfig config = nano(GetParam(), image_size);
    const CpuRun cpu = train_on_cpu(config, device_options(Precision::kFp32).trainer, 1);
    for (const Level& level : ladder()) {
      SCOPED_TRACE(std::string(level.name) + ", " + std::to_string(image_size) + " pixels");
      const DeviceTrainerOptions options = rung_options(Precision::kFp32, level.name);
      expect_gradients(config, train(config, options, 1), cpu, 1e-4);
    }
  }
}

TEST_P(DeviceTrainerTest, TheLowestRungIn16BitsIsNearTheCpu) {
  const SwinConfig config = wide_nano(GetParam());
  for (const auto& [precision, tolerance] : {std::pair(Precision::kFp16, 1e-2), std::pair(Precision::kBf16, 6e-2)}) {
    const DeviceTrainerOptions options = rung_options(precision, "tensorcore");
    const Outcome device = train(config, options, 1);
    const CpuRun cpu = train_on_cpu(config, options.trainer, 1);
    EXPECT_LT(relative(device.gradients, cpu.store.gradients()), tolerance);
    EXPECT_FALSE(device.steps[0].result.skipped);
    EXPECT_EQ(device.values, train(config, options, 1).values);
  }
}

// Where windows are copied, padding has rows of its own: V2's keys there are zero, which have no gradient.
TEST_P(DeviceTrainerTest, CopiesOfPaddedWindowsIn16BitsAreNearTheCpu) {
  SwinConfig config = wide_nano(GetParam());
  config.image_size = 56;
  for (const char* const level : {"attention", "window"}) {
    DeviceTrainerOptions options = rung_options(Precision::kFp16, level);
    options.features.window = false;
    const Outcome device = train(config, options, 1);
    const CpuRun cpu = train_on_cpu(config, options.trainer, 1);
    EXPECT_FALSE(device.steps[0].result.skipped) << level;
    EXPECT_LT(relative(device.gradients, cpu.store.gradients()), 1e-2) << level;
  }
}

TEST_P(DeviceTrainerTest, TheLowestRungAccumulatesAndRecomputes) {
  const SwinConfig config = nano(GetParam(), 56);
  DeviceTrainerOptions options = rung_options(Precision::kFp32, "eager");
  DeviceTrainerOptions joined = options;
  joined.trainer.batch_per_rank = 6;
  options.trainer.accumulate = 2;
  const Outcome parts = train(config, options, 3);
  EXPECT_LT(relative(parts.values, train(config, joined, 3).values), 2e-4);
  options.recompute = true;
  EXPECT_EQ(parts.values, train(config, options, 3).values);
}

TEST_P(DeviceTrainerTest, AnUpdateOfEachTensorHasTheBitsOfOneOfAll) {
  const SwinConfig config = wide_nano(GetParam());
  DeviceTrainerOptions options = device_options(Precision::kFp16);
  const Outcome all = train(config, options, 3);
  options.features.adamw = false;
  EXPECT_EQ(all.values, train(config, options, 3).values);
}

TEST_P(DeviceTrainerTest, EveryFeatureAloneGivesTheGradientsOfTheCpu) {
  const SwinConfig config = nano(GetParam());
  DeviceTrainerOptions options = device_options(Precision::kFp32);
  const CpuRun cpu = train_on_cpu(config, options.trainer, 1);
  for (bool Features::*member : {&Features::qkvbias, &Features::layernorm, &Features::gelu, &Features::residual,
                                 &Features::adamw, &Features::window, &Features::attention, &Features::graph}) {
    options.features = {};
    options.features.*member = true;
    expect_gradients(config, train(config, options, 1), cpu, 1e-4);
  }
}

// What a checkpoint keeps is all that a training needs.
TEST_P(DeviceTrainerTest, GoesOnToTheBitFromWhatItWrote) {
  const SwinConfig config = wide_nano(GetParam());
  const DeviceTrainerOptions options = device_options(Precision::kFp16, true);
  const Outcome whole = train(config, options, 5);
  const Outcome half = train(config, options, 2);
  const ParameterStore<float> elsewhere(config, false);
  DeviceTrainer trainer(config, options, elsewhere);
  trainer.upload(half.state, half.values, half.first, half.second);
  SyntheticData data(config, kDataset, kSeed);
  ResidentFeed feed(data, data.size(), config, options.trainer.batch_per_rank, trainer.element_type(),
                    trainer.stream());
  for (int i = 0; i < 3; ++i)
    trainer.step(feed);
  Outcome rest;
  keep(trainer, rest);
  EXPECT_EQ(rest.values, whole.values);
  EXPECT_EQ(rest.second, whole.second);
  EXPECT_EQ(rest.state.steps_done, 5);
  EXPECT_EQ(rest.state.updates, whole.state.updates);
  EXPECT_EQ(rest.steps.back().result.loss, whole.steps.back().result.loss);
}

// The same images through the host as from a set that lies on the device.
TEST_P(DeviceTrainerTest, StreamedImagesAreThoseOfTheSet) {
  const SwinConfig config = nano(GetParam());
  const DeviceTrainerOptions options = device_options(Precision::kBf16, true);
  const Outcome resident = train(config, options, 6);
  const ParameterStore<float> store = redrawn(config);
  DeviceTrainer trainer(config, options, store);
  SyntheticData data(config, kDataset, kSeed);
  StreamedFeed feed(data, config, options.trainer.batch_per_rank, trainer.element_type());
  for (int i = 0; i < 6; ++i)
    trainer.step(feed);
  Outcome streamed;
  keep(trainer, streamed);
  EXPECT_EQ(streamed.values, resident.values);
}

// The device has nothing else to do for as long as it is late.
class LateData : public SyntheticData {
 public:
  using SyntheticData::load;
  using SyntheticData::SyntheticData;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    using Clock = std::chrono::steady_clock;
    cuda::synchronize(stream);
    const Clock::time_point began = Clock::now();
    do {
      SyntheticData::load(first, images, labels);
    } while (Clock::now() - began < std::chrono::milliseconds(1));
    late_ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count());
  }

  cuda::Stream stream = nullptr;
  std::vector<std::int64_t> late_ns;  // of each batch
};

TEST_P(DeviceTrainerTest, AStepSaysHowLongTheDeviceWaitedForItsImages) {
  constexpr std::size_t kBatches = 3;
  const SwinConfig config = nano(GetParam());
  DeviceTrainerOptions options = device_options(Precision::kFp32, true);
  options.trainer.accumulate = kBatches;
  const ParameterStore<float> store = redrawn(config);
  DeviceTrainer trainer(config, options, store);
  LateData data(config, kDataset, kSeed);
  data.stream = trainer.stream();
  StreamedFeed feed(data, config, options.trainer.batch_per_rank, trainer.element_type());
  for (int i = 0; i < 5; ++i)
    trainer.step(feed);
  const std::vector<FinishedStep> steps = trainer.finished(true);
  ASSERT_EQ(steps.size(), 5U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto late = std::span(data.late_ns).subspan(i * kBatches, kBatches);
    const auto late_ns = static_cast<double>(std::accumulate(late.begin(), late.end(), std::int64_t{0}));
    const auto waited_ns = static_cast<double>(steps[i].result.input_wait_ns);
    EXPECT_GE(waited_ns, 0.99 * late_ns);  // two clocks
    EXPECT_LE(waited_ns, static_cast<double>(steps[i].duration_ns));
  }
}

TEST_P(DeviceTrainerTest, EvaluationIsThatOfTheCpuAndChangesNothing) {
  const SwinConfig config = nano(GetParam());
  const DeviceTrainerOptions options = device_options(Precision::kFp32, true);
  ParameterStore<float> store = redrawn(config);
  DeviceTrainer trainer(config, options, store);
  SyntheticData data(config, kDataset, kSeed);
  StreamedFeed feed(data, config, options.trainer.batch_per_rank, trainer.element_type());
  const auto alone = make_single_rank();
  const Evaluation expected = Evaluator<float>(config, 3, {}, store, *alone).evaluate(data, 12);
  for (int i = 0; i < 3; ++i) {
    const Evaluation found = trainer.evaluate(feed, 12);
    EXPECT_NEAR(found.loss, expected.loss, 1e-4);
    EXPECT_EQ(found.accuracy, expected.accuracy);
    EXPECT_EQ(found.images, 12);
  }
  trainer.step(feed);
  Outcome run;
  keep(trainer, run);
  EXPECT_EQ(run.values, train(config, options, 1).values);
}

TEST_P(DeviceTrainerTest, AGradientThatIsNotFiniteChangesNothingButTheScale) {
  const SwinConfig config = wide_nano(GetParam());
  const DeviceTrainerOptions options = device_options(Precision::kFp16, true);
  const Outcome start = train(config, options, 2);
  const ParameterStore<float> store(config, false);
  DeviceTrainer trainer(config, options, store);
  DeviceTrainingState state = start.state;
  state.loss_scale = 0x1p120;  // nothing is finite under it
  trainer.upload(state, start.values, start.first, start.second);
  SyntheticData data(config, kDataset, kSeed);
  ResidentFeed feed(data, data.size(), config, options.trainer.batch_per_rank, trainer.element_type(),
                    trainer.stream());
  trainer.step(feed);
  Outcome run;
  keep(trainer, run);
  EXPECT_TRUE(run.steps.back().result.skipped);
  EXPECT_EQ(run.values, start.values);
  EXPECT_EQ(run.first, start.first);
  EXPECT_EQ(run.state.updates, start.state.updates);
  EXPECT_EQ(run.state.loss_scale, 0x1p119);
}

INSTANTIATE_TEST_SUITE_P(Versions, DeviceTrainerTest, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

}  // namespace
}  // namespace swinscope
