// The geometry of shifted windows: which token stands in which slot, which pairs are masked, which row of the bias
// table belongs to a pair. window_geometry.cuh is the same arithmetic in 32 bits for device code.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope {

// The geometry of (shifted) windows, as pure index arithmetic (Liu et al. 2021, arXiv:2103.14030,
// section 3.2). Feature maps stay in image order [batch, height, width, channels]; only the attention
// operation knows that windows exist and finds its rows by these functions, so that no copy of a rolled or
// partitioned map is ever made.
//
// The reference rolls the map by -shift, pads it with zeros below and to the right up to a multiple of the
// window, and cuts it into windows. "Shifted coordinates" are those of the rolled and padded map.

struct Extent2 {
  std::int64_t height = 0;
  std::int64_t width = 0;

  constexpr std::int64_t area() const { return height * width; }
  friend constexpr bool operator==(const Extent2&, const Extent2&) = default;
};

struct WindowShift {
  Extent2 window{};
  Extent2 shift{};
};

// The window and shift that are used on a map: per dimension, a map that is not larger than the window is one
// window with no shift.
constexpr WindowShift effective_window(Extent2 map, Extent2 window, Extent2 shift) {
  WindowShift result{window, shift};
  if (map.height <= window.height) {
    result.window.height = map.height;
    result.shift.height = 0;
  }
  if (map.width <= window.width) {
    result.window.width = map.width;
    result.shift.width = 0;
  }
  return result;
}

// Windows are numbered row by row within an image and images one after another; slots are the tokens of a
// window, row by row. Requires 0 < window and 0 <= shift < window in both dimensions.
struct WindowGrid {
  std::int64_t batch = 0;
  Extent2 map{};
  Extent2 window{};
  Extent2 shift{};

  constexpr Extent2 windows() const {
    return {(map.height + window.height - 1) / window.height, (map.width + window.width - 1) / window.width};
  }
  constexpr std::int64_t window_count() const { return batch * windows().area(); }
  constexpr std::int64_t window_tokens() const { return window.area(); }
  constexpr std::int64_t tokens() const { return batch * map.area(); }
  constexpr bool padded() const { return map.height % window.height != 0 || map.width % window.width != 0; }
};

constexpr std::int64_t kPaddedToken = -1;

// The row of the image-order map [batch * height * width] that stands in `slot` of `window`, or kPaddedToken.
constexpr std::int64_t window_token(const WindowGrid& grid, std::int64_t window, std::int64_t slot) {
  const Extent2 windows = grid.windows();
  const std::int64_t image = window / windows.area();
  const std::int64_t place = window % windows.area();
  const std::int64_t y = place / windows.width * grid.window.height + slot / grid.window.width;
  const std::int64_t x = place % windows.width * grid.window.width + slot % grid.window.width;
  if (y >= grid.map.height || x >= grid.map.width) return kPaddedToken;
  const std::int64_t source_y = (y + grid.shift.height) % grid.map.height;
  const std::int64_t source_x = (x + grid.shift.width) % grid.map.width;
  return (image * grid.map.height + source_y) * grid.map.width + source_x;
}

namespace detail {
// 0, 1, 2: before the last window, in it but before the wrapped-around part, in the wrapped-around part.
constexpr std::int64_t window_band(std::int64_t at, std::int64_t map, std::int64_t window, std::int64_t shift) {
  const std::int64_t padded = (map + window - 1) / window * window;
  return at < padded - window ? 0 : (at < padded - shift ? 1 : 2);
}
}  // namespace detail

// One of 3 x 3 regions. Two slots of one window whose regions differ were no neighbours before the roll:
// kWindowMask is added to their score. Padding belongs to the region of its place.
constexpr std::int64_t window_region(const WindowGrid& grid, std::int64_t window, std::int64_t slot) {
  const Extent2 windows = grid.windows();
  const std::int64_t place = window % windows.area();
  const std::int64_t y = place / windows.width * grid.window.height + slot / grid.window.width;
  const std::int64_t x = place % windows.width * grid.window.width + slot % grid.window.width;
  return 3 * detail::window_band(y, grid.map.height, grid.window.height, grid.shift.height) +
         detail::window_band(x, grid.map.width, grid.window.width, grid.shift.width);
}

// Whether any two slots of this window are in different regions (only windows of the last row or column are).
constexpr bool window_is_masked(const WindowGrid& grid, std::int64_t window) {
  const Extent2 windows = grid.windows();
  const std::int64_t place = window % windows.area();
  return (grid.shift.height > 0 && place / windows.width == windows.height - 1) ||
         (grid.shift.width > 0 && place % windows.width == windows.width - 1);
}

// Finite, as in the reference: V2 scores reach +-100, so masked pairs do leak there and weights are trained
// with it.
constexpr double kWindowMask = -100.0;

// Rows of a relative position bias table: one for each offset between two slots.
constexpr std::int64_t bias_table_rows(Extent2 window) { return (2 * window.height - 1) * (2 * window.width - 1); }

// The row of the bias table for query slot and key slot: (dy + height - 1) * (2 * width - 1) + dx + width - 1
// with (dy, dx) the query's place minus the key's.
constexpr std::int64_t bias_table_row(Extent2 window, std::int64_t query, std::int64_t key) {
  const std::int64_t dy = query / window.width - key / window.width;
  const std::int64_t dx = query % window.width - key % window.width;
  return (dy + window.height - 1) * (2 * window.width - 1) + dx + window.width - 1;
}

namespace cuda {

// The copies that a framework makes around attention within windows; only the unoptimized path makes them. Rows are
// tokens of `channels` elements, a multiple of 8.

// y[token] = x[token moved by the shift], cyclically: `forward` takes the map to shifted coordinates, else back.
void window_roll(const WindowGrid& grid, std::int64_t channels, ElementType type, bool forward, const void* x, void* y,
                 Stream stream);
// From the rolled map [tokens, channels] to windows [window_count * window_tokens, channels], padded with zeros.
void window_partition(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                      Stream stream);
// Back to the rolled map; padding is dropped.
void window_reverse(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                    Stream stream);

}  // namespace cuda

}  // namespace swinscope
