#include "kernels/vector_math.h"

#include <limits>

#include "tests/unit/kernels/support.h"

namespace swinscope::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(VectorMath, ExponentialHasTwoUlpsOverTheWholeRange) {
  constexpr int kPoints = 1'050'000;
  for (int i = 0; i < kPoints; ++i) {
    const auto x = static_cast<float>(-87.3 + (88.72 + 87.3) * i / kPoints);
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(exponential(x), expected, 2.0e-7 * expected) << x;
  }
}

TEST(VectorMath, ExponentialEndsInInfinityAndThroughSubnormalsInZero) {
  EXPECT_EQ(exponential(0.0F), 1.0F);
  EXPECT_EQ(exponential(-0.0F), 1.0F);
  for (const float x : {-88.0F, -95.0F, -103.0F}) {
    const float expected = std::exp(x);
    EXPECT_NEAR(exponential(x), expected, 2.0F * std::numeric_limits<float>::denorm_min()) << x;
    EXPECT_GT(exponential(x), 0.0F);
  }
  for (const float x : {-105.0F, -1e10F, -3e38F, -kInfinity})
    EXPECT_EQ(exponential(x), 0.0F) << x;
  for (const float x : {88.8F, 1e10F, 3e38F, kInfinity})
    EXPECT_EQ(exponential(x), kInfinity) << x;
  EXPECT_NEAR(exponential(88.72F) / std::exp(88.72F), 1.0F, 3e-7F);
  EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

// The fit's own error, with its rounding, over the whole range where the tail is a normal number.
TEST(VectorMath, NormalDistributionKeepsTheTailsDigits) {
  constexpr int kPoints = 200'000;
  for (int i = 0; i <= kPoints; ++i) {
    const double at = -13.0 + 26.0 * i / kPoints;
    const auto x = static_cast<float>(at);
    const Normal<float> single = normal_distribution(x);
    const Normal<double> expected = normal_distribution(static_cast<double>(x));
    const double tolerance = 4e-7 + 6e-8 * at * at;
    ASSERT_NEAR(single.cumulative, expected.cumulative, tolerance * expected.cumulative) << x;
    ASSERT_NEAR(single.density, expected.density, tolerance * expected.density) << x;
  }
}

TEST(VectorMath, NormalDistributionIsExactFarOut) {
  EXPECT_EQ(normal_distribution(20.0F).cumulative, 1.0F);
  EXPECT_EQ(normal_distribution(-20.0F).cumulative, 0.0F);
  EXPECT_EQ(normal_distribution(-kInfinity).cumulative, 0.0F);
  EXPECT_EQ(normal_distribution(kInfinity).cumulative, 1.0F);
  EXPECT_NEAR(normal_distribution(0.0F).cumulative, 0.5F, 3e-8F);
}

}  // namespace
}  // namespace swinscope::cpu
