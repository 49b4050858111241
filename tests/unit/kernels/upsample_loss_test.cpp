#include "kernels/upsample_loss.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cross_entropy.h"
#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

using Labels = std::vector<std::uint8_t>;

constexpr UpsampleShape kSmall{.batch = 2, .height = 3, .width = 4, .out_height = 12, .out_width = 9, .channels = 5};

// One pixel in five is ignored.
Labels random_labels(Random& random, const UpsampleShape& s) {
  Labels labels;
  for (const std::int32_t label : random.labels(s.out_pixels(), static_cast<std::int32_t>(s.channels * 5 / 4 + 1)))
    labels.push_back(label < s.channels ? static_cast<std::uint8_t>(label) : kIgnoredLabel);
  return labels;
}

template <typename T>
struct Pass {
  PixelLoss loss;
  std::vector<T> lse, dlogits;
};

template <typename T>
Pass<T> run(const UpsampleShape& s, const std::vector<T>& logits, const Labels& labels, double scale) {
  Pass<T> pass{{}, poisoned<T>(s.out_pixels()), poisoned<T>(s.pixels() * s.channels)};
  std::vector<PixelLoss> rows(to_size(s.batch * s.out_height));
  pass.loss = cpu::upsample_loss_forward(s, logits.data(), labels.data(), pass.lse.data(), rows.data());
  cpu::upsample_loss_backward(s, logits.data(), labels.data(), pass.lse.data(), scale, pass.dlogits.data());
  return pass;
}

// The unfused operations: the resized logits and their gradients in memory.
template <typename T>
Pass<T> run_unfused(const UpsampleShape& s, const std::vector<T>& logits, const Labels& labels, double scale) {
  std::vector<std::int32_t> signed_labels;
  for (const std::uint8_t label : labels)
    signed_labels.push_back(label == kIgnoredLabel ? -1 : label);
  auto large = poisoned<T>(s.out_pixels() * s.channels);
  cpu::upsample_forward(s, logits.data(), false, large.data());
  Pass<T> pass{{}, poisoned<T>(s.out_pixels()), poisoned<T>(s.pixels() * s.channels)};
  auto row_loss = poisoned<T>(s.out_pixels());
  const CrossEntropyShape shape{s.out_pixels(), s.channels};
  const auto result =
      cpu::cross_entropy_forward(shape, large.data(), signed_labels.data(), row_loss.data(), pass.lse.data());
  pass.loss = {result.mean_loss * static_cast<double>(result.count), result.count, result.correct};
  cpu::cross_entropy_backward(shape, large.data(), signed_labels.data(), pass.lse.data(), scale, large.data());
  cpu::upsample_backward(s, large.data(), false, pass.dlogits.data());
  return pass;
}

TEST(UpsampleLoss, EqualsTheUnfusedOperations) {
  Random random(1);
  for (const std::int64_t scale : {1, 2, 4, 16}) {
    const UpsampleShape s{
        .batch = 2, .height = 5, .width = 3, .out_height = 5 * scale, .out_width = 3 * scale, .channels = 150};
    const auto logits = random.uniform(s.pixels() * s.channels, -60.0, 60.0);
    const Labels labels = random_labels(random, s);
    const auto fused = run(s, logits, labels, 0.01);
    const auto unfused = run_unfused(s, logits, labels, 0.01);
    EXPECT_NEAR(fused.loss.sum, unfused.loss.sum, 1e-12 * unfused.loss.sum);
    EXPECT_EQ(fused.loss.count, unfused.loss.count);
    EXPECT_EQ(fused.loss.correct, unfused.loss.correct);
    EXPECT_EQ(fused.lse, unfused.lse);
    EXPECT_LT(test::relative_error(fused.dlogits, unfused.dlogits), 1e-13);
  }
}

TEST(UpsampleLoss, GradientEqualsFiniteDifferences) {
  Random random(2);
  auto logits = random.normal(kSmall.pixels() * kSmall.channels, 2.0);
  const Labels labels = random_labels(random, kSmall);
  const auto analytic = run(kSmall, logits, labels, 0.1).dlogits;
  test::expect_gradient(
      "logits", logits, [&] { return 0.1 * run(kSmall, logits, labels, 1.0).loss.sum; }, analytic);
}

TEST(UpsampleLoss, GradientsOfAPixelSumToZeroOverTheClasses) {
  Random random(3);
  const auto logits = random.normal(kSmall.pixels() * kSmall.channels, 2.0);
  const auto pass = run(kSmall, logits, random_labels(random, kSmall), 1.0);
  for (std::int64_t p = 0; p < kSmall.pixels(); ++p) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < kSmall.channels; ++c)
      sum += pass.dlogits[to_size(p * kSmall.channels + c)];
    EXPECT_NEAR(sum, 0.0, 1e-13);
  }
}

TEST(UpsampleLoss, IgnoredPixelsGiveNothing) {
  Random random(4);
  const auto logits = random.normal(kSmall.pixels() * kSmall.channels);
  const auto pass = run(kSmall, logits, Labels(to_size(kSmall.out_pixels()), kIgnoredLabel), 1.0);
  EXPECT_EQ(pass.loss.count, 0);
  EXPECT_EQ(pass.loss.sum, 0.0);
  EXPECT_EQ(pass.dlogits, std::vector<double>(logits.size(), 0.0));
}

TEST(UpsampleLoss, SinglePrecisionFollowsDouble) {
  Random random(5);
  const UpsampleShape s{.batch = 1, .height = 8, .width = 8, .out_height = 32, .out_width = 32, .channels = 150};
  const auto logits = random.uniform<float>(s.pixels() * s.channels, -60.0, 60.0);
  const Labels labels = random_labels(random, s);
  const auto single = run(s, logits, labels, 1.0);
  const auto reference = run(s, test::converted<double>(logits), labels, 1.0);
  EXPECT_NEAR(single.loss.sum, reference.loss.sum, 1e-6 * reference.loss.sum);
  EXPECT_LT(test::relative_error(single.dlogits, reference.dlogits), 5e-6);
}

TEST(UpsampleLoss, TheAnswerIsTheFirstLargestLogit) {
  const UpsampleShape s{.batch = 1, .height = 1, .width = 2, .out_height = 1, .out_width = 4, .channels = 3};
  const std::vector<double> logits{1, 5, 5, 9, 0, 0};  // outputs at 0, 1/4, 3/4 and 1
  Labels classes(4);
  cpu::upsample_argmax(s, logits.data(), classes.data());
  EXPECT_EQ(classes, (Labels{1, 1, 0, 0}));
  EXPECT_EQ(run(s, logits, Labels{1, 2, 0, kIgnoredLabel}, 1.0).loss.correct, 2);
}

TEST(UpsampleLoss, RefusesBadLabelsAndTooManyClasses) {
  const std::vector<double> logits(to_size(kSmall.pixels() * kSmall.channels));
  Labels labels(to_size(kSmall.out_pixels()), 0);
  labels.back() = 5;
  EXPECT_THROW(run(kSmall, logits, labels, 1.0), std::invalid_argument);
  const UpsampleShape many{.batch = 1, .height = 1, .width = 1, .out_height = 1, .out_width = 1, .channels = 256};
  EXPECT_THROW(run(many, std::vector<double>(256), Labels{0}, 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
