#include "kernels/batchnorm.h"

#include <cmath>
#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

constexpr BatchNormShape kSmall{.rows = 7, .channels = 35};

template <typename T>
struct Statistics {
  std::vector<double> sums;
  std::vector<T> mean, rstd;
};

template <typename T>
Statistics<T> statistics(const BatchNormShape& s, const std::vector<T>& x) {
  Statistics<T> result{poisoned(s.sum_elements()), poisoned<T>(s.channels), poisoned<T>(s.channels)};
  cpu::batchnorm_sums(s, x.data(), result.sums.data());
  cpu::batchnorm_statistics<T>(s, result.sums.data(), result.mean.data(), result.rstd.data(), nullptr, nullptr);
  return result;
}

template <typename T>
std::vector<T> forward(const BatchNormShape& s, const std::vector<T>& x, const std::vector<T>& gamma,
                       const std::vector<T>& beta) {
  const auto of = statistics(s, x);
  auto y = poisoned<T>(s.rows * s.channels);
  cpu::batchnorm_forward(s, x.data(), of.mean.data(), of.rstd.data(), gamma.data(), beta.data(), y.data());
  return y;
}

TEST(BatchNorm, NormalizesEachChannelOverTheRows) {
  Random random(1);
  const BatchNormShape s{.rows = 500, .channels = 35};
  const std::vector<double> ones(35, 1.0);
  const std::vector<double> zeros(35, 0.0);
  const auto y = forward(s, random.normal(s.rows * s.channels, 3.0, 5.0), ones, zeros);
  for (std::int64_t c = 0; c < s.channels; ++c) {
    double sum = 0.0;
    double squares = 0.0;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      const double value = y[to_size(r * s.channels + c)];
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 500, 0.0, 1e-12);
    EXPECT_NEAR(squares / 500, 1.0, 1e-5);  // epsilon's share
  }
}

TEST(BatchNorm, GradientsEqualFiniteDifferences) {
  Random random(2);
  auto x = random.normal(kSmall.rows * kSmall.channels, 2.0, 1.0);
  auto gamma = random.normal(kSmall.channels);
  auto beta = random.normal(kSmall.channels);
  const auto dy = random.normal(kSmall.rows * kSmall.channels);
  const auto loss = [&] { return test::dot(forward(kSmall, x, gamma, beta), dy); };
  const auto of = statistics(kSmall, x);
  auto sums = poisoned(kSmall.sum_elements());
  std::vector<double> dgamma(gamma.size());
  std::vector<double> dbeta(beta.size());
  cpu::batchnorm_backward_sums(kSmall, x.data(), of.mean.data(), of.rstd.data(), dy.data(), sums.data(), dgamma.data(),
                               dbeta.data());
  auto dx = dy;  // in place
  cpu::batchnorm_backward(kSmall, x.data(), of.mean.data(), of.rstd.data(), gamma.data(), sums.data(), dx.data(),
                          dx.data());
  expect_gradient("x", x, loss, dx, 1e-3, 1e-7);
  expect_gradient("gamma", gamma, loss, dgamma);
  expect_gradient("beta", beta, loss, dbeta);
}

// Two ranks with different numbers of rows, whose sums are added between the halves, against all rows on one.
TEST(BatchNorm, SumsOfRanksAddUpToTheJoinedBatch) {
  Random random(3);
  const BatchNormShape whole{.rows = 12, .channels = 35};
  const auto x = random.normal(whole.rows * whole.channels, 0.1, 100.0);
  const auto dy = random.normal(whole.rows * whole.channels);
  const auto gamma = random.normal(whole.channels);
  const auto beta = random.normal(whole.channels);
  const auto joined = statistics(whole, x);
  const auto joined_y = forward(whole, x, gamma, beta);
  auto joined_sums = poisoned(whole.sum_elements());
  std::vector<double> joined_dgamma(35);
  std::vector<double> joined_dbeta(35);
  cpu::batchnorm_backward_sums(whole, x.data(), joined.mean.data(), joined.rstd.data(), dy.data(), joined_sums.data(),
                               joined_dgamma.data(), joined_dbeta.data());
  auto joined_dx = poisoned(whole.rows * whole.channels);
  cpu::batchnorm_backward(whole, x.data(), joined.mean.data(), joined.rstd.data(), gamma.data(), joined_sums.data(),
                          dy.data(), joined_dx.data());

  const std::int64_t rows[] = {4, 8};
  std::vector<double> sums(to_size(whole.sum_elements()));
  std::vector<double> backward_sums(to_size(whole.sum_elements()));
  std::vector<double> dgamma(35);
  std::vector<double> dbeta(35);
  const auto add_ranks = [&](std::vector<double>& total, const auto& part) {
    std::int64_t first = 0;
    for (const std::int64_t count : rows) {
      BatchNormShape rank = whole;
      rank.rows = count;
      auto own = poisoned(rank.sum_elements());
      part(rank, first * whole.channels, own);
      for (std::size_t i = 0; i < own.size(); ++i)
        total[i] += own[i];
      first += count;
    }
  };
  add_ranks(sums, [&](const BatchNormShape& rank, std::int64_t at, std::vector<double>& own) {
    cpu::batchnorm_sums(rank, x.data() + at, own.data());
  });
  auto mean = poisoned(35);
  auto rstd = poisoned(35);
  cpu::batchnorm_statistics<double>(whole, sums.data(), mean.data(), rstd.data(), nullptr, nullptr);
  EXPECT_LT(relative_error(mean, joined.mean), 1e-14);
  EXPECT_LT(relative_error(rstd, joined.rstd), 1e-9);  // the mean is a thousand times the standard deviation
  add_ranks(backward_sums, [&](const BatchNormShape& rank, std::int64_t at, std::vector<double>& own) {
    cpu::batchnorm_backward_sums(rank, x.data() + at, mean.data(), rstd.data(), dy.data() + at, own.data(),
                                 dgamma.data(), dbeta.data());
  });
  EXPECT_LT(relative_error(dgamma, joined_dgamma), 1e-9);
  EXPECT_LT(relative_error(dbeta, joined_dbeta), 1e-12);
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    BatchNormShape rank = whole;
    rank.rows = count;
    const std::int64_t at = first * whole.channels;
    auto y = poisoned(count * 35);
    cpu::batchnorm_forward(rank, x.data() + at, mean.data(), rstd.data(), gamma.data(), beta.data(), y.data());
    auto dx = poisoned(count * 35);
    cpu::batchnorm_backward(rank, x.data() + at, mean.data(), rstd.data(), gamma.data(), backward_sums.data(),
                            dy.data() + at, dx.data());
    EXPECT_LT(relative_error(y, std::vector<double>(joined_y.begin() + at, joined_y.begin() + at + count * 35)), 1e-8);
    EXPECT_LT(relative_error(dx, std::vector<double>(joined_dx.begin() + at, joined_dx.begin() + at + count * 35)),
              1e-8);
    first += count;
  }
}

TEST(BatchNorm, RunningStatisticsMoveTowardsTheBatch) {
  // One channel, rows 1 and 3: mean 2, biased variance 1, unbiased 2.
  const BatchNormShape s{.rows = 2, .channels = 1, .epsilon = 0.0};
  const std::vector<double> x{1.0, 3.0};
  std::vector<double> sums(3);
  cpu::batchnorm_sums(s, x.data(), sums.data());
  EXPECT_EQ(sums, (std::vector<double>{4.0, 10.0, 2.0}));
  double mean = 0.0;
  double rstd = 0.0;
  double running_mean = 10.0;
  double running_variance = 4.0;
  cpu::batchnorm_statistics(s, sums.data(), &mean, &rstd, &running_mean, &running_variance);
  EXPECT_EQ(mean, 2.0);
  EXPECT_EQ(rstd, 1.0);
  EXPECT_DOUBLE_EQ(running_mean, 0.9 * 10.0 + 0.1 * 2.0);
  EXPECT_DOUBLE_EQ(running_variance, 0.9 * 4.0 + 0.1 * 2.0);
  cpu::batchnorm_running(s, &running_mean, &running_variance, &mean, &rstd);
  EXPECT_EQ(mean, running_mean);
  EXPECT_DOUBLE_EQ(rstd, 1.0 / std::sqrt(3.8));
}

TEST(BatchNorm, SinglePrecisionKeepsItsDigitsFarFromZero) {
  Random random(4);
  const BatchNormShape s{.rows = 4096, .channels = 8};
  const auto x = random.normal<float>(s.rows * s.channels, 1.0, 1000.0);
  const auto single = statistics(s, x);
  const auto reference = statistics(s, test::converted<double>(x));
  EXPECT_LT(relative_error(single.mean, reference.mean), 1e-6);
  EXPECT_LT(relative_error(single.rstd, reference.rstd), 1e-6);
}

TEST(BatchNorm, AConstantChannelGivesNoNaN) {
  const BatchNormShape s{.rows = 3, .channels = 1};
  const auto y = forward<float>(s, {0.1F, 0.1F, 0.1F}, {1.0F}, {2.0F});
  for (const float value : y)
    EXPECT_NEAR(value, 2.0F, 1e-3F);
}

TEST(BatchNorm, RefusesAnEmptyBatch) {
  const std::vector<double> sums(3);
  double out = 0.0;
  EXPECT_THROW(cpu::batchnorm_statistics<double>({.rows = 0, .channels = 1}, sums.data(), &out, &out, nullptr, nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
