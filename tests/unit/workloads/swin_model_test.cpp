// The model as a whole: its gradients against finite differences, the order in which they become final, and its modes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/workloads/loss_harness.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"

namespace swinscope {
namespace {

using test::LossHarness;
using test::small_nano;

constexpr std::uint64_t kSeed = 7;
// A step of stochastic depth with seed 3 in which every branch survives for at least one of three samples (else its
// parameters have no gradient), and five of the six that can be dropped are dropped for another.
constexpr std::int64_t kKeepsAllBranches = 4;

// Fourth-order central difference of the loss in one parameter.
double numeric_gradient(LossHarness<double>& harness, double& parameter) {
  constexpr double kStep = 2e-5;
  const double saved = parameter;
  const auto at = [&](double offset) {
    parameter = saved + offset;
    return harness.loss();
  };
  const double slope = (8.0 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12.0 * kStep);
  parameter = saved;
  return slope;
}

void expect_gradients_match(LossHarness<double>& harness, int samples) {
  harness.loss_and_gradients();
  const std::vector<double> gradients(harness.store().gradients().begin(), harness.store().gradients().end());
  for (const ParameterInfo& tensor : harness.store().layout().tensors()) {
    const HashStream picks(tensor.name, kSeed + 1);
    double largest = 0.0;
    for (int i = 0; i < samples; ++i) {
      const std::uint64_t at = picks.bits(static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(tensor.count);
      const double analytic = gradients[static_cast<std::size_t>(tensor.offset) + at];
      const double numeric = numeric_gradient(harness, harness.store().values(tensor)[at]);
      EXPECT_NEAR(analytic, numeric, 1e-9 + 1e-6 * std::abs(numeric)) << tensor.name << "[" << at << "]";
      largest = std::max(largest, std::abs(analytic));
    }
    // A tensor whose sampled gradients are all zero would pass whatever the backward pass does. A scale above its clamp
    // (one head in eight) is the only one that may be.
    if (!tensor.name.ends_with("logit_scale")) {
      EXPECT_GT(largest, 0.0) << tensor.name;
    }
  }
}

class ModelGradients : public testing::TestWithParam<SwinVersion> {};

TEST_P(ModelGradients, MatchFiniteDifferencesInFp64) {
  LossHarness<double> harness(small_nano(GetParam()), {3, 8}, 0.1, kSeed);
  expect_gradients_match(harness, 2);
}

// 48 pixels give 12x12 tokens, which windows of 8 do not tile: the padded keys' share of the bias gradients counts.
TEST_P(ModelGradients, MatchFiniteDifferencesOnPaddedMaps) {
  SwinConfig config = small_nano(GetParam(), 48);
  config.window = 8;
  LossHarness<double> harness(config, {3, 8}, 0.0, kSeed);
  expect_gradients_match(harness, 2);
}

TEST_P(ModelGradients, MatchFiniteDifferencesWithStochasticDepth) {
  LossHarness<double> harness(small_nano(GetParam()), {3, 8, 1}, 0.0, kSeed,
                              {.training = true, .drop_path = 0.4, .seed = 3});
  harness.model().begin_step(kKeepsAllBranches, 0);
  expect_gradients_match(harness, 2);
}

INSTANTIATE_TEST_SUITE_P(Versions, ModelGradients, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });
}  // namespace
}  // namespace swinscope
