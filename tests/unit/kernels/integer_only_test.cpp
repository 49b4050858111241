// Integer-only softmax, GELU and normalization against real arithmetic on the same integers, with the errors that
// kernels/integer_only.h states.
#include "kernels/integer_only.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/check.h"

namespace swinscope::test {
namespace {

constexpr float kScales[] = {1.0F / 512.0F, 1.0F / 100.0F, 1.0F / 32.0F, 1.0F / 16.0F, 0.1F};

std::vector<int> drawn_row(std::mt19937& engine, int count, int low, int high) {
  std::uniform_int_distribution<int> draw(low, high);
  std::vector<int> row(static_cast<std::size_t>(count));
  for (int& value : row)
    value = draw(engine);
  return row;
}

std::vector<int> probabilities(const IntegerExponential& exponential, const std::vector<int>& row) {
  const int top = *std::max_element(row.begin(), row.end());
  std::uint32_t sum = 0;
  for (const int value : row)
    sum += softmax_exponential(exponential, top - value);
  std::vector<int> found;
  found.reserve(row.size());
  for (const int value : row)
    found.push_back(softmax_probability(softmax_exponential(exponential, top - value), softmax_reciprocal(sum)));
  return found;
}

int cut_off(int value) { return std::clamp(value, -128, 127); }

// A straight line for 2^-f: from 0 to 6.15 % too large, and log2(e) as 1.4375 makes powers 0.36 % too small.
TEST(IntegerOnly, AnExponentialIsWithinItsStraightLine) {
  for (const float scale : {1.0F / 512.0F, 0.01F, 1.0F / 16.0F, 0.1F, 1.0F}) {
    const IntegerExponential exponential = IntegerExponential::of(scale);
    EXPECT_EQ(softmax_exponential(exponential, 0), exponential.one());
    std::uint32_t last = exponential.one();
    for (int below = 0; below <= 255; ++below) {
      const std::uint32_t found = softmax_exponential(exponential, below);
      EXPECT_LE(found, last) << scale << " " << below;
      last = found;
      const double exact = std::exp(-static_cast<double>(scale) * below) * exponential.one();
      if (exact < 256.0) continue;  // of 2^16
      EXPECT_GE(found, 0.985 * exact) << scale << " " << below;
      EXPECT_LE(found, 1.065 * exact * (1.0 + 0.004 * static_cast<double>(scale) * below)) << scale << " " << below;
    }
  }
}

// scale 1/16: I0 = 64 * 16. One below is 1.4375 * 64 = 92 of it, and sixteen are 1472 = 1024 + 448: half of 1 -
// 448/2048.
TEST(IntegerOnly, AnExponentialByHand) {
  const IntegerExponential exponential = IntegerExponential::of(1.0F / 16.0F);
  EXPECT_EQ(exponential.unit, 1024U);
  EXPECT_EQ(exponential.one(), 65536U);
  EXPECT_EQ(softmax_exponential(exponential, 1), 65536U - 32U * 92U);
  EXPECT_EQ(softmax_exponential(exponential, 16), (65536U - 32U * 448U) / 2U);
  EXPECT_EQ(times_gelu_slope(64), 108);
  EXPECT_EQ(times_log2_e(108), 156);  // 108 + 54 - 6.75, which is cut off to 6
}

// A multiplication and a shift are the paper's division by I0, and what is multiplied fits 32 bits.
TEST(IntegerOnly, QuotientsAreExactForEveryPower) {
  constexpr std::uint64_t kMostPower = 23460;
  EXPECT_EQ(times_log2_e(255 * 64), kMostPower);
  EXPECT_LT(times_log2_e(times_gelu_slope(128 * 64)), kMostPower);
  for (int part = 1; part <= 512; ++part) {
    const IntegerExponential exponential = IntegerExponential::of(static_cast<float>(part) / 512.0F);
    EXPECT_GT(exponential.one(), 1U << 15);
    EXPECT_LE(exponential.one(), 1U << 16);
    EXPECT_LT(kMostPower * exponential.reciprocal, std::uint64_t{1} << 31);
    for (std::uint64_t power = 0; power <= kMostPower; ++power)
      ASSERT_EQ(power * exponential.reciprocal >> exponential.reciprocal_shift, power / exponential.unit) << part;
  }
}

// With u = 1.702 scale |x| the exponential is e^-u, too large by 0 to 6.15 % (the line) and by a part u (1 - 1.4375 *
// 1.6875 / (1.702 log2(e))) = 0.0121 u (the constants), give or take I0's rounding, u / 2 of I0; too small by 2^(1 /
// I0) (a power's last digit). A sigmoid is cut off to 1 / 4096.
TEST(IntegerOnly, ASigmoidIsWithinItsExponential) {
  for (const float scale : kScales) {
    const IntegerExponential exponential = IntegerExponential::of(scale);
    const double unit = exponential.unit;
    for (int x = -128; x <= 127; ++x) {
      const double u = 1.702 * static_cast<double>(scale) * std::abs(x);
      const double least = std::exp(-u * (1.0 - 0.0120 + 0.51 / unit)) * std::exp2(-1.0 / unit) - 0x1p-15;
      const double most = std::exp(-u * (1.0 - 0.0122 - 0.51 / unit)) * 1.0615;
      const double low = x < 0 ? least / (1.0 + least) : 1.0 / (1.0 + most);
      const double high = x < 0 ? most / (1.0 + most) : 1.0 / (1.0 + std::max(least, 0.0));
      EXPECT_GE(integer_sigmoid(exponential, x), 4096.0 * low - 1.0) << scale << " " << x;
      EXPECT_LE(integer_sigmoid(exponential, x), 4096.0 * high) << scale << " " << x;
    }
  }
}

// Scales become integers within half a unit of their last digit.
TEST(IntegerOnly, ScalesKeepTheirDigits) {
  for (const float scale : {1.0F / 300.0F, 0.03F, 0.1F, 0.7F}) {
    const IntegerGelu gelu = IntegerGelu::of(scale, 0.02F);
    EXPECT_NEAR(std::ldexp(gelu.factor, kSigmoidBits - gelu.shift) * 0.02 / static_cast<double>(scale), 1.0, 0x1p-11);
    const IntegerNorm norm = IntegerNorm::of(1e-5, 0.03F, scale);
    EXPECT_NEAR(std::ldexp(norm.gain, -norm.gain_shift) * static_cast<double>(scale), 1.0, 0x1.01p-15);
  }
}

TEST(IntegerOnly, ProbabilitiesAreWithinThreeSteps) {
  std::mt19937 engine(1);
  for (const float scale : kScales) {
    const IntegerExponential exponential = IntegerExponential::of(scale);
    for (int turn = 0; turn < 400; ++turn) {
      std::vector<int> row = drawn_row(engine, 1 + turn % 64, -128, 127);
      if (turn % 5 == 0) row = drawn_row(engine, 49, -8, 8);
      const std::vector<int> found = probabilities(exponential, row);
      double sum = 0.0;
      for (const int value : row)
        sum += std::exp(static_cast<double>(scale) * value);
      int total = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double exact = 128.0 * std::exp(static_cast<double>(scale) * row[i]) / sum;
        EXPECT_NEAR(found[i], exact, 3.0) << scale << " of " << row.size();
        total += found[i];
      }
      // Each is rounded to nearest.
      EXPECT_NEAR(total, 128, 0.5 * static_cast<double>(row.size()) + 1.0);
    }
  }
}

TEST(IntegerOnly, ProbabilitiesOfOneValueAndOfExtremes) {
  for (const float scale : kScales) {
    const IntegerExponential exponential = IntegerExponential::of(scale);
    for (const int value : {-128, 0, 127})
      EXPECT_EQ(probabilities(exponential, std::vector<int>(64, value)), std::vector<int>(64, 2));
    EXPECT_EQ(probabilities(exponential, {-128}), std::vector<int>{128});
  }
  std::vector<int> row(49, -128);
  row[7] = 127;
  const std::vector<int> found = probabilities(IntegerExponential::of(0.1F), row);
  EXPECT_EQ(found[7], 128);
  EXPECT_EQ(found[8], 0);
}

TEST(IntegerOnly, GeluIsWithinItsStepsForEveryInput) {
  for (const float scale : kScales) {
    for (const float result_scale : {scale, 2.0F * scale, 0.02F}) {
      const IntegerGelu gelu = IntegerGelu::of(scale, result_scale);
      for (int x = -128; x <= 127; ++x) {
        const double value = static_cast<double>(scale) * x;
        const double exact = 0.5 * value * (1.0 + std::erf(value / std::sqrt(2.0)));
        EXPECT_NEAR(static_cast<double>(result_scale) * integer_gelu(gelu, x), exact,
                    0.032 + 0.6 * static_cast<double>(result_scale))
            << scale << " " << result_scale << " " << x;
      }
      EXPECT_EQ(integer_gelu(gelu, 0), 0);
    }
  }
}

TEST(IntegerOnly, ARootIsRoundedDownOrOneMore) {
  std::mt19937 engine(2);
  std::uniform_int_distribution<std::uint32_t> draw(1U << 28, (1U << 30) - 1);
  std::vector<std::uint32_t> values = {1U << 28, (1U << 28) + 1, 21845U * 21845U, (1U << 30) - 1};
  for (int i = 0; i < 200'000; ++i)
    values.push_back(draw(engine));
  for (const std::uint32_t value : values) {
    const auto exact = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(value)));
    const std::uint32_t found = newton_root(value);
    EXPECT_TRUE(found == exact || found == exact + 1) << value;
  }
}

TEST(IntegerOnly, NormalizedRowsAreWithinHalfAStepAndAPart) {
  std::mt19937 engine(3);
  constexpr double kEpsilon = 1e-5;
  for (const float scale : {1.0F / 100.0F, 1.0F / 32.0F, 0.1F}) {
    for (const float result_scale : {1.0F / 32.0F, 1.0F / 20.0F}) {
      const IntegerNorm norm = IntegerNorm::of(kEpsilon, scale, result_scale);
      for (const int channels : {128, 256, 512, 1024}) {
        for (const int reach : {2, 20, 127}) {
          const std::vector<int> row = drawn_row(engine, channels, -reach - (reach < 127 ? 0 : 1), reach);
          int sum = 0;
          int squares = 0;
          for (const int value : row) {
            sum += value;
            squares += value * value;
          }
          const IntegerRow integers = integer_row(norm, channels, sum, squares);
          const double mean = static_cast<double>(sum) / channels;
          const double variance = static_cast<double>(squares) / channels - mean * mean +
                                  kEpsilon / (static_cast<double>(scale) * static_cast<double>(scale));
          for (const int value : row) {
            const double exact = (value - mean) / std::sqrt(variance) / static_cast<double>(result_scale);
            EXPECT_NEAR(integers.normalized(value), exact, 0.55 + std::abs(exact) / 6000.0)
                << scale << " " << channels << " " << reach;
          }
        }
      }
    }
  }
}

TEST(IntegerOnly, RowsOfOneValueAreNormalizedToZero) {
  const IntegerNorm norm = IntegerNorm::of(1e-5, 1.0F / 32.0F, 1.0F / 32.0F);
  for (const int channels : {128, 1024}) {
    for (const int value : {-128, -1, 0, 127})
      EXPECT_EQ(integer_row(norm, channels, channels * value, channels * value * value).normalized(value), 0) << value;
  }
  // Half of the row at either end: one standard deviation, 32 steps.
  const IntegerRow row = integer_row(norm, 1024, 512 * (127 - 128), 512 * (127 * 127 + 128 * 128));
  EXPECT_EQ(cut_off(row.normalized(127)), 32);
  EXPECT_EQ(cut_off(row.normalized(-128)), -32);
}

TEST(IntegerOnly, ScalesThatNoIntegerHasRoomForAreRefused) {
  EXPECT_THROW(IntegerExponential::of(0.0F), std::invalid_argument);
  EXPECT_THROW(IntegerExponential::of(2.0F), std::invalid_argument);
  EXPECT_THROW(IntegerGelu::of(0.1F, 100.0F), std::invalid_argument);
  EXPECT_THROW(IntegerNorm::of(1.0, 0.01F, 0.1F), std::invalid_argument);
  EXPECT_THROW(IntegerNorm::of(1e-5, 0.1F, 8.0F), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope::test
