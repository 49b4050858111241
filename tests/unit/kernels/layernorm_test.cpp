#include "kernels/layernorm.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;

template <typename T>
struct Pass {
  std::vector<T> y, mean, rstd, dx, dgamma, dbeta;
};

template <typename T>
Pass<T> run(const LayerNormShape& shape, const std::vector<T>& x, const std::vector<T>& gamma,
            const std::vector<T>& beta, const std::vector<T>& dy) {
  const std::int64_t elements = shape.rows * shape.channels;
  Pass<T> pass{poisoned<T>(elements), poisoned<T>(shape.rows),      poisoned<T>(shape.rows),
               poisoned<T>(elements), std::vector<T>(gamma.size()), std::vector<T>(gamma.size())};
  cpu::layernorm_forward(shape, x.data(), gamma.data(), beta.data(), pass.y.data(), pass.mean.data(), pass.rstd.data());
  cpu::layernorm_backward(shape, x.data(), gamma.data(), pass.mean.data(), pass.rstd.data(), dy.data(), pass.dx.data(),
                          pass.dgamma.data(), pass.dbeta.data());
  return pass;
}

TEST(LayerNorm, ByHand) {
  // mean 3, variance 2 (of 1..5), rstd 1 / sqrt(2 + 0.25) = 2 / 3
  const std::vector<double> x{1, 2, 3, 4, 5};
  const std::vector<double> gamma{1, 1, 1, 3, 1};
  const std::vector<double> beta{0, 0, 7, 0, 0};
  const LayerNormShape shape{.rows = 1, .channels = 5, .epsilon = 0.25};
  const auto pass = run(shape, x, gamma, beta, x);
  const std::vector<double> expected{-4.0 / 3, -2.0 / 3, 7, 2, 4.0 / 3};
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(pass.y[i], expected[i], 1e-15);
  EXPECT_NEAR(pass.mean[0], 3.0, 1e-15);
  EXPECT_NEAR(pass.rstd[0], 2.0 / 3, 1e-15);
}

TEST(LayerNorm, GradientsEqualFiniteDifferences) {
  Random random(1);
  for (const std::int64_t channels : {3, 16, 37}) {
    const LayerNormShape shape{.rows = 4, .channels = channels};
    auto x = random.normal(shape.rows * channels, 2.0, 0.5);
    auto gamma = random.uniform(channels, 0.5, 1.5);
    auto beta = random.normal(channels);
    const auto dy = random.normal(shape.rows * channels);
    const auto pass = run(shape, x, gamma, beta, dy);
    const auto loss = [&] { return test::dot(run(shape, x, gamma, beta, dy).y, dy); };
    expect_gradient("x", x, loss, pass.dx);
    expect_gradient("gamma", gamma, loss, pass.dgamma);
    expect_gradient("beta", beta, loss, pass.dbeta);
  }
}

TEST(LayerNorm, ParameterGradientsAreAddedAndDxMayBeDy) {
  Random random(2);
  const LayerNormShape shape{.rows = 40, .channels = 70};
  const auto x = random.normal(shape.rows * shape.channels);
  const auto gamma = random.uniform(shape.channels, 0.5, 1.5);
  const auto dy = random.normal(shape.rows * shape.channels);
  const auto pass = run(shape, x, gamma, gamma, dy);
  auto in_place = dy;
  std::vector<double> dgamma(gamma.size(), 2.0);
  std::vector<double> dbeta(gamma.size(), -3.0);
  cpu::layernorm_backward(shape, x.data(), gamma.data(), pass.mean.data(), pass.rstd.data(), in_place.data(),
                          in_place.data(), dgamma.data(), dbeta.data());
  EXPECT_EQ(in_place, pass.dx);
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    EXPECT_NEAR(dgamma[c], 2.0 + pass.dgamma[c], 1e-13);
    EXPECT_NEAR(dbeta[c], -3.0 + pass.dbeta[c], 1e-13);
  }
  auto y = x;
  auto mean = pass.mean;
  auto rstd = pass.rstd;
  cpu::layernorm_forward(shape, y.data(), gamma.data(), gamma.data(), y.data(), mean.data(), rstd.data());
  EXPECT_EQ(y, pass.y);
}

// mean_over_sigma: how far the rows lie from zero, and sigma their spread.
void expect_single_follows_double(double mean, double sigma, double tolerance) {
  Random random(3);
  const LayerNormShape shape{.rows = 300, .channels = 96};
  const auto x = random.normal<float>(shape.rows * shape.channels, sigma, mean);
  const auto gamma = random.uniform<float>(shape.channels, 0.5, 1.5);
  const auto beta = random.normal<float>(shape.channels, 0.2);
  const auto dy = random.normal<float>(shape.rows * shape.channels);
  const auto single = run(shape, x, gamma, beta, dy);
  const auto reference = run(shape, test::converted<double>(x), test::converted<double>(gamma),
                             test::converted<double>(beta), test::converted<double>(dy));
  EXPECT_LT(relative_error(single.y, reference.y), tolerance);
  EXPECT_LT(relative_error(single.dx, reference.dx), tolerance);
  EXPECT_LT(relative_error(single.dgamma, reference.dgamma), tolerance);
  EXPECT_LT(relative_error(single.dbeta, reference.dbeta), 1e-6);
  EXPECT_LT(relative_error(single.rstd, reference.rstd), tolerance);
}

TEST(LayerNorm, SinglePrecisionFollowsDouble) { expect_single_follows_double(0.1, 1.0, 1e-6); }

// One ulp of the mean is 6e-8 * 1000 sigma.
TEST(LayerNorm, RowsFarFromZeroKeepTheirDigits) { expect_single_follows_double(1000.0, 1.0, 6e-5); }

// Variance far below epsilon: the result is dominated by rstd = 1 / sqrt(epsilon).
TEST(LayerNorm, RowsOfNearlyNoVariance) { expect_single_follows_double(0.01, 1e-6, 6e-3); }

TEST(LayerNorm, ConstantRowsGiveBeta) {
  const LayerNormShape shape{.rows = 2, .channels = 33};
  const std::vector<float> x(66, 1.7F);
  const std::vector<float> gamma(33, 2.0F);
  const std::vector<float> beta(33, 0.375F);
  const auto pass = run(shape, x, gamma, beta, x);
  for (const float value : pass.y)
    EXPECT_NEAR(value, 0.375F, 1e-4F);
}

TEST(LayerNorm, RefusesNoChannels) {
  float x = 0.0F;
  EXPECT_THROW(cpu::layernorm_forward({.rows = 1, .channels = 0}, &x, &x, &x, &x, &x, &x), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
