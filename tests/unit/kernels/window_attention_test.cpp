#include "kernels/window_attention.h"

#include <stdexcept>

#include "tests/unit/kernels/attention_cases.h"
#include "tests/unit/kernels/reference_attention.h"

namespace swinscope {
namespace {

using test::attention_forward;
using test::attention_shape;
using test::AttentionCase;
using test::AttentionTensors;
using test::relative_error;

constexpr AttentionScore kScores[] = {AttentionScore::kScaledDot, AttentionScore::kCosine};

TEST(WindowAttention, EqualsTheReferenceStepByStep) {
  for (const AttentionScore score : kScores) {
    for (const AttentionCase& c : test::attention_cases()) {
      const WindowAttentionShape shape = attention_shape(c, score, 2, 3, 5);
      const auto tensors = test::random_attention(shape, 1);
      const auto expected = test::reference_attention(shape, tensors.inputs());
      const auto actual = attention_forward(shape, tensors);
      EXPECT_LT(relative_error(actual.out, expected.out), 1e-13) << c.name;
      EXPECT_LT(relative_error(actual.lse, expected.lse), 1e-13) << c.name;
    }
  }
}

// The window sizes of the models, logit scales up to the largest, single precision against the double
// reference on the same rounded inputs.
TEST(WindowAttention, SinglePrecisionFollowsTheReference) {
  for (const AttentionScore score : kScores) {
    for (const std::int64_t window : {7, 8}) {
      const AttentionCase c{"model", {2 * window, 3 * window}, {window, window}, {window / 2, window / 2}};
      const WindowAttentionShape shape = attention_shape(c, score, 1, 2, 32);
      auto single = test::converted_tensors<float>(test::random_attention(shape, 2, 4.0));
      single.logit_scale[0] = 9.0F;  // clamped to ln 100
      const auto wide = test::converted_tensors<double>(single);
      const auto expected = test::reference_attention(shape, wide.inputs());
      const auto actual = attention_forward(shape, single);
      EXPECT_LT(relative_error(actual.out, expected.out), 1e-5) << window;
      EXPECT_LT(relative_error(actual.lse, expected.lse), 1e-5) << window;
    }
  }
}

TEST(WindowAttention, PaddingWithoutBiasIsZero) {
  const AttentionCase c{"padded", {5, 4}, {3, 3}, {1, 1}};
  for (const AttentionScore score : kScores) {
    const WindowAttentionShape shape = attention_shape(c, score, 1, 2, 4);
    auto tensors = test::random_attention(shape, 3);
    std::fill(tensors.pad_qkv.begin(), tensors.pad_qkv.end(), 0.0);
    const auto with_zeros = attention_forward(shape, tensors);
    WindowAttentionInputs<double> inputs = tensors.inputs();
    inputs.pad_qkv = nullptr;
    auto out = test::poisoned(static_cast<std::int64_t>(with_zeros.out.size()));
    cpu::window_attention_forward(shape, inputs, out.data(), nullptr);
    EXPECT_EQ(out, with_zeros.out);
  }
}

// Two tokens in one shifted window that are no neighbours. Their cosine is 1, that of neighbours -1, the
// scale 100: the score of the masked pair is 100 - 100 = 0, the others' is -100. So the mask must leak: with
// -inf the output would be the neighbours' value.
TEST(WindowAttention, TheMaskIsMinusHundredAndLeaks) {
  const AttentionCase c{"row", {1, 4}, {1, 2}, {0, 1}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 1, 2);
  AttentionTensors<double> tensors;
  // The last window holds token 3 and, wrapped around, token 0: q, k, v each.
  tensors.qkv = {1, 0, 1, 0, 5, 0,                                        // token 0
                 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 7, 0};  // token 3: its query opposes every key
  tensors.bias_table = {0.0, 0.0, 0.0};
  tensors.logit_scale = {10.0};
  tensors.pad_qkv = std::vector<double>(6, 0.0);
  // Query 0: itself 100, token 3 masked 100 - 100. Query 3: itself -100, token 0 -100 - 100.
  auto out = attention_forward(shape, tensors).out;
  EXPECT_NEAR(out[0], 5.0, 1e-12);
  EXPECT_NEAR(out[6], 7.0, 1e-12);
  // Token 3's key turned: query 0 scores itself 100 and token 3 -200; query 3 scores itself 100, token 0
  // -200. Token 0's query turned against its own key: itself -100, token 3 at cosine 1: 100 - 100 = 0.
  tensors.qkv[0] = -1.0;
  tensors.qkv[20] = -1.0;
  out = attention_forward(shape, tensors).out;
  EXPECT_NEAR(out[0], 7.0, 1e-12) << "a masked pair must be able to win";
}

TEST(WindowAttention, ZeroVectorsHaveCosineZero) {
  const AttentionCase c{"window", {2, 2}, {2, 2}, {0, 0}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 1, 3);
  for (const bool zero_key : {false, true}) {
    auto tensors = test::random_attention(shape, 4, 4.5);
    const std::int64_t part = zero_key ? 1 : 0;
    std::fill_n(tensors.qkv.begin() + (18 + part * 3), 3, 0.0);  // of token 2
    const auto actual = attention_forward(shape, tensors);
    const auto expected = test::reference_attention(shape, tensors.inputs());
    EXPECT_LT(relative_error(actual.out, expected.out), 1e-13);
    const auto single = attention_forward(shape, test::converted_tensors<float>(tensors));
    EXPECT_LT(relative_error(single.out, expected.out), 1e-5);
  }
}

TEST(WindowAttention, LogitScaleIsClampedAtLnHundred) {
  const AttentionCase c{"plain", {4, 4}, {2, 2}, {0, 0}};
  const WindowAttentionShape shape = attention_shape(c, AttentionScore::kCosine, 1, 1, 4);
  auto tensors = test::random_attention(shape, 5);
  const auto at = [&](double logit_scale) {
    tensors.logit_scale = {logit_scale};
    return attention_forward(shape, tensors).out;
  };
  const auto limit = at(std::log(100.0));
  EXPECT_EQ(at(50.0), limit);
  EXPECT_GT(relative_error(at(std::log(100.0) - 1e-3), limit), 1e-6);
}

TEST(WindowAttention, RefusesWhatItCannotMean) {
  const AttentionCase c{"plain", {4, 4}, {2, 2}, {1, 1}};
  const WindowAttentionShape good = attention_shape(c, AttentionScore::kCosine, 1, 1, 2);
  const auto tensors = test::random_attention(good, 6);
  auto out = test::poisoned(32);
  const auto call = [&](const WindowAttentionShape& shape, const WindowAttentionInputs<double>& inputs) {
    cpu::window_attention_forward(shape, inputs, out.data(), nullptr);
  };
  WindowAttentionShape bad = good;
  bad.grid.shift.width = 2;
  EXPECT_THROW(call(bad, tensors.inputs()), std::invalid_argument);
  bad = good;
  bad.heads = 0;
  EXPECT_THROW(call(bad, tensors.inputs()), std::invalid_argument);
  WindowAttentionInputs<double> incomplete = tensors.inputs();
  incomplete.logit_scale = nullptr;
  EXPECT_THROW(call(good, incomplete), std::invalid_argument);
  incomplete = tensors.inputs();
  incomplete.bias_table = nullptr;
  EXPECT_THROW(call(good, incomplete), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
