#include "kernels/linear.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

constexpr LinearShape kShape{.rows = 5, .inputs = 4, .outputs = 3};

TEST(Linear, ForwardIsXTimesTransposedWeightPlusBias) {
  // rows (1, 2) and (3, 4); outputs: x0 + 10 x1 + 100 and 2 x0 - x1 - 1
  const std::vector<double> x{1, 2, 3, 4};
  const std::vector<double> weight{1, 10, 2, -1};
  const std::vector<double> bias{100, -1};
  auto y = poisoned(4);
  cpu::linear_forward({.rows = 2, .inputs = 2, .outputs = 2}, x.data(), weight.data(), bias.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{121, -1, 143, 1}));
  cpu::linear_forward({.rows = 2, .inputs = 2, .outputs = 2, .bias = false}, x.data(), weight.data(), nullptr,
                      y.data());
  EXPECT_EQ(y, (std::vector<double>{21, 0, 43, 2}));
}

TEST(Linear, GradientsEqualFiniteDifferences) {
  Random random(1);
  auto x = random.normal(kShape.rows * kShape.inputs);
  auto weight = random.normal(kShape.inputs * kShape.outputs);
  auto bias = random.normal(kShape.outputs);
  const auto dy = random.normal(kShape.rows * kShape.outputs);
  const auto loss = [&] {
    auto y = poisoned(kShape.rows * kShape.outputs);
    cpu::linear_forward(kShape, x.data(), weight.data(), bias.data(), y.data());
    return test::dot(y, dy);
  };
  auto dx = poisoned(kShape.rows * kShape.inputs);
  std::vector<double> dweight(weight.size());
  std::vector<double> dbias(bias.size());
  cpu::linear_backward(kShape, x.data(), weight.data(), dy.data(), dx.data(), dweight.data(), dbias.data());
  expect_gradient("x", x, loss, dx);
  expect_gradient("weight", weight, loss, dweight);
  expect_gradient("bias", bias, loss, dbias);
}

TEST(Linear, ParameterGradientsAreAddedAndAbsentOnesSkipped) {
  Random random(2);
  const auto x = random.normal(kShape.rows * kShape.inputs);
  const auto weight = random.normal(kShape.inputs * kShape.outputs);
  const auto dy = random.normal(kShape.rows * kShape.outputs);
  std::vector<double> once(weight.size());
  std::vector<double> dbias_once(to_size(kShape.outputs));
  cpu::linear_backward(kShape, x.data(), weight.data(), dy.data(), nullptr, once.data(), dbias_once.data());
  const auto start = random.normal(kShape.inputs * kShape.outputs);
  const auto bias_start = random.normal(kShape.outputs);
  auto sum = start;
  auto dbias = bias_start;
  cpu::linear_backward(kShape, x.data(), weight.data(), dy.data(), nullptr, sum.data(), nullptr);
  EXPECT_LT(relative_error(test::minus(sum, start), once), 1e-14);
  cpu::linear_backward(kShape, x.data(), weight.data(), dy.data(), nullptr, nullptr, dbias.data());
  EXPECT_LT(relative_error(test::minus(dbias, bias_start), dbias_once), 1e-14);
}

TEST(Linear, SinglePrecisionFollowsDouble) {
  Random random(3);
  const LinearShape shape{.rows = 600, .inputs = 192, .outputs = 576};
  const auto x = random.normal<float>(shape.rows * shape.inputs);
  const auto weight = random.normal<float>(shape.inputs * shape.outputs, 0.05);
  const auto bias = random.normal<float>(shape.outputs);
  const auto dy = random.normal<float>(shape.rows * shape.outputs);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const auto to = [](const std::vector<float>& values) { return test::converted<T>(values); };
    std::vector<std::vector<T>> out{poisoned<T>(shape.rows * shape.outputs), poisoned<T>(shape.rows * shape.inputs),
                                    std::vector<T>(weight.size()), std::vector<T>(bias.size())};
    cpu::linear_forward(shape, to(x).data(), to(weight).data(), to(bias).data(), out[0].data());
    cpu::linear_backward(shape, to(x).data(), to(weight).data(), to(dy).data(), out[1].data(), out[2].data(),
                         out[3].data());
    return out;
  };
  const auto single = run(0.0F);
  const auto reference = run(0.0);
  for (std::size_t i = 0; i < single.size(); ++i)
    EXPECT_LT(relative_error(single[i], reference[i]), 1e-6) << i;
}

}  // namespace
}  // namespace swinscope
