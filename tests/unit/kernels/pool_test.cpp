#include "kernels/pool.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;

TEST(Pool, AveragesTheTokensOfEachImage) {
  const std::vector<double> x{1, 10, 2, 20, 3, 60, -1, -10, -2, -20, -3, -60};
  auto y = poisoned(4);
  cpu::pool_forward({.batch = 2, .tokens = 3, .channels = 2}, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{2, 30, -2, -30}));
}

TEST(Pool, GradientEqualsFiniteDifferences) {
  Random random(1);
  const PoolShape shape{.batch = 2, .tokens = 5, .channels = 35};
  auto x = random.normal(350);
  const auto dy = random.normal(70);
  auto dx = poisoned(350);
  cpu::pool_backward(shape, dy.data(), dx.data());
  test::expect_gradient(
      "x", x,
      [&] {
        auto y = poisoned(70);
        cpu::pool_forward(shape, x.data(), y.data());
        return test::dot(y, dy);
      },
      dx);
}

TEST(Pool, SinglePrecisionFollowsDouble) {
  Random random(2);
  const PoolShape shape{.batch = 3, .tokens = 49, .channels = 100};
  const auto x = random.normal<float>(shape.batch * shape.tokens * shape.channels);
  auto y = poisoned<float>(300);
  auto reference = poisoned(300);
  cpu::pool_forward(shape, x.data(), y.data());
  cpu::pool_forward(shape, test::converted<double>(x).data(), reference.data());
  EXPECT_LT(test::relative_error(y, reference), 1e-7);
}

TEST(Pool, RefusesNoTokens) {
  double value = 0.0;
  EXPECT_THROW(cpu::pool_forward({.batch = 1, .tokens = 0, .channels = 1}, &value, &value), std::invalid_argument);
  EXPECT_THROW(cpu::pool_backward({.batch = 1, .tokens = 0, .channels = 1}, &value, &value), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
