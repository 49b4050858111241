#include "kernels/upsample.h"

#include <algorithm>
#include <cmath>

#include "kernels/bilinear.h"
#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

// The resizes of the head at 512 pixels and smaller, the pyramid's fractional ones, a reduction, and the identity.
constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{16, 32}, {16, 64}, {16, 128}, {8, 128}, {1, 16}, {2, 16},
                                                            {3, 16},  {6, 16},  {6, 8},    {9, 4},   {5, 5},  {7, 1}};

// torch's area_pixel_compute_source_index, in double.
double coordinate(std::int64_t from, std::int64_t to, std::int64_t output) {
  return std::max(0.0, (static_cast<double>(output) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5);
}

// The weight of an input as a hat around it, clamped coordinates at the borders.
double hat(std::int64_t from, std::int64_t to, std::int64_t output, std::int64_t index) {
  const double at = std::min(coordinate(from, to, output), static_cast<double>(from - 1));
  return std::max(0.0, 1.0 - std::abs(at - static_cast<double>(index)));
}

TEST(Bilinear, SourcesAndReadersAreThoseOfTheFormula) {
  for (const auto& [from, to] : kSizes) {
    for (std::int64_t index = 0; index < from; ++index) {
      const BilinearReaders readers = bilinear_readers(from, to, index);
      for (std::int64_t output = 0; output < to; ++output) {
        const double weight = hat(from, to, output, index);
        EXPECT_NEAR(bilinear_source(from, to, output).weight_of(index), weight, 1e-14);
        if (output < readers.begin || output >= readers.end) {
          EXPECT_LT(weight, 1e-14) << from << " to " << to << ": output " << output << " reads input " << index;
        }
      }
    }
  }
}

template <typename T>
std::vector<T> forward(const UpsampleShape& s, const std::vector<T>& x) {
  auto y = poisoned<T>(s.out_pixels() * s.channels);
  cpu::upsample_forward(s, x.data(), false, y.data());
  return y;
}

TEST(Upsample, EqualsItsDefinition) {
  Random random(1);
  for (const auto& [from, to] : kSizes) {
    const UpsampleShape s{.batch = 2, .height = from, .width = 3, .out_height = to, .out_width = 8, .channels = 2};
    const auto x = random.normal(s.pixels() * 2);
    const auto y = forward(s, x);
    for (std::int64_t p = 0; p < s.out_pixels(); ++p) {
      double expected = 0.0;
      for (std::int64_t r = 0; r < from; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) {
          expected += hat(from, to, p / 8 % to, r) * hat(3, 8, p % 8, c) *
                      x[to_size(((p / 8 / to * from + r) * 3 + c) * 2 + 1)];
        }
      }
      ASSERT_NEAR(y[to_size(p * 2 + 1)], expected, 1e-13) << from << " to " << to;
    }
  }
}

TEST(Upsample, BackwardIsTheAdjointOfForward) {
  Random random(2);
  for (const auto& [from, to] : kSizes) {
    const UpsampleShape s{
        .batch = 2, .height = from, .width = to, .out_height = to, .out_width = 2 * to, .channels = 5};
    const auto x = random.normal<float>(s.pixels() * s.channels);
    const auto dy = random.normal<float>(s.out_pixels() * s.channels);
    auto dx = poisoned<float>(s.pixels() * s.channels);
    cpu::upsample_backward(s, dy.data(), false, dx.data());
    const auto y = forward(s, x);
    EXPECT_NEAR(test::dot(y, dy), test::dot(x, dx), 1e-6 * std::sqrt(test::dot(y, y) * test::dot(dy, dy)));
  }
}

TEST(Upsample, GradientEqualsFiniteDifferences) {
  Random random(3);
  const UpsampleShape s{.batch = 2, .height = 3, .width = 4, .out_height = 8, .out_width = 7, .channels = 2};
  auto x = random.normal(s.pixels() * s.channels);
  const auto dy = random.normal(s.out_pixels() * s.channels);
  auto dx = poisoned(s.pixels() * s.channels);
  cpu::upsample_backward(s, dy.data(), false, dx.data());
  test::expect_gradient(
      "x", x, [&] { return test::dot(forward(s, x), dy); }, dx);
}

TEST(Upsample, AddsWhereAsked) {
  Random random(4);
  const UpsampleShape s{.batch = 1, .height = 2, .width = 2, .out_height = 4, .out_width = 4, .channels = 3};
  const auto x = random.normal(12);
  const auto y = forward(s, x);
  auto sum = std::vector<double>(48, 1.0);
  cpu::upsample_forward(s, x.data(), true, sum.data());
  std::vector<double> gathered(12, 1.0);
  cpu::upsample_backward(s, y.data(), true, gathered.data());
  auto once = poisoned(12);
  cpu::upsample_backward(s, y.data(), false, once.data());
  for (std::size_t i = 0; i < 48; ++i)
    EXPECT_EQ(sum[i], 1.0 + y[i]);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(gathered[i], 1.0 + once[i]);
}

}  // namespace
}  // namespace swinscope
