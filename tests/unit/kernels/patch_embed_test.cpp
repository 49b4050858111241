#include "kernels/patch_embed.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::expect_gradient;
using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

constexpr PatchEmbedShape kSmall{.batch = 2, .channels = 3, .height = 8, .width = 12, .patch = 4, .outputs = 5};

// The convolution by its definition.
std::vector<double> direct_convolution(const PatchEmbedShape& s, const std::vector<double>& image,
                                       const std::vector<double>& weight, const std::vector<double>& bias) {
  std::vector<double> y;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t oy = 0; oy < s.height / s.patch; ++oy) {
      for (std::int64_t ox = 0; ox < s.width / s.patch; ++ox) {
        for (std::int64_t o = 0; o < s.outputs; ++o) {
          double sum = bias[to_size(o)];
          for (std::int64_t c = 0; c < s.channels; ++c) {
            for (std::int64_t ky = 0; ky < s.patch; ++ky) {
              for (std::int64_t kx = 0; kx < s.patch; ++kx) {
                const std::int64_t row = (b * s.channels + c) * s.height + oy * s.patch + ky;
                sum += image[to_size(row * s.width + ox * s.patch + kx)] *
                       weight[to_size(((o * s.channels + c) * s.patch + ky) * s.patch + kx)];
              }
            }
          }
          y.push_back(sum);
        }
      }
    }
  }
  return y;
}

template <typename T>
std::vector<T> forward(const PatchEmbedShape& shape, const std::vector<T>& image, const std::vector<T>& weight,
                       const std::vector<T>& bias, std::vector<T>& columns) {
  columns = poisoned<T>(shape.column_elements());
  auto y = poisoned<T>(shape.tokens() * shape.outputs);
  cpu::patch_embed_forward(shape, image.data(), weight.data(), bias.data(), columns.data(), y.data());
  return y;
}

TEST(PatchEmbed, EqualsTheDirectConvolution) {
  Random random(1);
  for (const std::int64_t patch : {1, 2, 4}) {
    PatchEmbedShape shape = kSmall;
    shape.patch = patch;
    const auto image = random.normal(shape.batch * 3 * shape.height * shape.width);
    const auto weight = random.normal(shape.outputs * shape.column_length());
    const auto bias = random.normal(shape.outputs);
    std::vector<double> columns;
    const auto y = forward(shape, image, weight, bias, columns);
    EXPECT_LT(relative_error(y, direct_convolution(shape, image, weight, bias)), 1e-14);
  }
}

TEST(PatchEmbed, GradientsEqualFiniteDifferences) {
  Random random(2);
  auto image = random.normal(kSmall.batch * 3 * kSmall.height * kSmall.width);
  auto weight = random.normal(kSmall.outputs * kSmall.column_length());
  auto bias = random.normal(kSmall.outputs);
  const auto dy = random.normal(kSmall.tokens() * kSmall.outputs);
  std::vector<double> columns;
  const auto loss = [&] {
    std::vector<double> unused;
    return test::dot(forward(kSmall, image, weight, bias, unused), dy);
  };
  loss();
  forward(kSmall, image, weight, bias, columns);
  std::vector<double> dweight(weight.size());
  std::vector<double> dbias(bias.size());
  auto dimage = poisoned(static_cast<std::int64_t>(image.size()));
  cpu::patch_embed_backward(kSmall, weight.data(), columns.data(), dy.data(), dweight.data(), dbias.data(),
                            dimage.data(), columns.data());
  expect_gradient("weight", weight, loss, dweight);
  expect_gradient("bias", bias, loss, dbias);
  expect_gradient("image", image, loss, dimage);
}

TEST(PatchEmbed, WithoutInputGradientNeedsNoWorkspace) {
  Random random(3);
  const auto image = random.normal(kSmall.batch * 3 * kSmall.height * kSmall.width);
  const auto weight = random.normal(kSmall.outputs * kSmall.column_length());
  const auto bias = random.normal(kSmall.outputs);
  const auto dy = random.normal(kSmall.tokens() * kSmall.outputs);
  std::vector<double> columns;
  forward(kSmall, image, weight, bias, columns);
  std::vector<double> dweight(weight.size());
  std::vector<double> dbias(bias.size());
  cpu::patch_embed_backward(kSmall, weight.data(), columns.data(), dy.data(), dweight.data(), dbias.data(), nullptr,
                            nullptr);
  auto dimage = poisoned(static_cast<std::int64_t>(image.size()));
  EXPECT_THROW(cpu::patch_embed_backward(kSmall, weight.data(), columns.data(), dy.data(), dweight.data(), dbias.data(),
                                         dimage.data(), nullptr),
               std::invalid_argument);
}

TEST(PatchEmbed, SinglePrecisionFollowsDouble) {
  Random random(4);
  const PatchEmbedShape shape{.batch = 2, .channels = 3, .height = 64, .width = 64, .patch = 4, .outputs = 96};
  const auto image = random.normal<float>(shape.batch * 3 * 64 * 64);
  const auto weight = random.normal<float>(std::int64_t{96} * 48);
  const auto bias = random.normal<float>(96);
  std::vector<float> columns;
  std::vector<double> wide_columns;
  const auto y = forward(shape, image, weight, bias, columns);
  const auto reference = forward(shape, test::converted<double>(image), test::converted<double>(weight),
                                 test::converted<double>(bias), wide_columns);
  EXPECT_LT(relative_error(y, reference), 1e-6);
}

TEST(PatchEmbed, RefusesACutPatch) {
  PatchEmbedShape shape = kSmall;
  shape.height = 10;
  std::vector<double> memory(10000);
  EXPECT_THROW(
      cpu::patch_embed_forward(shape, memory.data(), memory.data(), memory.data(), memory.data(), memory.data()),
      std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
