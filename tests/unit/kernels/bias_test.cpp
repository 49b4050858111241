#include "kernels/bias.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;

TEST(Bias, IsAddedToEveryRow) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  const std::vector<double> bias{10, 20, 30};
  auto y = poisoned(6);
  cpu::bias_forward<double>({2, 3}, x.data(), bias.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{11, 22, 33, 14, 25, 36}));
  y = x;
  cpu::bias_forward<double>({2, 3}, y.data(), bias.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{11, 22, 33, 14, 25, 36}));
}

TEST(Bias, GradientIsAddedColumnSums) {
  Random random(1);
  const BiasShape shape{7, 75};  // two full column blocks and a partial one
  const auto dy = random.normal(shape.rows * shape.columns);
  auto x = random.normal(shape.rows * shape.columns);
  auto bias = random.normal(shape.columns);
  std::vector<double> dbias(bias.size(), 0.25);
  cpu::bias_backward(shape, dy.data(), dbias.data());
  for (double& value : dbias)
    value -= 0.25;
  test::expect_gradient(
      "bias", bias,
      [&] {
        auto y = poisoned(shape.rows * shape.columns);
        cpu::bias_forward(shape, x.data(), bias.data(), y.data());
        return test::dot(y, dy);
      },
      dbias);
}

// A column of 2^24 + many ones loses every one of them in single precision.
TEST(Bias, LongColumnsAreAddedUpInDouble) {
  const std::int64_t rows = 4097;
  std::vector<float> dy(test::to_size(rows), 1.0F);
  dy[0] = 16777216.0F;
  float dbias = 0.0F;
  cpu::bias_backward({rows, 1}, dy.data(), &dbias);
  EXPECT_EQ(dbias, 16777216.0F + 4096.0F);
}

}  // namespace
}  // namespace swinscope
