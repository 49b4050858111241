// The GPU backend's choices and reckoning, which need no GPU.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/eviction.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/features.h"
#include "workloads/error.h"
#include "workloads/execute/inference_pass.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

// What decides between passed and failed must know NaN: outputs that nobody wrote are NaN.
TEST(VerifyRow, NanFails) {
  EXPECT_TRUE((VerifyRow{"", "", 1e-4, 1e-3}.passed()));
  EXPECT_FALSE((VerifyRow{"", "", 2e-3, 1e-3}.passed()));
  EXPECT_FALSE((VerifyRow{"", "", relative_error({std::nan("")}, {1.0}), 1e-3}.passed()));
  EXPECT_FALSE((VerifyRow{"", "", relative_error({1.0}, {1.0, 2.0}), 1e-3}.passed()));
  EXPECT_NEAR(relative_error({1.0, 2.2}, {1.0, 2.0}), 0.2 / std::sqrt(5.0), 1e-12);
}

// PyTorch's own error counts only where PyTorch misses the tolerance, too.
TEST(LogitTolerance, GivesWayOnlyWherePyTorchMissesIt) {
  ModelReference reference;
  reference.torch_errors = {{"fp16", 7.5e-3}, {"bf16", 1e-2}};
  std::string why;
  EXPECT_DOUBLE_EQ(logit_tolerance(reference, Precision::kBf16, why), 2e-2);
  EXPECT_DOUBLE_EQ(logit_tolerance(reference, Precision::kFp32, why), 1e-4);
  EXPECT_EQ(why, "");
  EXPECT_DOUBLE_EQ(logit_tolerance(reference, Precision::kFp16, why), 9e-3);
  EXPECT_THAT(why, HasSubstr("PyTorch's own 7.5e-03"));
}

TEST(Eviction, WhatFitsIsKeptAndWhatIsPushedOutAnywayGoesFirst) {
  EXPECT_EQ(cuda::eviction_of_result(60, 100), cuda::Eviction::kLast);
  EXPECT_EQ(cuda::eviction_of_result(61, 100), cuda::Eviction::kNormal);
  EXPECT_EQ(cuda::eviction_before_residual(25, 100), cuda::Eviction::kNormal);
  EXPECT_EQ(cuda::eviction_before_residual(26, 100), cuda::Eviction::kFirst);
}

TEST(Features, TheLadderIsCumulativeAndFeaturesCanBeTakenOut) {
  for (std::size_t i = 1; i < ladder().size(); ++i) {
    for (const FeatureName& feature : feature_names()) {
      EXPECT_LE(ladder()[i - 1].features.*(feature.member), ladder()[i].features.*(feature.member));
    }
  }
  EXPECT_EQ(find_level("eager").default_precision, "fp32");
  EXPECT_EQ(find_level("tensorcore").features, Features{});
  const Features features = select_features(find_level("window"), {"graph"}, {"gelu"}, FeatureUse::kAny);
  EXPECT_TRUE(features.graph);
  EXPECT_FALSE(features.gelu);
  EXPECT_FALSE(features.attention);
  EXPECT_EQ(describe(Features{}), "none");
  EXPECT_EQ(describe(features),
            "prebias, qkvbias, layernorm, postnorm, weightsahead, mlp, normqkv, normrows, patchembed, serpentine, "
            "cachehints, residual, adamw, window, graph");
}

TEST(Features, OfAnotherUseAreTakenFromALevelAndRefusedByName) {
  const Features training = select_features(find_level("graph"), {}, {}, FeatureUse::kTraining);
  EXPECT_EQ(describe(training), "qkvbias, layernorm, serpentine, gelu, residual, adamw, window, attention, graph");
  const Features inference = select_features(find_level("graph"), {}, {}, FeatureUse::kInference);
  EXPECT_EQ(describe(inference),
            "prebias, qkvbias, layernorm, postnorm, weightsahead, mlp, normqkv, normrows, patchembed, serpentine, "
            "cachehints, gelu, residual, window, attention, qkvattention, graph");
  EXPECT_THAT([] { select_features(find_level("fused"), {"prebias"}, {}, FeatureUse::kTraining); },
              testing::Throws<WorkloadError>(testing::Property(&WorkloadError::what, HasSubstr("prebias"))));
  EXPECT_THAT([] { select_features(find_level("fused"), {}, {"adamw"}, FeatureUse::kInference); },
              testing::Throws<WorkloadError>(testing::Property(&WorkloadError::what, HasSubstr("adamw"))));
}

TEST(Features, UnknownNamesAreRefusedWithTheKnownOnes) {
  const auto hint_of = [](const auto& call) {
    try {
      call();
    } catch (const WorkloadError& error) {
      return error.hint();
    }
    return std::string("no error");
  };
  EXPECT_THAT(hint_of([] { find_level("fusedd"); }), HasSubstr("eager, tensorcore, fused"));
  EXPECT_THAT(hint_of([] { select_features(find_level("eager"), {"gleu"}, {}, FeatureUse::kAny); }), HasSubstr("gelu"));
  EXPECT_THAT(hint_of([] { select_features(find_level("eager"), {"gelu"}, {"gelu"}, FeatureUse::kAny); }),
              HasSubstr("--without"));
  EXPECT_THAT(hint_of([] { parse_device_precision("fp64"); }), HasSubstr("fp16"));
}

TEST(DeviceMemory, ActivationsGrowInProportionToTheBatch) {
  const SwinConfig& config = find_model("swin_base");
  DeviceModelOptions options;
  for (const Level& level : ladder()) {
    options.features = level.features;
    EXPECT_NEAR(static_cast<double>(device_activation_bytes(config, 7, options)),
                7.0 * static_cast<double>(device_activation_bytes(config, 1, options)), 1e5)
        << level.name;
  }
  // Attention as one kernel needs no scores, and windows in place no copies.
  const auto bytes = [&](const char* level) {
    options.features = find_level(level).features;
    return device_activation_bytes(config, 1, options);
  };
  EXPECT_LT(bytes("attention"), bytes("window"));
  EXPECT_LE(bytes("window"), bytes("fused"));
}

// 1 GiB of activations is there once the rest is: the batch that is named fits, one more does not.
TEST(DeviceMemory, ABatchThatDoesNotFitIsRefusedBeforeAllocatingWithTheOneThatWould) {
  for (const char* name : {"swin_tiny", "swinv2_base"}) {
    const SwinConfig& config = find_model(name);
    for (const Level& level : ladder()) {
      DeviceModelOptions options;
      options.features = level.features;
      options.precision = Precision::kBf16;
      const DeviceMemoryNeed need = device_memory_need(config, options);
      const std::int64_t free_bytes = need.fixed + (std::int64_t{1} << 30);
      try {
        check_memory(config, 1'000'000, options, free_bytes);
        FAIL() << "no error";
      } catch (const WorkloadError& error) {
        EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
        EXPECT_THAT(error.what(), HasSubstr("--batch 1000000"));
        EXPECT_THAT(error.cause(), HasSubstr(name));
        const std::int64_t fits = std::stoll(error.hint().substr(std::string("--batch ").size()));
        EXPECT_GT(fits, 0);
        EXPECT_NO_THROW(check_memory(config, fits, options, free_bytes)) << level.name;
        EXPECT_THROW(check_memory(config, fits + 1, options, free_bytes), WorkloadError) << level.name;
      }
    }
  }
}

TEST(DeviceMemory, WhereNotEvenOneImageFitsTheHintSaysSo) {
  try {
    check_memory(find_model("swin_large"), 1, {}, 1'000'000'000);
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.cause(), HasSubstr("0.9 GiB are free"));
    EXPECT_THAT(error.hint(), HasSubstr("not even one image"));
  }
}

// Parameters, in the precision and for a moment in fp32, are the bulk of what does not grow.
TEST(DeviceMemory, TheEstimateCountsParametersByPrecision) {
  DeviceModelOptions half;
  half.precision = Precision::kFp16;
  DeviceModelOptions full;
  full.precision = Precision::kFp32;
  const SwinConfig& config = find_model("swin_base");
  const std::int64_t parameters = ParameterLayout(config).flat_count();
  EXPECT_EQ(device_memory_need(config, full).fixed - device_memory_need(config, half).fixed, 2 * parameters);
  EXPECT_GT(device_memory_need(config, full).per_image, device_memory_need(config, half).per_image);
  EXPECT_GT(device_memory_need(config, half).fixed, 6 * parameters);
}

TEST(Device, AGpuThatIsTooOldIsNamedWithWhatIsSupported) {
  cuda::DeviceInfo info;
  info.name = "Tesla V100";
  info.major = 7;
  info.minor = 0;
  try {
    check_capability(info);
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Tesla V100 has compute capability 7.0"));
    EXPECT_THAT(error.cause(), HasSubstr("8.0 or newer"));
    EXPECT_THAT(error.hint(), HasSubstr("--device cpu"));
  }
  info.major = 8;
  EXPECT_NO_THROW(check_capability(info));
}

}  // namespace
}  // namespace swinscope
