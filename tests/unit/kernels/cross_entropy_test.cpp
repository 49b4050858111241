#include "kernels/cross_entropy.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

template <typename T>
struct Pass {
  CrossEntropyResult result;
  std::vector<T> row_loss, lse, dlogits;
};

template <typename T>
Pass<T> run(const CrossEntropyShape& shape, const std::vector<T>& logits, const std::vector<std::int32_t>& labels,
            double row_scale) {
  Pass<T> pass{{}, poisoned<T>(shape.rows), poisoned<T>(shape.rows), poisoned<T>(shape.rows * shape.classes)};
  pass.result = cpu::cross_entropy_forward(shape, logits.data(), labels.data(), pass.row_loss.data(), pass.lse.data());
  cpu::cross_entropy_backward(shape, logits.data(), labels.data(), pass.lse.data(), row_scale, pass.dlogits.data());
  return pass;
}

TEST(CrossEntropy, ByHand) {
  // Probabilities 1/4 and 3/4; label 0: -ln(1/4). Second row ignored.
  const std::vector<double> logits{0.0, std::log(3.0), 5.0, 6.0};
  const auto pass = run<double>({.rows = 2, .classes = 2}, logits, {0, -1}, 1.0);
  EXPECT_NEAR(pass.result.mean_loss, std::log(4.0), 1e-15);
  EXPECT_EQ(pass.result.count, 1);
  EXPECT_EQ(pass.result.correct, 0);
  EXPECT_NEAR(pass.lse[0], std::log(4.0), 1e-15);
  EXPECT_EQ(pass.row_loss[1], 0.0);
  EXPECT_NEAR(pass.dlogits[0], -0.75, 1e-15);
  EXPECT_NEAR(pass.dlogits[1], 0.75, 1e-15);
  EXPECT_EQ(pass.dlogits[2], 0.0);
  EXPECT_EQ(pass.dlogits[3], 0.0);
}

TEST(CrossEntropy, SmoothingMixesTheLabelWithTheUniformDistribution) {
  // Targets 0.9 + 0.1 / 2 and 0.1 / 2 on probabilities 1/4 and 3/4.
  const std::vector<double> logits{0.0, std::log(3.0)};
  const auto pass = run<double>({.rows = 1, .classes = 2, .smoothing = 0.1}, logits, {0}, 2.0);
  EXPECT_NEAR(pass.result.mean_loss, 0.95 * std::log(4.0) + 0.05 * std::log(4.0 / 3.0), 1e-15);
  EXPECT_NEAR(pass.dlogits[0], 2.0 * (0.25 - 0.95), 1e-15);
  EXPECT_NEAR(pass.dlogits[1], 2.0 * (0.75 - 0.05), 1e-15);
}

TEST(CrossEntropy, GradientEqualsFiniteDifferences) {
  Random random(1);
  for (const double smoothing : {0.0, 0.1, 1.0}) {
    const CrossEntropyShape shape{.rows = 6, .classes = 9, .smoothing = smoothing};
    auto logits = random.normal(54, 2.0);
    auto labels = random.labels(6, 9);
    labels[2] = -100;
    const auto analytic = run(shape, logits, labels, 1.0 / 5.0).dlogits;
    test::expect_gradient(
        "logits", logits, [&] { return run(shape, logits, labels, 1.0).result.mean_loss; }, analytic);
  }
}

TEST(CrossEntropy, GradientOfARowSumsToZero) {
  Random random(2);
  const CrossEntropyShape shape{.rows = 8, .classes = 1000, .smoothing = 0.1};
  const auto logits = random.normal<float>(8000, 3.0);
  const auto pass = run(shape, logits, random.labels(8, 1000), 1.0);
  for (std::int64_t row = 0; row < 8; ++row) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 1000; ++k)
      sum += static_cast<double>(pass.dlogits[to_size(row * 1000 + k)]);
    EXPECT_NEAR(sum, 0.0, 2e-6);
  }
}

TEST(CrossEntropy, SinglePrecisionFollowsDoubleForLargeLogits) {
  Random random(3);
  const CrossEntropyShape shape{.rows = 40, .classes = 1000, .smoothing = 0.1};
  const auto logits = random.uniform<float>(40000, -60.0, 60.0);
  const auto labels = random.labels(40, 1000);
  const auto single = run(shape, logits, labels, 1.0);
  const auto reference = run(shape, test::converted<double>(logits), labels, 1.0);
  EXPECT_NEAR(single.result.mean_loss, reference.result.mean_loss, 1e-6 * reference.result.mean_loss);
  EXPECT_LT(test::relative_error(single.dlogits, reference.dlogits), 5e-6);
}

TEST(CrossEntropy, HugeLogitsDoNotOverflow) {
  const auto pass = run<float>({.rows = 2, .classes = 2}, {3e38F, -3e38F, 0.0F, 1000.0F}, {0, 0}, 1.0);
  EXPECT_EQ(pass.row_loss[0], 0.0F);
  EXPECT_EQ(pass.row_loss[1], 1000.0F);
  EXPECT_EQ(pass.dlogits, (std::vector<float>{0.0F, 0.0F, -1.0F, 1.0F}));
}

TEST(CrossEntropy, CountsTheFirstLargestLogitAsTheAnswer) {
  const std::vector<double> logits{1, 2, 3, 3, 1, 3, 5, 4, 4};
  EXPECT_EQ((run<double>({.rows = 3, .classes = 3}, logits, {2, 2, 0}, 1.0).result.correct), 2);
  const CrossEntropyResult none = run<double>({.rows = 3, .classes = 3}, logits, {-1, -1, -1}, 1.0).result;
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.mean_loss, 0.0);
}

TEST(CrossEntropy, RefusesBadLabelsAndSmoothing) {
  const std::vector<double> logits(3, 0.0);
  EXPECT_THROW(run<double>({.rows = 1, .classes = 3}, logits, {3}, 1.0), std::invalid_argument);
  EXPECT_THROW(run<double>({.rows = 1, .classes = 3, .smoothing = 1.5}, logits, {0}, 1.0), std::invalid_argument);
  EXPECT_THROW(run<double>({.rows = 1, .classes = 3, .smoothing = -0.1}, logits, {0}, 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
