// The GPU backend's choices and reckoning, which need no GPU.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/cuda/activations.h"
#include "workloads/cuda/features.h"
#include "workloads/error.h"
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

TEST(Features, TheLadderIsCumulativeAndFeaturesCanBeTakenOut) {
  for (std::size_t i = 1; i < ladder().size(); ++i) {
    for (const FeatureName& feature : feature_names()) {
      EXPECT_LE(ladder()[i - 1].features.*(feature.member), ladder()[i].features.*(feature.member));
    }
  }
  EXPECT_EQ(find_level("eager").default_precision, "fp32");
  EXPECT_EQ(find_level("tensorcore").features, Features{});
  const Features features = select_features(find_level("window"), {"graph"}, {"gelu"});
  EXPECT_TRUE(features.graph);
  EXPECT_FALSE(features.gelu);
  EXPECT_FALSE(features.attention);
  EXPECT_EQ(describe(Features{}), "none");
  EXPECT_EQ(describe(features), "prebias, qkvbias, layernorm, residual, window, graph");
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
  EXPECT_THAT(hint_of([] { select_features(find_level("eager"), {"gleu"}, {}); }), HasSubstr("gelu"));
  EXPECT_THAT(hint_of([] { select_features(find_level("eager"), {"gelu"}, {"gelu"}); }), HasSubstr("--without"));
  EXPECT_THAT(hint_of([] { parse_device_precision("fp64"); }), HasSubstr("fp16"));
}

TEST(Activations, GrowInProportionToTheBatch) {
  const SwinConfig& config = find_model("swin_base");
  for (const Level& level : ladder()) {
    const std::int64_t one = activation_sizes(config, 1, level.features).bytes(ElementType::kFp16);
    EXPECT_EQ(activation_sizes(config, 7, level.features).bytes(ElementType::kFp16), 7 * one) << level.name;
  }
  // Attention as one kernel needs no scores, and windows in place no copies.
  const auto bytes = [&](const char* level) {
    return activation_sizes(config, 1, find_level(level).features).bytes(ElementType::kFp16);
  };
  EXPECT_LT(bytes("attention"), bytes("window"));
  EXPECT_LT(bytes("window"), bytes("fused"));
}

}  // namespace
}  // namespace swinscope
