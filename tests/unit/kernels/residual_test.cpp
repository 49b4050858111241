#include "kernels/residual.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

constexpr ResidualShape kShape{.batch = 3, .sample_elements = 10007};  // more than one range per sample

TEST(Residual, ScalesEachSamplesBranch) {
  Random random(1);
  const std::int64_t count = kShape.batch * kShape.sample_elements;
  const auto x = random.normal(count);
  const auto branch = random.normal(count);
  const std::vector<double> scale{0.0, 1.25, 1.0};
  auto y = poisoned(count);
  cpu::residual_forward(kShape, x.data(), branch.data(), scale.data(), y.data());
  auto dbranch = poisoned(count);
  cpu::residual_backward(kShape, scale.data(), x.data(), dbranch.data());
  for (std::int64_t i = 0; i < count; ++i) {
    const double factor = scale[to_size(i / kShape.sample_elements)];
    ASSERT_EQ(y[to_size(i)], x[to_size(i)] + factor * branch[to_size(i)]);
    ASSERT_EQ(dbranch[to_size(i)], factor * x[to_size(i)]);
  }
}

TEST(Residual, GradientEqualsFiniteDifferences) {
  Random random(2);
  const ResidualShape shape{.batch = 4, .sample_elements = 5};
  const auto x = random.normal(20);
  auto branch = random.normal(20);
  const auto dy = random.normal(20);
  const std::vector<double> scale{1.5, 0.0, 2.0, 1.0};
  auto dbranch = poisoned(20);
  cpu::residual_backward(shape, scale.data(), dy.data(), dbranch.data());
  test::expect_gradient(
      "branch", branch,
      [&] {
        auto y = poisoned(20);
        cpu::residual_forward(shape, x.data(), branch.data(), scale.data(), y.data());
        return test::dot(y, dy);
      },
      dbranch);
}

TEST(Residual, WithoutScaleIsASumAndMayBeInPlace) {
  Random random(3);
  const std::int64_t count = kShape.batch * kShape.sample_elements;
  const auto x = random.normal<float>(count);
  const auto branch = random.normal<float>(count);
  auto y = x;
  cpu::residual_forward(kShape, y.data(), branch.data(), nullptr, y.data());
  auto sum = x;
  cpu::add_into(count, branch.data(), sum.data());
  EXPECT_EQ(y, sum);
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], x[i] + branch[i]);
  auto copy = poisoned<float>(count);
  cpu::residual_backward(kShape, nullptr, x.data(), copy.data());
  EXPECT_EQ(copy, x);
}

}  // namespace
}  // namespace swinscope
