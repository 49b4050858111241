// The kernels' 32-bit index arithmetic against window.h, on the host.
#include "kernels/window_geometry.cuh"

#include <gtest/gtest.h>

namespace swinscope::cuda {
namespace {

// Whether a shifted window's seam parts two slots, as the attention kernel sees it.
bool parted(const Window& window, const Slot& a, const Slot& b) {
  return (window.seam_below && a.below != b.below) || (window.seam_right && a.right != b.right);
}

void expect_agreement(const WindowGrid& grid) {
  const WindowGeometry geometry = WindowGeometry::of(grid, TokenOrder::kImage);
  for (int index = 0; index < grid.window_count(); ++index) {
    const Window window(geometry, index);
    ASSERT_EQ(geometry.masked(index), window_is_masked(grid, index));
    for (int i = 0; i < grid.window_tokens(); ++i) {
      const Slot slot(geometry, i);
      ASSERT_EQ(window.row(geometry, slot), window_token(grid, index, i));
      ASSERT_EQ(geometry.row(index, i), window_token(grid, index, i));
      ASSERT_EQ(geometry.region(index, i), window_region(grid, index, i));
      for (int j = 0; j < i; ++j) {
        ASSERT_EQ(parted(window, slot, Slot(geometry, j)),
                  window_region(grid, index, i) != window_region(grid, index, j));
      }
    }
  }
}

TEST(WindowGeometry, AgreesWithTheReferenceOnEveryGrid) {
  for (const std::int64_t height : {1, 7, 8, 10, 14, 33}) {
    for (const std::int64_t width : {3, 7, 9, 16, 28}) {
      for (const std::int64_t side : {2, 3, 7, 8}) {
        for (const std::int64_t shift : {std::int64_t{0}, std::int64_t{1}, side / 2, side - 1}) {
          const WindowShift used = effective_window({height, width}, {side, side}, {shift, shift});
          SCOPED_TRACE(testing::Message() << height << " x " << width << ", window " << side << ", shift " << shift);
          expect_agreement({3, {height, width}, used.window, used.shift});
        }
      }
    }
  }
}

TEST(WindowGeometry, WindowsInOrderNeedNoSearch) {
  const WindowGrid grid{2, {10, 9}, {4, 4}, {2, 2}};
  const WindowGeometry geometry = WindowGeometry::of(grid, TokenOrder::kWindow);
  EXPECT_EQ(Window(geometry, 3).row(geometry, Slot(geometry, 5)), 3 * 16 + 5);
  EXPECT_EQ(geometry.row(3, 5), 3 * 16 + 5);
}

TEST(WindowGeometry, DividesExactlyUpToItsLimit) {
  for (const std::int64_t divisor : {1, 2, 3, 7, 8, 14, 56, 127}) {
    const WindowGrid grid{1, {1, 2 * divisor}, {1, 2}, {0, 0}};
    const std::uint32_t reciprocal = WindowGeometry::of(grid, TokenOrder::kImage).reciprocal_x;
    const std::int64_t limit = (std::int64_t{1} << 31) / divisor;
    for (const std::int64_t number :
         {std::int64_t{0}, divisor - 1, divisor, 3 * divisor - 1, limit - divisor, limit - 1}) {
      EXPECT_EQ(divide(static_cast<int>(number), reciprocal), number / divisor) << number << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace swinscope::cuda
