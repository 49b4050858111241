// Segmenting on a device against segmenting on the CPU. Built twice, as device_trainer_test.cpp.
#include "workloads/cuda/device_segmenter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/upsample_loss.h"
#include "tests/unit/workloads/gpu_test.h"
#include "tests/unit/workloads/gradient_comparison.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"
#include "workloads/hash_stream.h"
#include "workloads/images/procedural.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 31;
constexpr std::int64_t kBatch = 3;
constexpr int kSize = 64;

SwinConfig nano(SwinVersion version) {
  SwinConfig config = find_model(version == SwinVersion::kV1 ? "swin_nano" : "swinv2_nano");
  config.image_size = kSize;
  config.task = Task::kSegmentation;
  config.classes = kSceneClasses;
  config.head_channels = 32;
  return config;
}

// What is compared bit by bit must have the same products and convolutions.
const std::filesystem::path& choices_folder() {
  static const test::TemporaryFolder folder;
  return folder.path();
}

DeviceSegmenterOptions options_for(Precision precision, const char* level) {
  DeviceSegmenterOptions options;
  options.precision = precision;
  options.features = find_level(level).features;
  options.algorithm_folder = choices_folder();
  return options;
}

// With running statistics that are none of those that training begins with.
ParameterStore<float> parameters(const SwinConfig& config) {
  ParameterStore<float> store = test::redrawn(config, kSeed);
  const HashStream stream("buffers", kSeed);
  std::uint64_t at = 0;
  for (const ParameterInfo& buffer : store.layout().buffers()) {
    for (float& value : store.buffer(buffer)) {
      const double drawn = stream.unit(at++);
      value = static_cast<float>(buffer.name.ends_with("running_var") ? 0.5 + drawn : drawn - 0.5);
    }
  }
  return store;
}

std::vector<float> scenes(std::int64_t first = 0) {
  SyntheticScenes data(kSize, 2 * kBatch, kSeed);
  std::vector<float> images(kBatch * 3 * kSize * kSize);
  std::vector<std::uint8_t> labels(kBatch * kSize * kSize);
  data.load(first, images, labels);
  return images;
}

std::vector<float> cpu_logits(const SwinConfig& config, ParameterStore<float>& store, bool tap_fusion) {
  const auto alone = make_single_rank();
  HostModel<float> model(config, kBatch, {.tap_fusion = tap_fusion}, store);
  model.weights_changed();
  const std::vector<float> images = scenes();
  const float* const logits = model.forward(images.data()).main;
  return {logits, logits + kBatch * (kSize / 4) * (kSize / 4) * config.classes};
}

// Of one image's logits.
std::vector<std::uint8_t> cpu_classes(std::span<const float> logits, const SwinConfig& config, std::int64_t image,
                                      std::int64_t side) {
  const UpsampleShape shape{1, kSize / 4, kSize / 4, side, side, config.classes};
  std::vector<std::uint8_t> classes(static_cast<std::size_t>(side * side));
  cpu::upsample_argmax<float>(shape, logits.data() + image * shape.pixels() * shape.channels, classes.data());
  return classes;
}

double share_that_differs(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  EXPECT_EQ(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) ++count;
  return static_cast<double>(count) / static_cast<double>(b.size());
}

struct Segmented {
  std::vector<float> logits;
  std::vector<std::uint8_t> answers;
};

Segmented segment(const SwinConfig& config, const DeviceSegmenterOptions& options, int passes = 1) {
  DeviceSegmenter segmenter(config, kBatch, options, parameters(config));
  segmenter.set_images(scenes());
  for (int i = 0; i < passes; ++i)
    segmenter.forward();
  return {segmenter.logits(), segmenter.answers()};
}

class DeviceSegmenterTest : public test::GpuTest, public testing::WithParamInterface<SwinVersion> {};

TEST_P(DeviceSegmenterTest, LogitsAndClassesAreThoseOfTheCpu) {
  const SwinConfig config = nano(GetParam());
  ParameterStore<float> store = parameters(config);
  const std::vector<float> plain = cpu_logits(config, store, false);
  const std::vector<float> cut = cpu_logits(config, store, true);
  for (const char* level : {"eager", "fused", "graph"}) {
    for (const bool tap_fusion : {false, true}) {
      SCOPED_TRACE(std::string(level) + (tap_fusion ? ", tap fusion" : ""));
      DeviceSegmenterOptions options = options_for(Precision::kFp32, level);
      options.tap_fusion = tap_fusion;
      const Segmented device = segment(config, options);
      EXPECT_LT(test::relative(device.logits, plain), 1e-5);
      EXPECT_LT(test::relative(device.logits, cut), 1e-5);
      for (std::int64_t image = 0; image < kBatch; ++image) {
        const auto own = std::span(device.answers)
                             .subspan(static_cast<std::size_t>(image) * kSize * kSize, std::size_t{kSize} * kSize);
        EXPECT_LT(share_that_differs(own, cpu_classes(plain, config, image, kSize)), 1e-3) << image;
      }
    }
  }
}

TEST_P(DeviceSegmenterTest, LogitsIn16BitsAreNearThoseOfTheCpu) {
  const SwinConfig config = nano(GetParam());
  ParameterStore<float> store = parameters(config);
  const std::vector<float> cpu = cpu_logits(config, store, false);
  for (const auto& [precision, tolerance] : {std::pair(Precision::kFp16, 1e-2), {Precision::kBf16, 8e-2}}) {
    const double error = test::relative(segment(config, options_for(precision, "graph")).logits, cpu);
    EXPECT_LT(error, tolerance);
    EXPECT_GT(error, 1e-5) << "not of that precision";
  }
}

// Nothing of a pass may rest on what the one before it left, though its values share their places.
TEST_P(DeviceSegmenterTest, EveryPassGivesTheSameBitsHoweverItIsLaunched) {
  const SwinConfig config = nano(GetParam());
  for (const bool tap_fusion : {false, true}) {
    DeviceSegmenterOptions options = options_for(Precision::kFp32, "attention");
    options.tap_fusion = tap_fusion;
    const Segmented launched = segment(config, options);
    options.features.graph = true;
    EXPECT_EQ(segment(config, options, 4).logits, launched.logits);
    options.features.prebias = false;
    const Segmented in_each_pass = segment(config, options, 3);
    EXPECT_EQ(in_each_pass.logits, launched.logits);
    EXPECT_EQ(in_each_pass.answers, launched.answers);
  }
}

// A last batch that is not full leaves in the other places what was there, or whatever else.
TEST_P(DeviceSegmenterTest, ImagesOfABatchDoNotTouchEachOther) {
  const SwinConfig config = nano(GetParam());
  DeviceSegmenter segmenter(config, kBatch, options_for(Precision::kFp32, "graph"), parameters(config));
  segmenter.set_images(scenes());
  segmenter.forward();
  const std::vector<float> full = segmenter.logits();
  const std::vector<std::uint8_t> classes = segmenter.answer(1, kSize);
  std::vector<float> images = scenes(kBatch);
  const std::vector<float> known = scenes();
  const std::size_t two = images.size() / 3 * 2;
  std::copy_n(known.begin(), two, images.begin());
  std::fill(images.begin() + static_cast<std::ptrdiff_t>(two), images.end(), std::numeric_limits<float>::quiet_NaN());
  segmenter.set_images(images);
  segmenter.forward();
  const std::vector<float> partial = segmenter.logits();
  EXPECT_TRUE(
      std::equal(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(full.size() / 3 * 2), partial.begin()));
  EXPECT_EQ(segmenter.answer(1, kSize), classes);
  EXPECT_TRUE(segmenter.finite(0));
  EXPECT_TRUE(segmenter.finite(1));
  EXPECT_FALSE(segmenter.finite(2));
}

TEST_P(DeviceSegmenterTest, AnswersAtThePicturesOwnSizes) {
  const SwinConfig config = nano(GetParam());
  DeviceSegmenterOptions options = options_for(Precision::kFp32, "graph");
  options.answers = false;
  DeviceSegmenter segmenter(config, kBatch, options, parameters(config));
  segmenter.set_images(scenes());
  segmenter.forward();
  const std::vector<float> logits = segmenter.logits();
  for (const std::int64_t side : {150, 9, 64, 151}) {
    for (const std::int64_t image : {0, 2}) {
      EXPECT_LT(share_that_differs(segmenter.answer(image, side), cpu_classes(logits, config, image, side)), 1e-3)
          << side;
    }
  }
  EXPECT_THROW(segmenter.answer(kBatch, 32), std::invalid_argument);
  EXPECT_THROW(segmenter.answers(), std::invalid_argument);
}

TEST_P(DeviceSegmenterTest, HugeLogitsAreFinite) {
  const SwinConfig config = nano(GetParam());
  ParameterStore<float> store = parameters(config);
  std::ranges::fill(store.values(store.layout().find("h.cls.bias")), 1e30F);
  DeviceSegmenter segmenter(config, kBatch, options_for(Precision::kFp32, "graph"), store);
  segmenter.set_images(scenes());
  segmenter.forward();
  EXPECT_TRUE(segmenter.finite(0));
}

TEST_P(DeviceSegmenterTest, StepsCarryTheLayerPathsOfTraining) {
  const SwinConfig config = nano(GetParam());
  for (const bool prebias : {true, false}) {
    DeviceSegmenterOptions options = options_for(Precision::kFp16, "graph");
    options.features.prebias = prebias;
    options.tap_fusion = true;
    const DeviceSegmenter segmenter(config, kBatch, options, parameters(config));
    std::set<std::string> names;
    for (const DeviceStep& step : segmenter.steps())
      names.insert(step.name.path());
    for (const char* path :
         {"patch_embed.proj", "stage1.block1.attn.window", "stage2.block1.mlp.fc1", "head.norm1", "head.pyramid6.conv",
          "head.lateral1.norm", "head.fusion.part2.taps", "head.classifier", "answer"}) {
      EXPECT_TRUE(names.contains(path)) << path;
    }
    for (const char* path : {"head.aux.conv", "head.aux.classifier", "loss", "drop_path"})
      EXPECT_FALSE(names.contains(path)) << path;
    for (const char* path : {"stage1.block1.attn.bias.gather", "head.fusion.part2.pack", "head.fusion.sums"})
      EXPECT_NE(names.contains(path), prebias) << path;
  }
}

TEST_P(DeviceSegmenterTest, WhatItIsNotMadeForIsRefused) {
  SwinConfig config = nano(GetParam());
  DeviceSegmenter segmenter(config, kBatch, options_for(Precision::kFp32, "graph"), parameters(config));
  EXPECT_THROW(segmenter.set_images(std::vector<float>(7)), std::invalid_argument);
  config.task = Task::kClassification;
  const ParameterStore<float> store(config, false);
  EXPECT_THROW(DeviceSegmenter(config, kBatch, options_for(Precision::kFp32, "graph"), store), std::invalid_argument);
}

// The driver's count before and after: what a model takes stays below what was estimated, and is not far from it.
TEST_P(DeviceSegmenterTest, TakesTheMemoryThatWasEstimated) {
  if (cuda::free_memory() == 0) GTEST_SKIP() << "the host's memory is not counted";
  SwinConfig config = find_model(GetParam() == SwinVersion::kV1 ? "swin_tiny" : "swinv2_tiny");
  config.task = Task::kSegmentation;
  config.image_size = 512;
  config.classes = 150;
  constexpr std::int64_t kImages = 16;
  const ParameterStore<float> store(config, false);
  for (const char* level : {"eager", "graph"}) {
    const DeviceSegmenterOptions options = options_for(Precision::kFp16, level);
    const std::int64_t before = cuda::free_memory();
    DeviceSegmenter segmenter(config, kImages, options, store);
    segmenter.forward();
    cuda::synchronize(segmenter.stream());
    const std::int64_t taken = before - cuda::free_memory();
    EXPECT_LE(taken, segmenter_memory_need(config, options, kImages)) << level;
    EXPECT_GE(taken, segmenter.memory_bytes()) << level;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, DeviceSegmenterTest, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

// What training needs to work in follows from the number of multiprocessors.
class SegmenterMemory : public test::GpuTest {};

TEST_F(SegmenterMemory, IsAFractionOfWhatTrainingNeeds) {
  SwinConfig config = find_model("swinv2_base");
  config.task = Task::kSegmentation;
  config.image_size = 512;
  config.classes = 150;
  for (const char* level : {"eager", "graph"}) {
    const DeviceSegmenterOptions options = options_for(Precision::kFp16, level);
    DeviceTrainerOptions training;
    training.features = training_features(options.features);
    const auto per_image = [](const auto& need) { return (need(17) - need(1)) / 16; };
    const auto segmenting = [&](std::int64_t batch) { return segmenter_memory_need(config, options, batch); };
    const auto trained = [&](std::int64_t batch) { return training_memory_need(config, training, batch); };
    EXPECT_LT(per_image(segmenting), per_image(trained) / 2) << level;
    EXPECT_GT(per_image(segmenting), 0);
    // The parameters in fp32 and rounded.
    const std::int64_t parameters = 6 * ParameterLayout(config).flat_count();
    EXPECT_GT(segmenting(1), parameters);
    EXPECT_LT(segmenting(1) - per_image(segmenting), parameters + (std::int64_t{900} << 20));
  }
}

TEST_F(SegmenterMemory, ABatchThatDoesNotFitIsRefusedWithOneThatDoes) {
  SwinConfig config = find_model("swin_large");
  config.task = Task::kSegmentation;
  config.image_size = 512;
  const DeviceSegmenterOptions options = options_for(Precision::kFp16, "graph");
  const std::int64_t fits = segmenter_memory_need(config, options, 16);
  EXPECT_NO_THROW(check_segmenter(config, options, 16, fits));
  const auto expect_refusal = [&](std::int64_t batch, std::int64_t free_bytes, const char* hint) {
    try {
      check_segmenter(config, options, batch, free_bytes);
      FAIL() << "no error";
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("--batch " + std::to_string(batch)));
      EXPECT_THAT(error.hint(), HasSubstr(hint));
    }
  };
  expect_refusal(17, fits, "--batch 16 fits");
  expect_refusal(1, 1 << 20, "not even one image fits");
  expect_refusal(256, std::int64_t{1} << 50, "--batch 255 is the largest");
  EXPECT_NO_THROW(check_segmenter(config, options, 255, std::int64_t{1} << 50));
}

}  // namespace
}  // namespace swinscope
