// The forward pass on a GPU: the same logits on every rung of the ladder, with and without each feature; what it
// refuses.
#include "workloads/cuda/device_model.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "kernels/narrow_block.h"
#include "tests/unit/workloads/gpu_test.h"
#include "workloads/cuda/step_profile.h"
#include "workloads/error.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

class DeviceModelTest : public test::GpuTest {};

void expect_logits(const ModelReference& reference, Precision precision, const std::string& level) {
  verify_model(reference, precision, level, {}, [](const VerifyRow& row) {
    EXPECT_TRUE(row.passed()) << row.what << " in " << row.precision << ": error " << row.error;
  });
}

TEST_F(DeviceModelTest, GivesTheLogitsOfTheCpuOnEveryRung) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    const ModelReference reference = cpu_reference(find_model(name), 3);
    for (const Level& level : ladder()) {
      for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16}) {
        expect_logits(reference, precision, std::string(level.name));
      }
    }
  }
}

// 56 pixels make 14 x 14 tokens, 7 x 7 in the last stage: 4 x 4 windows do not divide them.
TEST_F(DeviceModelTest, PadsMapsThatWindowsDoNotDivide) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    SwinConfig config = find_model(name);
    config.image_size = 56;
    const ModelReference reference = cpu_reference(config, 2);
    for (const char* level : {"eager", "window", "graph"})
      expect_logits(reference, Precision::kFp16, level);
  }
}

// Of 36, 144 and 256 tokens: in registers, by the general kernel with shifts and padding, and as wide as the map. In
// fp16 only where scores stay in fp32: rounding them alone takes these models' logits beyond the tolerance.
TEST_F(DeviceModelTest, GivesTheLogitsOfTheCpuWithOtherWindows) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    for (const int window : {6, 12, 24}) {
      SwinConfig config = find_model(name);
      config.window = window;
      const ModelReference reference = cpu_reference(config, 2);
      for (const Level& level : ladder())
        expect_logits(reference, Precision::kFp32, std::string(level.name));
      for (const char* level : {"attention", "graph"})
        expect_logits(reference, Precision::kFp16, level);
    }
  }
}

TEST_F(DeviceModelTest, EachFeatureAloneChangesTheTimeAndNotTheLogits) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    const ModelReference reference = cpu_reference(find_model(name), 2);
    for (const FeatureName& feature : feature_names()) {
      for (const bool only : {true, false}) {
        DeviceModelOptions options;
        options.precision = Precision::kFp32;
        options.features = only ? Features{} : find_level("graph").features;
        options.features.*(feature.member) = only;
        DeviceModel model(reference.config, reference.batch, options, *reference.store);
        model.set_images(reference.images);
        model.poison_activations();
        model.forward();
        const std::vector<float> logits = model.logits();
        EXPECT_LT(relative_error({logits.begin(), logits.end()}, reference.logits), logit_tolerance(Precision::kFp32))
            << name << (only ? " with only " : " without ") << feature.name;
      }
    }
  }
}

// Empty, and one for each test.
std::filesystem::path choices_folder() {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      fmt::format("choices_{}_{}", testing::UnitTest::GetInstance()->current_test_info()->name(), getpid());
  std::filesystem::remove_all(folder);
  return folder;
}

// In fp16, with the features of the highest rung as `change` leaves them. Products are chosen by time: only with the
// same choices are bits the same.
template <typename Change>
std::vector<float> logits_with(const ModelReference& reference, const std::filesystem::path& choices,
                               const Change& change) {
  DeviceModelOptions options;
  options.precision = Precision::kFp16;
  options.features = find_level("graph").features;
  options.algorithm_folder = choices;
  change(options.features);
  DeviceModel model(reference.config, reference.batch, options, *reference.store);
  model.set_images(reference.images);
  model.poison_activations();
  model.forward();
  return model.logits();
}

TEST_F(DeviceModelTest, WeightsFetchedAheadChangeNoBit) {
  const ModelReference reference = cpu_reference(find_model("swin_nano"), 1);
  const std::filesystem::path choices = choices_folder();
  const auto logits = [&](bool ahead) {
    return logits_with(reference, choices, [&](Features& features) {
      features.normfold = false;  // would leave no normalization that could fetch, if it were chosen
      features.weightsahead = ahead;
    });
  };
  EXPECT_EQ(logits(false), logits(true));
}

TEST_F(DeviceModelTest, NeitherTheOrderOfTokensNorWhatTheCacheKeepsChangesABit) {
  for (const char* name : {"swin_tiny", "swinv2_tiny"}) {
    const ModelReference reference = cpu_reference(find_model(name), 2);
    const std::filesystem::path choices = choices_folder();
    const auto logits = [&](bool serpentine, bool cachehints) {
      return logits_with(reference, choices, [&](Features& features) {
        features.serpentine = serpentine;
        features.cachehints = cachehints;
      });
    };
    const std::vector<float> plain = logits(false, false);
    EXPECT_EQ(logits(true, false), plain) << name;
    EXPECT_EQ(logits(false, true), plain) << name;
  }
}

// Enough windows and rows of 128 channels for the kernels of several operations, wherever they are offered.
SwinConfig wide_blocks(SwinVersion version) {
  const bool v2 = version == SwinVersion::kV2;
  return {"swin_wide_blocks", version, v2 ? 256 : 224, 128, 2, {2, 1}, {4, 8}, v2 ? 8 : 7, 10};
}

TEST_F(DeviceModelTest, OperationsInOneKernelGiveWhatTheyGiveApart) {
  struct Case {
    SwinVersion version;
    bool Features::*feature;
    const char* apart;  // a step that is gone
  };
  for (const Case& c : {Case{SwinVersion::kV1, &Features::mlp, "stage1.block1.mlp.fc1"},
                        Case{SwinVersion::kV1, &Features::mlp, "stage1.block1.attn.proj"},
                        Case{SwinVersion::kV1, &Features::normqkv, "stage1.block1.norm1"},
                        Case{SwinVersion::kV1, &Features::qkvattention, "stage1.block1.attn.qkv"},
                        Case{SwinVersion::kV1, &Features::normrows, "stage2.block1.norm2"},
                        Case{SwinVersion::kV1, &Features::patchembed, "patch_embed.columns"},
                        Case{SwinVersion::kV2, &Features::mlp, "stage1.block1.mlp.fc1"},
                        Case{SwinVersion::kV2, &Features::qkvattention, "stage1.block1.attn.qkv"}}) {
    const ModelReference reference = cpu_reference(wide_blocks(c.version), 8);
    for (const bool together : {false, true}) {
      DeviceModelOptions options;
      options.precision = Precision::kFp16;
      options.features = find_level("graph").features;
      options.features.normfold = false;
      options.features.*c.feature = together;
      DeviceModel model(reference.config, reference.batch, options, *reference.store);
      const auto is_it = [&](const DeviceStep& step) { return step.name.path() == c.apart; };
      const bool offered = cuda::narrow_block_offered(ElementType::kFp16, cuda::device_info());  // both
      EXPECT_EQ(std::ranges::any_of(model.steps(), is_it), !together || !offered) << c.apart;
      model.set_images(reference.images);
      model.poison_activations();
      model.forward();
      const std::vector<float> logits = model.logits();
      EXPECT_LE(relative_error({logits.begin(), logits.end()}, reference.logits), logit_tolerance(Precision::kFp16))
          << c.apart << (together ? " as one kernel" : "");
    }
  }
}

TEST_F(DeviceModelTest, WhatWasTriedInAWholePassIsKeptAndTriedOnce) {
  for (const char* name : {"swin_tiny", "swinv2_tiny"}) {
    const ModelReference reference = cpu_reference(find_model(name), 1);
    DeviceModelOptions options;
    options.precision = Precision::kFp16;
    options.features = find_level("graph").features;
    options.algorithm_folder = choices_folder();
    options.tune_seconds = 3600.0;
    std::vector<float> first;
    for (const bool again : {false, true}) {
      DeviceModel model(reference.config, reference.batch, options, *reference.store);
      model.set_images(reference.images);
      model.poison_activations();
      model.forward();
      const std::vector<float> logits = model.logits();
      EXPECT_EQ(model.matmul_statistics().timed == 0, again) << name;
      EXPECT_LT(relative_error({logits.begin(), logits.end()}, reference.logits), logit_tolerance(Precision::kFp16));
      if (again) {
        EXPECT_EQ(logits, first) << name;
        EXPECT_EQ(model.matmul_statistics().exchanged, 0);
      }
      first = logits;
    }
    std::filesystem::remove_all(options.algorithm_folder);
  }
}

TEST_F(DeviceModelTest, StepsCarryTheLayerPathsOfTheCpuModel) {
  const ModelReference reference = cpu_reference(find_model("swin_nano"), 1);
  DeviceModelOptions options;
  options.features = find_level("graph").features;
  // Within a product a normalization has no step of its own, and which product has one is a matter of timing.
  options.features.normfold = false;
  options.features.postnorm = false;
  DeviceModel model(reference.config, 1, options, *reference.store);
  std::set<std::string> names;
  std::uint64_t flops = 0;
  for (const DeviceStep& step : model.steps()) {
    names.insert(step.name.path());
    flops += step.payload.flops;
  }
  for (const char* path : {"patch_embed.proj", "stage1.block1.norm1", "stage1.block2.attn.window",
                           "stage2.block1.mlp.fc1", "stage1.merge.reduction", "head.fc"}) {
    EXPECT_TRUE(names.contains(path)) << path;
  }
  EXPECT_GT(flops, 0U);
  EXPECT_GE(model.graph_nodes(), model.steps().size()) << "captured before the first pass";
  model.set_images(reference.images);
  model.forward();
  const std::vector<OperationTime> times = profile_steps(model.steps(), model.stream(), 3);
  std::int64_t calls = 0;
  for (const OperationTime& row : times)
    calls += row.calls;
  EXPECT_EQ(calls, static_cast<std::int64_t>(model.steps().size()));
}

TEST_F(DeviceModelTest, RefusesABatchThatDoesNotFitAndNamesOneThatDoes) {
  const SwinConfig& config = find_model("swin_large");
  DeviceModelOptions options;
  options.features = find_level("graph").features;
  const DeviceMemoryNeed need = device_memory_need(config, options);
  const std::int64_t too_many = 2 * cuda::free_memory() / need.per_image;
  try {
    check_device_memory(config, too_many, options);
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(too_many)));
    EXPECT_THAT(error.hint(), HasSubstr("fits"));
  }
  EXPECT_NO_THROW(check_device_memory(config, 1, options));
}

// The driver's count before and after: what a model takes stays below what was estimated, and is not far from it.
TEST_F(DeviceModelTest, TakesTheMemoryThatWasEstimated) {
  const SwinConfig& config = find_model("swin_tiny");
  constexpr std::int64_t kBatch = 256;
  const ParameterStore<float> store(config, false);
  for (const char* level : {"tensorcore", "graph"}) {
    DeviceModelOptions options;
    options.features = find_level(level).features;
    const DeviceMemoryNeed need = device_memory_need(config, options);
    const std::int64_t before = cuda::free_memory();
    DeviceModel model(config, kBatch, options, store);
    model.forward();
    cuda::synchronize(model.stream());
    const std::int64_t taken = before - cuda::free_memory();
    EXPECT_LE(taken, need.total(kBatch)) << level;
    EXPECT_GE(taken, kBatch * need.per_image) << level;
  }
}

}  // namespace
}  // namespace swinscope
