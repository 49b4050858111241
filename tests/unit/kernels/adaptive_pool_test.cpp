#include "kernels/adaptive_pool.h"

#include <cmath>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

std::vector<double> forward(const AdaptivePoolShape& s, const std::vector<double>& x) {
  auto y = poisoned(s.bins() * s.channels);
  cpu::adaptive_pool_forward(s, x.data(), y.data());
  return y;
}

TEST(AdaptivePool, EqualsItsDefinition) {
  Random random(1);
  for (const std::int64_t side : {1, 2, 3, 6}) {
    for (const std::int64_t extent : {1, 4, 8, 16, 19}) {
      const AdaptivePoolShape s{.batch = 2, .height = extent, .width = extent + 3, .channels = 2, .side = side};
      const auto x = random.normal(s.pixels() * 2);
      const auto y = forward(s, x);
      const auto begin = [&](std::int64_t size, std::int64_t bin) {
        return static_cast<std::int64_t>(std::floor(static_cast<double>(bin * size) / static_cast<double>(side)));
      };
      const auto end = [&](std::int64_t size, std::int64_t bin) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>((bin + 1) * size) / static_cast<double>(side)));
      };
      for (std::int64_t b = 0; b < s.bins(); ++b) {
        const std::int64_t image = b / (side * side);
        const std::int64_t i = b / side % side;
        const std::int64_t j = b % side;
        double sum = 0.0;
        std::int64_t count = 0;
        for (std::int64_t r = begin(s.height, i); r < end(s.height, i); ++r) {
          for (std::int64_t c = begin(s.width, j); c < end(s.width, j); ++c, ++count)
            sum += x[to_size(((image * s.height + r) * s.width + c) * 2 + 1)];
        }
        ASSERT_NEAR(y[to_size(b * 2 + 1)], sum / static_cast<double>(count), 1e-14) << side << " " << extent;
      }
    }
  }
}

TEST(AdaptivePool, GradientEqualsFiniteDifferences) {
  Random random(2);
  for (const std::int64_t side : {1, 3, 6}) {  // 6 bins of 4 pixels: all overlap
    const AdaptivePoolShape s{.batch = 2, .height = 4, .width = 7, .channels = 3, .side = side};
    auto x = random.normal(s.pixels() * s.channels);
    const auto dy = random.normal(s.bins() * s.channels);
    auto dx = poisoned(s.pixels() * s.channels);
    cpu::adaptive_pool_backward(s, dy.data(), false, dx.data());
    test::expect_gradient(
        "x", x, [&] { return test::dot(forward(s, x), dy); }, dx);
    auto twice = dx;
    cpu::adaptive_pool_backward(s, dy.data(), true, twice.data());
    for (std::size_t i = 0; i < dx.size(); ++i)
      ASSERT_NEAR(twice[i], 2 * dx[i], 1e-14);
  }
}

}  // namespace
}  // namespace swinscope
