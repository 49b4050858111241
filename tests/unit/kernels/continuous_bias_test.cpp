#include "kernels/continuous_bias.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

struct Parameters {
  std::vector<double> weight1, bias1, weight2;
};

Parameters random_parameters(const ContinuousBiasShape& shape, std::uint32_t seed) {
  Random random(seed);
  return {random.normal(shape.hidden * 2), random.normal(shape.hidden), random.normal(shape.heads * shape.hidden, 0.2)};
}

struct Forward {
  std::vector<double> coordinates, activations, table;
};

Forward forward(const ContinuousBiasShape& shape, const Parameters& p) {
  Forward f{poisoned(shape.rows() * 2), poisoned(shape.rows() * shape.hidden), poisoned(shape.rows() * shape.heads)};
  cpu::continuous_bias_forward(shape, p.weight1.data(), p.bias1.data(), p.weight2.data(), f.coordinates.data(),
                               f.activations.data(), f.table.data());
  return f;
}

TEST(ContinuousBias, CoordinatesAreLogSpacedFromMinusToPlusLogNine) {
  const ContinuousBiasShape shape{.window = {3, 5}, .heads = 1, .hidden = 1};
  auto coordinates = poisoned(shape.rows() * 2);
  cpu::continuous_bias_coordinates(shape, coordinates.data());
  const double end = std::log2(9.0) / 3.0;   // offset 8 of 8
  const double half = std::log2(5.0) / 3.0;  // 4 of 8
  const double quarter = std::log2(3.0) / 3.0;
  ASSERT_EQ(shape.rows(), 5 * 9);
  const auto at = [&](std::int64_t row) {
    return std::pair{coordinates[to_size(2 * row)], coordinates[to_size(2 * row + 1)]};
  };
  const auto expect_at = [&](std::int64_t row, double y, double x) {
    EXPECT_NEAR(at(row).first, y, 1e-15) << row;
    EXPECT_NEAR(at(row).second, x, 1e-15) << row;
  };
  expect_at(0, -end, -end);        // (-2, -4)
  expect_at(9 + 2, -half, -half);  // (-1, -2)
  expect_at(2 * 9 + 4, 0.0, 0.0);  // (0, 0)
  expect_at(2 * 9 + 5, 0.0, quarter);
  expect_at(44, end, end);
}

TEST(ContinuousBias, CoordinatesAreScaledByThePretrainedWindow) {
  const ContinuousBiasShape shape{.window = {5, 5}, .heads = 1, .hidden = 1, .pretrained_window = {3, 3}};
  auto coordinates = poisoned(shape.rows() * 2);
  cpu::continuous_bias_coordinates(shape, coordinates.data());
  EXPECT_NEAR(coordinates.back(), std::log2(17.0) / 3.0, 1e-15);  // offset 4 of a pretrained 2: 16
}

TEST(ContinuousBias, WindowOfOneTokenHasOneFiniteRow) {
  const ContinuousBiasShape shape{.window = {1, 1}, .heads = 2, .hidden = 3};
  Parameters p = random_parameters(shape, 1);
  const auto f = forward(shape, p);
  EXPECT_EQ(f.coordinates, (std::vector<double>{0.0, 0.0}));
  for (std::size_t head = 0; head < 2; ++head) {
    double logit = 0.0;
    for (std::size_t i = 0; i < 3; ++i)
      logit += std::max(p.bias1[i], 0.0) * p.weight2[head * 3 + i];
    EXPECT_NEAR(f.table[head], 16.0 / (1.0 + std::exp(-logit)), 1e-13);
  }
}

TEST(ContinuousBias, TableIsSixteenSigmoidOfTheTwoLayers) {
  const ContinuousBiasShape shape{.window = {3, 2}, .heads = 2, .hidden = 7};
  const Parameters p = random_parameters(shape, 2);
  const auto f = forward(shape, p);
  for (std::int64_t row = 0; row < shape.rows(); ++row) {
    for (std::int64_t head = 0; head < 2; ++head) {
      double logit = 0.0;
      for (std::int64_t i = 0; i < 7; ++i) {
        const double before = f.coordinates[to_size(2 * row)] * p.weight1[to_size(2 * i)] +
                              f.coordinates[to_size(2 * row + 1)] * p.weight1[to_size(2 * i + 1)] + p.bias1[to_size(i)];
        if (before > 0.0) logit += before * p.weight2[to_size(head * 7 + i)];
      }
      ASSERT_NEAR(f.table[to_size(row * 2 + head)], 16.0 / (1.0 + std::exp(-logit)), 1e-13);
    }
  }
}

TEST(ContinuousBias, GradientsEqualFiniteDifferences) {
  const ContinuousBiasShape shape{.window = {3, 4}, .heads = 2, .hidden = 9};
  Parameters p = random_parameters(shape, 3);
  constexpr double kStep = 1e-5;
  const auto f = forward(shape, p);
  // No unit may cross the kink of the ReLU within the steps.
  for (std::int64_t row = 0; row < shape.rows(); ++row) {
    for (std::int64_t i = 0; i < shape.hidden; ++i) {
      const double before = f.coordinates[to_size(2 * row)] * p.weight1[to_size(2 * i)] +
                            f.coordinates[to_size(2 * row + 1)] * p.weight1[to_size(2 * i + 1)] + p.bias1[to_size(i)];
      ASSERT_GT(std::abs(before), 10.0 * kStep);
    }
  }
  Random random(4);
  const auto dtable = random.normal(shape.rows() * shape.heads);
  std::vector<double> dweight1(p.weight1.size(), 1.0);
  std::vector<double> dbias1(p.bias1.size(), 2.0);
  std::vector<double> dweight2(p.weight2.size(), 3.0);
  auto workspace = poisoned(shape.backward_workspace());
  cpu::continuous_bias_backward(shape, p.weight2.data(), f.coordinates.data(), f.activations.data(), f.table.data(),
                                dtable.data(), dweight1.data(), dbias1.data(), dweight2.data(), workspace.data());
  for (double& g : dweight1)
    g -= 1.0;
  for (double& g : dbias1)
    g -= 2.0;
  for (double& g : dweight2)
    g -= 3.0;
  const auto loss = [&] { return test::dot(forward(shape, p).table, dtable); };
  expect_gradient("weight1", p.weight1, loss, dweight1, kStep, 1e-7);
  expect_gradient("bias1", p.bias1, loss, dbias1, kStep, 1e-7);
  expect_gradient("weight2", p.weight2, loss, dweight2, kStep, 1e-7);
}

TEST(ContinuousBias, SinglePrecisionFollowsDouble) {
  const ContinuousBiasShape shape{.window = {8, 8}, .heads = 6};
  const Parameters p = random_parameters(shape, 5);
  const auto weight1 = test::converted<float>(p.weight1);
  const auto bias1 = test::converted<float>(p.bias1);
  const auto weight2 = test::converted<float>(p.weight2);
  const Parameters rounded{test::converted<double>(weight1), test::converted<double>(bias1),
                           test::converted<double>(weight2)};
  auto coordinates = poisoned<float>(shape.rows() * 2);
  auto activations = poisoned<float>(shape.rows() * shape.hidden);
  auto table = poisoned<float>(shape.rows() * shape.heads);
  cpu::continuous_bias_forward(shape, weight1.data(), bias1.data(), weight2.data(), coordinates.data(),
                               activations.data(), table.data());
  EXPECT_LT(relative_error(table, forward(shape, rounded).table), 2e-6);
}

}  // namespace
}  // namespace swinscope
