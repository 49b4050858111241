#include "kernels/convolution.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

constexpr ConvolutionShape kSmall{.batch = 2, .height = 4, .width = 5, .inputs = 3, .outputs = 4};

std::int64_t weight_count(const ConvolutionShape& s) { return s.outputs * s.taps() * s.weight_stride(); }

// The convolution by its definition; `first` is the weight's channel that belongs to the map's first.
std::vector<double> direct(const ConvolutionShape& s, const std::vector<double>& x, const std::vector<double>& weight,
                           std::int64_t first = 0) {
  std::vector<double> y(to_size(s.pixels() * s.outputs));
  const std::int64_t half = s.kernel / 2;
  for (std::int64_t p = 0; p < s.pixels(); ++p) {
    const std::int64_t image = p / (s.height * s.width);
    const std::int64_t py = p / s.width % s.height;
    const std::int64_t px = p % s.width;
    for (std::int64_t o = 0; o < s.outputs; ++o) {
      for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
        for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
          const std::int64_t row = py + ky - half;
          const std::int64_t column = px + kx - half;
          if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
          for (std::int64_t c = 0; c < s.inputs; ++c) {
            const std::int64_t tap = (o * s.kernel + ky) * s.kernel + kx;
            y[to_size(p * s.outputs + o)] += x[to_size(((image * s.height + row) * s.width + column) * s.inputs + c)] *
                                             weight[to_size(tap * s.weight_stride() + first + c)];
          }
        }
      }
    }
  }
  return y;
}

template <typename T>
std::vector<T> forward(const ConvolutionShape& s, const std::vector<T>& x, const std::vector<T>& weight) {
  auto y = poisoned<T>(s.pixels() * s.outputs);
  cpu::convolution_forward(s, x.data(), weight.data(), false, y.data());
  return y;
}

TEST(Convolution, EqualsItsDefinition) {
  Random random(1);
  for (const std::int64_t kernel : {1, 3, 5}) {
    for (const std::int64_t height : {1, 2, 13}) {
      // More pixels than one task takes, and more outputs than one task of the weight's gradient.
      const ConvolutionShape s{.batch = 3, .height = height, .width = 17, .inputs = 5, .outputs = 67, .kernel = kernel};
      const auto x = random.normal(s.pixels() * s.inputs);
      const auto weight = random.normal(weight_count(s));
      EXPECT_LT(relative_error(forward(s, x, weight), direct(s, x, weight)), 1e-14) << kernel << " " << height;
    }
  }
}

TEST(Convolution, GradientsEqualFiniteDifferences) {
  Random random(2);
  for (const std::int64_t kernel : {1, 3}) {
    ConvolutionShape s = kSmall;
    s.kernel = kernel;
    auto x = random.normal(s.pixels() * s.inputs);
    auto weight = random.normal(weight_count(s));
    const auto dy = random.normal(s.pixels() * s.outputs);
    const auto loss = [&] { return test::dot(forward(s, x, weight), dy); };
    auto dx = poisoned(s.pixels() * s.inputs);
    cpu::convolution_backward_input(s, weight.data(), dy.data(), dx.data());
    std::vector<double> dweight(weight.size());
    cpu::convolution_backward_weight(s, x.data(), dy.data(), dweight.data());
    expect_gradient("x", x, loss, dx);
    expect_gradient("weight", weight, loss, dweight);
  }
}

// <dy, conv(x)> = <dx, x> = <dweight, weight> on shapes that are cut into many tasks.
TEST(Convolution, BackwardIsTheAdjointOfForward) {
  Random random(3);
  const ConvolutionShape s{.batch = 2, .height = 19, .width = 23, .inputs = 9, .outputs = 70};
  const auto x = random.normal(s.pixels() * s.inputs);
  const auto weight = random.normal(weight_count(s));
  const auto dy = random.normal(s.pixels() * s.outputs);
  auto dx = poisoned(s.pixels() * s.inputs);
  cpu::convolution_backward_input(s, weight.data(), dy.data(), dx.data());
  std::vector<double> dweight(weight.size());
  cpu::convolution_backward_weight(s, x.data(), dy.data(), dweight.data());
  const double product = test::dot(forward(s, x, weight), dy);
  EXPECT_NEAR(test::dot(dx, x), product, 1e-12 * test::dot(dy, dy));
  EXPECT_NEAR(test::dot(dweight, weight), product, 1e-12 * test::dot(dy, dy));
}

TEST(Convolution, SlicesOfAWeightAddUpToTheConvolutionOfTheConcatenation) {
  Random random(4);
  const ConvolutionShape whole{.batch = 2, .height = 5, .width = 4, .inputs = 7, .outputs = 6};
  const auto x = random.normal(whole.pixels() * 7);
  const auto weight = random.normal(weight_count(whole));
  const auto dy = random.normal(whole.pixels() * 6);
  std::vector<double> whole_gradient(weight.size());
  cpu::convolution_backward_weight(whole, x.data(), dy.data(), whole_gradient.data());
  auto y = poisoned(whole.pixels() * 6);
  std::vector<double> gradient(weight.size());
  std::int64_t first = 0;
  for (const std::int64_t inputs : {3, 4}) {
    ConvolutionShape part = whole;
    part.inputs = inputs;
    part.weight_inputs = 7;
    std::vector<double> slice;
    for (std::int64_t p = 0; p < whole.pixels(); ++p)
      slice.insert(slice.end(), x.begin() + p * 7 + first, x.begin() + p * 7 + first + inputs);
    cpu::convolution_forward(part, slice.data(), weight.data() + first, first > 0, y.data());
    cpu::convolution_backward_weight(part, slice.data(), dy.data(), gradient.data() + first);
    auto dx = poisoned(part.pixels() * inputs);
    cpu::convolution_backward_input(part, weight.data() + first, dy.data(), dx.data());
    EXPECT_NEAR(test::dot(dx, slice), test::dot(direct(part, slice, weight, first), dy), 1e-12 * test::dot(dy, dy));
    first += inputs;
  }
  EXPECT_LT(relative_error(y, direct(whole, x, weight)), 1e-14);
  EXPECT_LT(relative_error(gradient, whole_gradient), 1e-14);
}

TEST(Convolution, WeightGradientsAccumulate) {
  Random random(5);
  const auto x = random.normal(kSmall.pixels() * kSmall.inputs);
  const auto dy = random.normal(kSmall.pixels() * kSmall.outputs);
  std::vector<double> once(to_size(weight_count(kSmall)));
  cpu::convolution_backward_weight(kSmall, x.data(), dy.data(), once.data());
  auto twice = once;
  cpu::convolution_backward_weight(kSmall, x.data(), dy.data(), twice.data());
  for (std::size_t i = 0; i < once.size(); ++i)
    ASSERT_EQ(twice[i], 2 * once[i]);
}

TEST(Convolution, SinglePrecisionFollowsDouble) {
  Random random(6);
  const ConvolutionShape s{.batch = 2, .height = 16, .width = 16, .inputs = 64, .outputs = 64};
  const auto x = random.normal<float>(s.pixels() * s.inputs);
  const auto weight = random.normal<float>(weight_count(s));
  const auto reference = forward(s, test::converted<double>(x), test::converted<double>(weight));
  EXPECT_LT(relative_error(forward(s, x, weight), reference), 1e-6);
}

TEST(Convolution, RefusesWhatItCannotDo) {
  std::vector<double> memory(1000);
  const auto run = [&](const ConvolutionShape& s) {
    cpu::convolution_forward(s, memory.data(), memory.data(), false, memory.data() + 500);
  };
  ConvolutionShape even = kSmall;
  even.kernel = 2;
  EXPECT_THROW(run(even), std::invalid_argument);
  ConvolutionShape narrow = kSmall;
  narrow.weight_inputs = 2;
  EXPECT_THROW(run(narrow), std::invalid_argument);
  ConvolutionShape empty = kSmall;
  empty.outputs = 0;
  EXPECT_THROW(run(empty), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
