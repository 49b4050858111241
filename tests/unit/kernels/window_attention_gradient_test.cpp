#include <stdexcept>

#include "kernels/parallel.h"
#include "kernels/window_attention.h"
#include "tests/unit/kernels/attention_cases.h"

namespace swinscope {
namespace {

using test::attention_backward;
using test::attention_forward;
using test::attention_shape;
using test::AttentionCase;
using test::AttentionTensors;
using test::expect_gradient;
using test::Random;
using test::relative_error;

AttentionTensors<double> analytic_gradients(const WindowAttentionShape& shape, const AttentionTensors<double>& tensors,
                                            const std::vector<double>& dout) {
  return attention_backward(shape, tensors, attention_forward(shape, tensors).lse, dout);
}

class WindowAttentionGradient : public ::testing::TestWithParam<AttentionScore> {};

TEST_P(WindowAttentionGradient, EqualsFiniteDifferencesInEveryGeometry) {
  for (const AttentionCase& c : test::attention_cases()) {
    const WindowAttentionShape shape = attention_shape(c, GetParam(), 2, 2, 3);
    auto tensors = test::random_attention(shape, 1);
    Random random(2);
    const auto dout = random.normal(shape.grid.tokens() * shape.channels());
    const auto gradients = analytic_gradients(shape, tensors, dout);
    const auto loss = [&] { return test::dot(attention_forward(shape, tensors).out, dout); };
    expect_gradient(c.name + " qkv", tensors.qkv, loss, gradients.qkv);
    expect_gradient(c.name + " bias", tensors.bias_table, loss, gradients.bias_table);
    if (GetParam() == AttentionScore::kCosine) {
      expect_gradient(c.name + " scale", tensors.logit_scale, loss, gradients.logit_scale);
    }
    if (shape.grid.padded()) expect_gradient(c.name + " pad", tensors.pad_qkv, loss, gradients.pad_qkv);
  }
}

INSTANTIATE_TEST_SUITE_P(Scores, WindowAttentionGradient,
                         ::testing::Values(AttentionScore::kScaledDot, AttentionScore::kCosine),
                         [](const auto& instance) {
                           return instance.param == AttentionScore::kCosine ? "Cosine" : "ScaledDot";
                         });

TEST(WindowAttentionCosineGradient, PassesTheLogitScaleUpToTheClampAndNotAbove) {
  const AttentionCase c{"shifted", {4, 4}, {2, 2}, {1, 1}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 3, 4);
  auto tensors = test::random_attention(shape, 3);
  tensors.logit_scale = {kMaxLogitScale, kMaxLogitScale + 1e-9, 12.0};
  Random random(4);
  const auto dout = random.normal(shape.grid.tokens() * shape.channels());
  const auto gradients = analytic_gradients(shape, tensors, dout);
  EXPECT_EQ(gradients.logit_scale[1], 0.0);
  EXPECT_EQ(gradients.logit_scale[2], 0.0);
  // At the clamp the reference's derivative is the one from below: a one-sided difference, three points.
  const auto loss_at = [&](double scale) {
    tensors.logit_scale[0] = scale;
    return test::dot(attention_forward(shape, tensors).out, dout);
  };
  constexpr double kStep = 1e-5;
  const double slope =
      (3.0 * loss_at(kMaxLogitScale) - 4.0 * loss_at(kMaxLogitScale - kStep) + loss_at(kMaxLogitScale - 2.0 * kStep)) /
      (2.0 * kStep);
  EXPECT_GT(std::abs(slope), 1e-6);
  EXPECT_NEAR(gradients.logit_scale[0], slope, 1e-6 * std::abs(slope) + 1e-8);
}

// At the largest scale scores change by 100 over the range of a cosine: smaller steps.
TEST(WindowAttentionCosineGradient, EqualsFiniteDifferencesAtTheLargestScale) {
  const AttentionCase c{"shifted", {4, 4}, {2, 2}, {1, 1}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 2, 4);
  auto tensors = test::random_attention(shape, 5);
  tensors.logit_scale = {8.0, 4.6};
  Random random(6);
  const auto dout = random.normal(shape.grid.tokens() * shape.channels());
  const auto gradients = analytic_gradients(shape, tensors, dout);
  expect_gradient(
      "qkv", tensors.qkv, [&] { return test::dot(attention_forward(shape, tensors).out, dout); }, gradients.qkv, 1e-5,
      1e-6);
}

// Gradient of one q (part 0) or k (part 1) row of token 2, set to `row`, against differences within the clamp of
// x / max(|x|, 1e-12), where the direction is a linear function and steps of 1e-15 are exact but for rounding.
void expect_clamped_gradient(std::int64_t part, const std::vector<double>& row) {
  const AttentionCase c{"window", {2, 2}, {2, 2}, {0, 0}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 1, 3);
  auto tensors = test::random_attention(shape, 7);
  const auto place = tensors.qkv.begin() + (18 + part * 3);
  std::copy(row.begin(), row.end(), place);
  Random random(8);
  const auto dout = random.normal(shape.grid.tokens() * shape.channels());
  const auto gradients = analytic_gradients(shape, tensors, dout);
  std::vector<double> slope;
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    const double value = place[i];
    const auto loss_at = [&](double changed) {
      place[i] = changed;
      return test::dot(attention_forward(shape, tensors).out, dout);
    };
    slope.push_back((loss_at(value + 1e-15) - loss_at(value - 1e-15)) / 2e-15);
    place[i] = value;
  }
  const auto analytic = gradients.qkv.begin() + (18 + part * 3);
  EXPECT_GT(std::abs(*analytic), 1e8);
  EXPECT_LT(relative_error(std::vector<double>(analytic, analytic + 3), slope), 1e-5);
  for (const double g : gradients.qkv)
    ASSERT_TRUE(std::isfinite(g));
}

TEST(WindowAttentionCosineGradient, OfZeroAndTinyVectorsIsTheClampedBranchs) {
  for (const std::int64_t part : {0, 1}) {
    expect_clamped_gradient(part, {0.0, 0.0, 0.0});
    expect_clamped_gradient(part, {5e-13, -3e-13, 4e-13});
  }
}

// The tiles are uninitialized memory: nothing of what an earlier call, or another one's padding, left there may count.
TEST(WindowAttentionBackward, WhatTheScratchMemoryHoldsDoesNotMatter) {
  const int threads_before = cpu::thread_count();
  cpu::set_thread_count(1);
  // The first window is padded already, before any tile has been filled.
  const WindowAttentionShape shape{.grid = {.batch = 2, .map = {2, 2}, .window = {3, 3}, .shift = {0, 0}},
                                   .heads = 2,
                                   .head_dim = 3,
                                   .score = AttentionScore::kCosine};
  const auto tensors = test::random_attention(shape, 13);
  Random random(14);
  const auto dout = random.normal(shape.grid.tokens() * shape.channels());
  const auto run = [&](double content) {
    constexpr std::int64_t kMoreThanATile = 10000;
    std::fill_n(cpu::thread_scratch<double>(kMoreThanATile), kMoreThanATile, content);
    const auto lse = attention_forward(shape, tensors).lse;
    std::fill_n(cpu::thread_scratch<double>(kMoreThanATile), kMoreThanATile, content);
    return attention_backward(shape, tensors, lse, dout);
  };
  const auto clean = run(0.0);
  const auto poisoned = run(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(poisoned.qkv, clean.qkv);
  EXPECT_EQ(poisoned.bias_table, clean.bias_table);
  EXPECT_EQ(poisoned.pad_qkv, clean.pad_qkv);
  cpu::set_thread_count(threads_before);
}

TEST(WindowAttentionBackward, AddsParameterGradientsAndMayLeaveOutThePadding) {
  const AttentionCase c{"padded", {5, 4}, {3, 3}, {1, 1}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 2, 2, 3);
  const auto tensors = test::random_attention(shape, 9);
  Random random(10);
  const auto dout = random.normal(shape.grid.tokens() * shape.channels());
  const auto lse = attention_forward(shape, tensors).lse;
  const auto once = attention_backward(shape, tensors, lse, dout);
  AttentionTensors<double> sums = once;
  auto workspace = test::poisoned(cpu::window_attention_backward_workspace(shape));
  WindowAttentionGradients<double> targets{sums.qkv.data(), sums.bias_table.data(), sums.logit_scale.data(), nullptr};
  cpu::window_attention_backward(shape, tensors.inputs(), lse.data(), dout.data(), targets, workspace.data());
  EXPECT_EQ(sums.qkv, once.qkv);
  EXPECT_EQ(sums.pad_qkv, once.pad_qkv);
  targets.pad_qkv = sums.pad_qkv.data();
  cpu::window_attention_backward(shape, tensors.inputs(), lse.data(), dout.data(), targets, workspace.data());
  const auto times = [](std::vector<double> values, double factor) {
    for (double& value : values)
      value *= factor;
    return values;
  };
  EXPECT_LT(relative_error(sums.bias_table, times(once.bias_table, 3.0)), 1e-14);
  EXPECT_LT(relative_error(sums.logit_scale, times(once.logit_scale, 3.0)), 1e-14);
  EXPECT_LT(relative_error(sums.pad_qkv, times(once.pad_qkv, 2.0)), 1e-14);
  targets.bias_table = nullptr;
  EXPECT_THROW(
      cpu::window_attention_backward(shape, tensors.inputs(), lse.data(), dout.data(), targets, workspace.data()),
      std::invalid_argument);
}

// More windows than task ranges, so that ranges hold several windows.
TEST(WindowAttentionBackward, SinglePrecisionFollowsDouble) {
  for (const AttentionScore score : {AttentionScore::kScaledDot, AttentionScore::kCosine}) {
    const AttentionCase c{"model", {21, 28}, {7, 7}, {3, 3}};
    const WindowAttentionShape shape = attention_shape(c, score, 2, 2, 32);
    const auto single = test::converted_tensors<float>(test::random_attention(shape, 11, 2.0));
    const auto wide = test::converted_tensors<double>(single);
    Random random(12);
    const auto dout = random.normal<float>(shape.grid.tokens() * shape.channels());
    const auto actual = attention_backward(shape, single, attention_forward(shape, single).lse, dout);
    const auto expected =
        attention_backward(shape, wide, attention_forward(shape, wide).lse, test::converted<double>(dout));
    EXPECT_LT(relative_error(actual.qkv, expected.qkv), 2e-6);
    EXPECT_LT(relative_error(actual.bias_table, expected.bias_table), 2e-6);
    if (score == AttentionScore::kCosine) {
      EXPECT_LT(relative_error(actual.logit_scale, expected.logit_scale), 1e-5);
    }
  }
}

}  // namespace
}  // namespace swinscope
