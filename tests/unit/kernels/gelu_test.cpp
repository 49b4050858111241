#include "kernels/gelu.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;

template <typename T>
std::vector<T> forward(const std::vector<T>& x) {
  auto y = poisoned<T>(static_cast<std::int64_t>(x.size()));
  cpu::gelu_forward(static_cast<std::int64_t>(x.size()), x.data(), y.data());
  return y;
}

template <typename T>
std::vector<T> backward(const std::vector<T>& x, const std::vector<T>& dy) {
  auto dx = poisoned<T>(static_cast<std::int64_t>(x.size()));
  cpu::gelu_backward(static_cast<std::int64_t>(x.size()), x.data(), dy.data(), dx.data());
  return dx;
}

TEST(Gelu, KnownValues) {
  // x * Phi(x) with Phi from tables of the normal distribution
  const auto y = forward<double>({0.0, 1.0, -1.0, 2.0, -3.0});
  const std::vector<double> expected{0.0, 0.8413447460685429, -0.15865525393145705, 1.9544997361036416,
                                     -0.00404969409489028};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(y[i], expected[i], 1e-15);
}

// The tanh approximation differs by up to 4.7e-4; this is the exact form.
TEST(Gelu, IsTheErfForm) {
  Random random(1);
  const auto x = random.uniform(1000, -5.0, 5.0);
  const auto y = forward(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto wide = static_cast<long double>(x[i]);
    const long double expected = 0.5L * wide * (1.0L + std::erf(wide / std::sqrt(2.0L)));
    ASSERT_NEAR(y[i], static_cast<double>(expected), 1e-15);
  }
}

TEST(Gelu, GradientEqualsFiniteDifferences) {
  Random random(2);
  auto x = random.uniform(60, -4.0, 4.0);
  const auto dy = random.normal(60);
  test::expect_gradient(
      "x", x, [&] { return test::dot(forward(x), dy); }, backward(x, dy));
}

// Element by element, tails included: where 1 + erf would cancel there must still be digits. What the
// rounding of x^2 / 2 does to exp(-x^2 / 2) is unavoidable.
TEST(Gelu, SinglePrecisionFollowsDoubleEverywhere) {
  std::vector<float> x;
  for (int i = -11000; i <= 11000; ++i)
    x.push_back(static_cast<float>(i) * 1e-3F);
  const std::vector<float> one(x.size(), 1.0F);
  const auto y = forward(x);
  const auto dx = backward(x, one);
  const auto y_reference = forward(test::converted<double>(x));
  const auto dx_reference = backward(test::converted<double>(x), test::converted<double>(one));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double tolerance = 4e-7 + 6e-8 * static_cast<double>(x[i] * x[i]);
    ASSERT_NEAR(y[i], y_reference[i], tolerance * std::abs(y_reference[i])) << x[i];
    // The derivative crosses zero near -0.75.
    ASSERT_NEAR(dx[i], dx_reference[i],
                tolerance * (std::abs(dx_reference[i]) + 0.5 * std::exp(-0.5 * static_cast<double>(x[i] * x[i]))))
        << x[i];
  }
}

TEST(Gelu, LimitsAreExact) {
  const auto y = forward<float>({40.0F, -40.0F, 1e30F, -1e30F});
  EXPECT_EQ(y[0], 40.0F);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_EQ(y[2], 1e30F);
  EXPECT_EQ(y[3], 0.0F);
  EXPECT_EQ(backward<float>({40.0F, -40.0F}, {2.0F, 2.0F}), (std::vector<float>{2.0F, 0.0F}));
  EXPECT_TRUE(std::isnan(forward<float>({std::numeric_limits<float>::quiet_NaN()})[0]));
}

TEST(Gelu, MayWorkInPlace) {
  Random random(3);
  const auto x = random.normal<float>(10000);
  const auto dy = random.normal<float>(10000);
  auto y = x;
  cpu::gelu_forward(10000, y.data(), y.data());
  EXPECT_EQ(y, forward(x));
  auto dx = dy;
  cpu::gelu_backward(10000, x.data(), dx.data(), dx.data());
  EXPECT_EQ(dx, backward(x, dy));
}

}  // namespace
}  // namespace swinscope
