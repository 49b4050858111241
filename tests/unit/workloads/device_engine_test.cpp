// What `swin train --device cuda` does around a device's trainer, with a device in host memory.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/gradient_comparison.h"
#include "tests/unit/workloads/host_device.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/program/training_engine.h"
#include "workloads/safetensors.h"

namespace swinscope {

// Of libraries that need a device.
void check_device() {}
Precision parse_device_precision(const std::string& name) {
  return name == "fp32" ? Precision::kFp32 : Precision::kFp16;
}
Precision parse_inference_precision(const std::string& name) {
  if (name == "int8") return Precision::kInt8;
  return name == "fp8" ? Precision::kFp8 : parse_device_precision(name);
}

namespace {

constexpr int kSide = 32;
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kScenes = 7;  // no multiple of the batch: the last step's begins somewhere
constexpr int kSteps = 3;

// Of files as far as the engine knows: read in order, and nothing can be read twice.
class InOrder : public TrainingData {
 public:
  using TrainingData::load;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override {
    EXPECT_EQ(first, next_);
    next_ += kBatch;
    scenes_.load(first, images, labels);
  }

 private:
  SyntheticScenes scenes_{kSide, kScenes, 3};
  std::int64_t next_ = 0;
};

class DeviceEngine : public testing::TestWithParam<const char*> {
 protected:
  DeviceEngine() {
    config_ = find_model("swin_nano");
    config_.image_size = kSide;
    config_.task = Task::kSegmentation;
    config_.classes = 13;
    config_.head_channels = 32;
    options_.task = Task::kSegmentation;
    options_.run.device = "cuda";
    options_.run.precision = GetParam();
    options_.run.batch = options_.trainer.batch_per_rank = kBatch;
    options_.trainer.total_steps = kSteps;
    options_.trainer.label_smoothing = 0.0;
    options_.gradients = folder_.path() / "gradients.safetensors";
  }

  // The file must have the batch of the last step, whatever the device has seen since.
  void expect_the_last_batch(TrainingData& data) const {
    const auto alone = make_single_rank();
    const auto engine = make_device_engine(options_, config_, {}, data, *alone);
    for (int i = 0; i < kSteps; ++i)
      engine->step(false);
    EXPECT_EQ(engine->finished(true).size(), std::size_t{kSteps});
    SyntheticScenes held_out(kSide, kScenes, 4);
    engine->evaluate(held_out, kScenes);
    engine->write_gradients(options_.gradients);

    std::vector<float> images(kBatch * 3 * kSide * kSide);
    std::vector<std::uint8_t> labels(kBatch * kSide * kSide);
    SyntheticScenes(kSide, kScenes, 3).load((kSteps - 1) * kBatch, images, labels);
    const SafetensorsFile written(options_.gradients);
    EXPECT_EQ(read(written, "batch.images", {kBatch, 3, kSide, kSide}), images);
    EXPECT_EQ(read(written, "batch.labels", {kBatch, kSide, kSide}), std::vector<float>(labels.begin(), labels.end()));
    EXPECT_EQ(read(written, "h.cls.bias", {config_.classes}).size(), 13U);
  }

 private:
  static std::vector<float> read(const SafetensorsFile& file, const char* name,
                                 const std::vector<std::int64_t>& shape) {
    const TensorEntry* const entry = file.find(name);
    if (entry == nullptr) {
      ADD_FAILURE() << name << " is not in the file";
      return {};
    }
    EXPECT_EQ(entry->shape, shape);
    std::vector<float> values(static_cast<std::size_t>(entry->count));
    file.read<float>(*entry, values);
    return values;
  }

  test::TemporaryFolder folder_;

 protected:
  SwinConfig config_;
  TrainOptions options_;
};

TEST_P(DeviceEngine, WritesTheBatchBesideTheGradientsOfSyntheticScenes) {
  SyntheticScenes scenes(kSide, kScenes, 3);
  expect_the_last_batch(scenes);
}

TEST_P(DeviceEngine, WritesTheBatchBesideTheGradientsOfFiles) {
  InOrder files;
  expect_the_last_batch(files);
}

// What was refused, and what is said to do instead.
std::pair<std::string, std::string> refusal(const char* model, const char* precision, bool qat) {
  TrainOptions options;
  options.run.device = "cuda";
  options.run.precision = precision;
  options.run.batch = options.trainer.batch_per_rank = 1;
  options.qat = qat;
  try {
    (void)check_device_training(options, find_model(model), {});
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    return {error.what(), error.hint()};
  }
  return {};
}

TEST(EightBits, WhatCannotBeTrainedInThemIsRefused) {
  EXPECT_EQ(refusal("swin_large", "int8", false).first, "--precision int8: training is in fp8");
  EXPECT_EQ(refusal("swin_large", "fp16", true).first, "--qat: not with --precision fp16");
  const auto [what, hint] = refusal("swin_nano", "fp8", false);
  EXPECT_EQ(what, "--precision fp8: swin_nano has no layer for it");
  EXPECT_EQ(hint, "--precision fp16 or bf16, or a larger model");
  test::set_host_gpu({.name = "an A100", .major = 8, .minor = 0});
  EXPECT_EQ(refusal("swin_large", "fp8", false).first, "--precision fp8: not on this GPU");
  test::set_host_gpu({.name = "host memory"});
}

INSTANTIATE_TEST_SUITE_P(Precisions, DeviceEngine, testing::Values("fp32", "fp16"),
                         [](const auto& precision) { return std::string(precision.param); });

}  // namespace
}  // namespace swinscope
