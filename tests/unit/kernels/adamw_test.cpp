#include "kernels/adamw.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::Random;
using test::to_size;

template <typename T>
struct State {
  std::vector<T> p, m, v;

  void step(const AdamWOptions& options, const std::vector<T>& gradient, double weight_decay) {
    const AdamWTensor<T> tensor{p.data(),    gradient.data(), m.data(), v.data(), static_cast<std::int64_t>(p.size()),
                                weight_decay};
    cpu::adamw_step<T>(options, {&tensor, 1});
  }
};

// p = 1, g = 2 then -1, lr = 0.1, betas 0.5 and 0.75, epsilon 1, decay 0.2, by hand:
// step 1: p = 0.98; m = 1, v = 1; m^ = 2, v^ = 4; p = 0.98 - 0.1 * 2 / (2 + 1)
// step 2: p *= 0.98; m = 0, v = 1; no change by m; then g = -1: m = 0.5 * 1 - 0.5 = 0, v = 0.75 + 0.25 = 1
// step 3, g = 3: m = 1.5, v = 0.75 + 2.25 = 3; m^ = 1.5 / 0.875, v^ = 3 / (1 - 0.421875)
TEST(AdamW, ByHand) {
  AdamWOptions options{.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 1.0};
  State<double> state{{1.0}, {0.0}, {0.0}};
  options.step = 1;
  state.step(options, {2.0}, 0.2);
  const double first = 0.98 - 0.2 / 3.0;
  EXPECT_NEAR(state.p[0], first, 1e-15);
  EXPECT_NEAR(state.m[0], 1.0, 1e-15);
  EXPECT_NEAR(state.v[0], 1.0, 1e-15);
  options.step = 2;
  state.step(options, {-1.0}, 0.2);
  const double second = 0.98 * first;
  EXPECT_NEAR(state.p[0], second, 1e-15);
  EXPECT_NEAR(state.m[0], 0.0, 1e-15);
  EXPECT_NEAR(state.v[0], 1.0, 1e-15);
  options.step = 3;
  state.step(options, {3.0}, 0.2);
  const double third = 0.98 * second - 0.1 * (1.5 / 0.875) / (std::sqrt(3.0 / 0.578125) + 1.0);
  EXPECT_NEAR(state.p[0], third, 1e-15);
}

TEST(AdamW, FirstStepMovesByTheLearningRateAgainstTheGradient) {
  State<double> state{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  state.step({.learning_rate = 0.01, .epsilon = 0.0}, {3.0, -1e-4, 7e5}, 0.0);
  EXPECT_NEAR(state.p[0], -0.01, 1e-15);
  EXPECT_NEAR(state.p[1], 0.01, 1e-15);
  EXPECT_NEAR(state.p[2], -0.01, 1e-15);
}

TEST(AdamW, DecayIsDecoupledAndPerTensor) {
  std::vector<double> p{2.0, 2.0};
  const std::vector<double> g{0.0, 0.0};
  std::vector<double> m{0.0, 0.0};
  std::vector<double> v{0.0, 0.0};
  const AdamWTensor<double> tensors[] = {{&p[0], &g[0], &m[0], &v[0], 1, 0.5}, {&p[1], &g[1], &m[1], &v[1], 1, 0.0}};
  cpu::adamw_step<double>({.learning_rate = 0.1}, tensors);
  EXPECT_DOUBLE_EQ(p[0], 2.0 * 0.95);
  EXPECT_EQ(p[1], 2.0);
}

TEST(AdamW, GradientScaleActsOnTheGradientAlone) {
  Random random(1);
  const auto g = random.normal(50000);
  State<double> scaled{random.normal(50000), std::vector<double>(50000), std::vector<double>(50000)};
  State<double> plain = scaled;
  auto quarter = g;
  for (double& value : quarter)
    value *= 0.25;
  scaled.step({.gradient_scale = 0.25}, g, 0.05);
  plain.step({}, quarter, 0.05);
  EXPECT_EQ(scaled.p, plain.p);
  EXPECT_EQ(scaled.m, plain.m);
  EXPECT_EQ(scaled.v, plain.v);
}

// Each step from the same rounded state within half an ulp (the storage rounding), 100 steps within 1e-6.
TEST(AdamW, SinglePrecisionFollowsDouble) {
  Random random(2);
  State<float> single{random.normal<float>(1000), std::vector<float>(1000), std::vector<float>(1000)};
  State<double> wide{test::converted<double>(single.p), std::vector<double>(1000), std::vector<double>(1000)};
  AdamWOptions options;
  for (options.step = 1; options.step <= 100; ++options.step) {
    const auto g = random.normal<float>(1000);
    State<double> from_rounded{test::converted<double>(single.p), test::converted<double>(single.m),
                               test::converted<double>(single.v)};
    single.step(options, g, 0.05);
    wide.step(options, test::converted<double>(g), 0.05);
    from_rounded.step(options, test::converted<double>(g), 0.05);
    ASSERT_EQ(single.p, test::converted<float>(from_rounded.p));
    ASSERT_EQ(single.m, test::converted<float>(from_rounded.m));
    ASSERT_EQ(single.v, test::converted<float>(from_rounded.v));
  }
  EXPECT_LT(test::relative_error(single.p, wide.p), 1e-6);
}

TEST(AdamW, RefusesStepZero) {
  State<double> state{{1.0}, {0.0}, {0.0}};
  EXPECT_THROW(state.step({.step = 0}, {1.0}, 0.0), std::invalid_argument);
}

TEST(GradientNorm, IsOverAllTensorsTogether) {
  const std::vector<double> a{3.0, 4.0};
  const std::vector<double> b{12.0};
  const GradientTensor<double> tensors[] = {{a.data(), 2}, {b.data(), 1}};
  EXPECT_DOUBLE_EQ(cpu::gradient_norm<double>(tensors), 13.0);
  EXPECT_EQ(cpu::gradient_norm<double>({}), 0.0);
}

// More elements than one round of partial sums holds, and the squares of some overflow single precision.
TEST(GradientNorm, LongTensorsAreAddedUpInDouble) {
  const std::int64_t count = 64 * 16384 + 12345;
  const std::vector<float> ones(to_size(count), 1.0F);
  const GradientTensor<float> tensor{ones.data(), count};
  EXPECT_DOUBLE_EQ(cpu::gradient_norm<float>({&tensor, 1}), std::sqrt(static_cast<double>(count)));
  const std::vector<float> huge{3e30F, 4e30F};
  const GradientTensor<float> large{huge.data(), 2};
  EXPECT_NEAR(cpu::gradient_norm<float>({&large, 1}), 5e30, 1e24);
}

TEST(GradientNorm, ShowsWhatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> g(40000, 1.0F);
    g[39999] = bad;
    const GradientTensor<float> tensor{g.data(), 40000};
    const double norm = cpu::gradient_norm<float>({&tensor, 1});
    EXPECT_FALSE(std::isfinite(norm));
    EXPECT_TRUE(std::isnan(clip_factor(norm, 1.0)));
  }
}

TEST(ClipFactor, ScalesDownToTheLimitOnly) {
  EXPECT_EQ(clip_factor(0.5, 1.0), 1.0);
  EXPECT_EQ(clip_factor(0.0, 1.0), 1.0);
  EXPECT_NEAR(clip_factor(10.0, 5.0), 0.5, 1e-7);
}

}  // namespace
}  // namespace swinscope
