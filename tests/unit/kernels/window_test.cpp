#include "kernels/window.h"

#include <array>
#include <set>

#include "tests/unit/kernels/reference_attention.h"

namespace swinscope {
namespace {

using test::Map;
using test::to_size;

struct Geometry {
  std::int64_t batch;
  Extent2 map, window, shift;
};

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> all{
      {1, {14, 14}, {7, 7}, {0, 0}}, {2, {14, 14}, {7, 7}, {3, 3}}, {1, {16, 16}, {8, 8}, {4, 4}},
      {2, {14, 21}, {7, 7}, {3, 3}}, {1, {7, 7}, {7, 7}, {0, 0}},   {3, {4, 6}, {2, 3}, {1, 1}},
      {1, {8, 12}, {4, 4}, {0, 2}},  {2, {9, 10}, {4, 4}, {2, 2}},  {1, {5, 17}, {4, 4}, {0, 0}},
      {1, {11, 8}, {4, 4}, {2, 2}},  {2, {5, 4}, {3, 3}, {1, 1}},   {1, {10, 3}, {7, 3}, {3, 0}},
      {2, {1, 1}, {1, 1}, {0, 0}},   {1, {6, 6}, {2, 2}, {1, 1}},
  };
  return all;
}

WindowGrid grid_of(const Geometry& g) { return {.batch = g.batch, .map = g.map, .window = g.window, .shift = g.shift}; }

// The image's tokens as integers, rolled, padded with kPaddedToken and partitioned by copies.
std::vector<Map> coded_windows(const Geometry& g, std::int64_t image) {
  Map tokens = test::make_map(g.map.height, g.map.width, 1);
  for (std::int64_t i = 0; i < g.map.area(); ++i) {
    tokens.values[to_size(i)] = static_cast<double>(image * g.map.area() + i);
  }
  const Extent2 windows = grid_of(g).windows();
  return test::partition(
      test::resize(test::roll(tokens, g.shift.height, g.shift.width), windows.height * g.window.height,
                   windows.width * g.window.width, {static_cast<double>(kPaddedToken)}),
      g.window);
}

TEST(Window, TokensAreThoseOfTheRolledPaddedPartitionedMap) {
  for (const Geometry& g : geometries()) {
    const WindowGrid grid = grid_of(g);
    std::int64_t window = 0;
    for (std::int64_t image = 0; image < g.batch; ++image) {
      for (const Map& expected : coded_windows(g, image)) {
        for (std::int64_t slot = 0; slot < grid.window_tokens(); ++slot) {
          ASSERT_EQ(window_token(grid, window, slot), static_cast<std::int64_t>(expected.values[to_size(slot)]))
              << "map " << g.map.height << "x" << g.map.width << " window " << window << " slot " << slot;
        }
        ++window;
      }
    }
    ASSERT_EQ(window, grid.window_count());
  }
}

// What the scatter relies on: reverse and roll back give every token once.
TEST(Window, EveryTokenStandsInExactlyOneSlot) {
  for (const Geometry& g : geometries()) {
    const WindowGrid grid = grid_of(g);
    std::multiset<std::int64_t> seen;
    std::int64_t padding = 0;
    for (std::int64_t window = 0; window < grid.window_count(); ++window) {
      for (std::int64_t slot = 0; slot < grid.window_tokens(); ++slot) {
        const std::int64_t token = window_token(grid, window, slot);
        if (token == kPaddedToken) {
          ++padding;
        } else {
          seen.insert(token);
        }
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(seen.size()), grid.tokens());
    ASSERT_EQ(*seen.begin(), 0);
    ASSERT_EQ(*seen.rbegin(), grid.tokens() - 1);
    ASSERT_EQ(static_cast<std::int64_t>(std::set<std::int64_t>(seen.begin(), seen.end()).size()), grid.tokens());
    EXPECT_EQ(padding > 0, grid.padded());
  }
}

TEST(Window, MaskedPairsAreThoseOfThePaintedRegions) {
  for (const Geometry& g : geometries()) {
    const WindowGrid grid = grid_of(g);
    const Extent2 windows = grid.windows();
    const auto regions = test::partition(
        test::region_map(windows.height * g.window.height, windows.width * g.window.width, g.window, g.shift),
        g.window);
    for (std::int64_t window = 0; window < grid.window_count(); ++window) {
      const auto& expected = regions[to_size(window) % regions.size()].values;
      bool any = false;
      for (std::int64_t i = 0; i < grid.window_tokens(); ++i) {
        for (std::int64_t j = 0; j < grid.window_tokens(); ++j) {
          const bool masked = window_region(grid, window, i) != window_region(grid, window, j);
          ASSERT_EQ(masked, expected[to_size(i)] != expected[to_size(j)]) << window << " " << i << " " << j;
          any = any || masked;
        }
      }
      ASSERT_EQ(window_is_masked(grid, window), any) << "map " << g.map.height << "x" << g.map.width << " " << window;
    }
  }
}

TEST(Window, BiasRowsNumberTheOffsets) {
  const Extent2 window{3, 4};
  EXPECT_EQ(bias_table_rows(window), 5 * 7);
  std::set<std::int64_t> rows;
  for (std::int64_t i = 0; i < window.area(); ++i) {
    for (std::int64_t j = 0; j < window.area(); ++j) {
      const std::int64_t row = bias_table_row(window, i, j);
      ASSERT_GE(row, 0);
      ASSERT_LT(row, bias_table_rows(window));
      rows.insert(row);
      // The opposite offset is the mirrored row.
      ASSERT_EQ(row + bias_table_row(window, j, i), bias_table_rows(window) - 1);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()), bias_table_rows(window));
  EXPECT_EQ(bias_table_row(window, 0, 0), 2 * 7 + 3);
  EXPECT_EQ(bias_table_row(window, 11, 0), 34);  // query below and right of the key
  EXPECT_EQ(bias_table_row(window, 4, 0), 3 * 7 + 3);
  EXPECT_EQ(bias_table_row(window, 1, 0), 2 * 7 + 4);
}

TEST(Window, MapsNotLargerThanTheWindowAreOneUnshiftedWindow) {
  const auto used = [](Extent2 map) {
    const WindowShift result = effective_window(map, {7, 7}, {3, 3});
    return std::array<std::int64_t, 4>{result.window.height, result.window.width, result.shift.height,
                                       result.shift.width};
  };
  EXPECT_EQ(used({14, 14}), (std::array<std::int64_t, 4>{7, 7, 3, 3}));
  EXPECT_EQ(used({7, 7}), (std::array<std::int64_t, 4>{7, 7, 0, 0}));
  EXPECT_EQ(used({4, 5}), (std::array<std::int64_t, 4>{4, 5, 0, 0}));
  EXPECT_EQ(used({8, 7}), (std::array<std::int64_t, 4>{7, 7, 3, 0}));
  EXPECT_EQ(used({3, 9}), (std::array<std::int64_t, 4>{3, 7, 0, 3}));
}

}  // namespace
}  // namespace swinscope
