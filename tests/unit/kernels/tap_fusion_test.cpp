#include "kernels/tap_fusion.h"

#include "kernels/convolution.h"
#include "kernels/upsample.h"
#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::relative_error;

constexpr TapFusionShape kSmall{.batch = 2,
                                .height = 3,
                                .width = 4,
                                .out_height = 6,
                                .out_width = 16,
                                .inputs = 3,
                                .outputs = 5,
                                .weight_inputs = 4};

UpsampleShape resize(const TapFusionShape& s, std::int64_t channels) {
  return {s.batch, s.height, s.width, s.out_height, s.out_width, channels};
}

ConvolutionShape convolution(const TapFusionShape& s) {
  return {.batch = s.batch,
          .height = s.out_height,
          .width = s.out_width,
          .inputs = s.inputs,
          .outputs = s.outputs,
          .weight_inputs = s.weight_inputs};
}

TEST(TapFusion, EqualsTheConvolutionOfTheEnlargedMap) {
  Random random(1);
  for (const std::int64_t scale : {1, 2, 4, 8}) {
    TapFusionShape s = kSmall;
    s.out_height = scale * s.height;
    s.out_width = scale * s.width + 1;
    const auto x = random.normal(s.pixels() * s.inputs);
    const auto weight = random.normal(s.outputs * 9 * s.weight_stride());
    const auto before = random.normal(s.out_pixels() * s.outputs);
    const auto dy = random.normal(s.out_pixels() * s.outputs);

    auto large = poisoned(s.out_pixels() * s.inputs);
    cpu::upsample_forward(resize(s, s.inputs), x.data(), false, large.data());
    auto expected = before;
    cpu::convolution_forward(convolution(s), large.data(), weight.data(), true, expected.data());
    auto y = before;
    auto taps = poisoned(s.tap_elements());
    cpu::tap_fusion_forward(s, x.data(), weight.data(), taps.data(), y.data());
    EXPECT_LT(relative_error(y, expected), 1e-14);

    const auto start = random.normal(static_cast<std::int64_t>(weight.size()));
    auto expected_dweight = start;
    cpu::convolution_backward_weight(convolution(s), large.data(), dy.data(), expected_dweight.data());
    auto dlarge = poisoned(s.out_pixels() * s.inputs);
    cpu::convolution_backward_input(convolution(s), weight.data(), dy.data(), dlarge.data());
    auto expected_dx = poisoned(s.pixels() * s.inputs);
    cpu::upsample_backward(resize(s, s.inputs), dlarge.data(), false, expected_dx.data());
    auto dx = poisoned(s.pixels() * s.inputs);
    auto dweight = start;
    taps = poisoned(s.tap_elements());
    cpu::tap_fusion_backward(s, x.data(), weight.data(), dy.data(), taps.data(), dx.data(), dweight.data());
    EXPECT_LT(relative_error(dx, expected_dx), 1e-13);
    EXPECT_LT(relative_error(dweight, expected_dweight), 1e-13);
  }
}

TEST(TapFusion, GradientsEqualFiniteDifferences) {
  Random random(2);
  auto x = random.normal(kSmall.pixels() * kSmall.inputs);
  auto weight = random.normal(kSmall.outputs * 9 * kSmall.weight_stride());
  const auto dy = random.normal(kSmall.out_pixels() * kSmall.outputs);
  auto taps = poisoned(kSmall.tap_elements());
  const auto loss = [&] {
    std::vector<double> y(dy.size());
    cpu::tap_fusion_forward(kSmall, x.data(), weight.data(), taps.data(), y.data());
    return test::dot(y, dy);
  };
  auto dx = poisoned(kSmall.pixels() * kSmall.inputs);
  std::vector<double> dweight(weight.size());
  cpu::tap_fusion_backward(kSmall, x.data(), weight.data(), dy.data(), taps.data(), dx.data(), dweight.data());
  test::expect_gradient("x", x, loss, dx);
  test::expect_gradient("weight", weight, loss, dweight);
}

// The head of a base model at 512 pixels: what the cut saves of the fusion convolution.
TEST(TapFusion, SavesTheProductsOfTheEnlargedPixels) {
  std::int64_t convolved = 0;
  std::int64_t fused = 0;
  for (const std::int64_t side : {64, 32, 16}) {
    const TapFusionShape s{.batch = 1,
                           .height = side,
                           .width = side,
                           .out_height = 128,
                           .out_width = 128,
                           .inputs = 512,
                           .outputs = 512,
                           .weight_inputs = 2048};
    convolved += convolution_forward_cost(convolution(s), true, 2).flops;
    fused += tap_fusion_forward_cost(s, 2).flops;
  }
  EXPECT_NEAR(static_cast<double>(convolved) * 1e-9, 232.0, 0.5);
  EXPECT_NEAR(static_cast<double>(fused) * 1e-9, 25.4, 0.5);
}

}  // namespace
}  // namespace swinscope
