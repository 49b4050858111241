// The index arithmetic of window.h in 32 bits, for kernels. (Compiled for the host, too: its test needs no GPU.)
#pragma once

#include <cuda_runtime.h>

#include "kernels/window_attention.h"

namespace swinscope::cuda {

// floor(number / divisor) with reciprocal = ceil(2^32 / divisor): exact while number * divisor < 2^32. A divisor of 1
// has no such reciprocal in 32 bits and is given as 0.
__device__ inline int divide(int number, std::uint32_t reciprocal) {
  if (reciprocal == 0) return number;
  return static_cast<int>((std::uint64_t{static_cast<std::uint32_t>(number)} * reciprocal) >> 32);
}

struct WindowGeometry {
  int map_height, map_width, window_height, window_width, shift_height, shift_width, windows_y, windows_x;
  bool image_order;
  std::uint32_t reciprocal_x, reciprocal_y;  // of windows_x, windows_y: see divide()

  static WindowGeometry of(const WindowGrid& grid, TokenOrder order) {
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    const auto reciprocal = [](std::int64_t divisor) {
      return divisor == 1 ? 0U : static_cast<std::uint32_t>(((std::int64_t{1} << 32) + divisor - 1) / divisor);
    };
    return {narrow(grid.map.height),          narrow(grid.map.width),           narrow(grid.window.height),
            narrow(grid.window.width),        narrow(grid.shift.height),        narrow(grid.shift.width),
            narrow(grid.windows().height),    narrow(grid.windows().width),     order == TokenOrder::kImage,
            reciprocal(grid.windows().width), reciprocal(grid.windows().height)};
  }

  __device__ int tokens() const { return window_height * window_width; }

  // The row of qkv and out, or -1 for padding in image order.
  __device__ int row(int window, int slot) const {
    if (!image_order) return window * tokens() + slot;
    const int place = window % (windows_y * windows_x);
    int y = place / windows_x * window_height + slot / window_width;
    int x = place % windows_x * window_width + slot % window_width;
    if (y >= map_height || x >= map_width) return -1;
    y += shift_height;
    x += shift_width;
    if (y >= map_height) y -= map_height;
    if (x >= map_width) x -= map_width;
    return (window / (windows_y * windows_x) * map_height + y) * map_width + x;
  }

  __device__ bool masked(int window) const {
    const int place = window % (windows_y * windows_x);
    return (shift_height > 0 && place / windows_x == windows_y - 1) ||
           (shift_width > 0 && place % windows_x == windows_x - 1);
  }

  __device__ static int band(int at, int windows, int window, int shift) {
    const int padded = windows * window;
    return at < padded - window ? 0 : (at < padded - shift ? 1 : 2);
  }

  __device__ int region(int window, int slot) const {
    const int place = window % (windows_y * windows_x);
    const int y = place / windows_x * window_height + slot / window_width;
    const int x = place % windows_x * window_width + slot % window_width;
    return 3 * band(y, windows_y, window_height, shift_height) + band(x, windows_x, window_width, shift_width);
  }
};

// A slot of the window: its place in shifted coordinates, and whether it lies behind the seam where a shifted map was
// wrapped around.
struct Slot {
  int index, y, x;
  bool below, right;

  __device__ Slot(const WindowGeometry& g, int slot) : index(slot) {
    const int local_y = slot / g.window_width;
    const int local_x = slot % g.window_width;
    below = local_y >= g.window_height - g.shift_height;
    right = local_x >= g.window_width - g.shift_width;
    y = local_y + g.shift_height;
    x = local_x + g.shift_width;
  }
};

// Where a window lies, and whether it holds a seam.
struct Window {
  int index, image_rows, y, x;
  bool seam_below, seam_right;

  __device__ Window(const WindowGeometry& g, int window) : index(window) {
    const int row = divide(window, g.reciprocal_x);
    const int image = divide(row, g.reciprocal_y);
    const int column = window - row * g.windows_x;
    const int row_in_image = row - image * g.windows_y;
    image_rows = image * g.map_height;
    y = row_in_image * g.window_height;
    x = column * g.window_width;
    seam_below = g.shift_height > 0 && row_in_image == g.windows_y - 1;
    seam_right = g.shift_width > 0 && column == g.windows_x - 1;
  }

  // The row of qkv and out, or -1 for padding. Without branches: kernels do it for each window.
  __device__ int row(const WindowGeometry& g, const Slot& slot) const {
    int at_y = y + slot.y;
    int at_x = x + slot.x;
    const bool padding = at_y >= g.map_height + g.shift_height || at_x >= g.map_width + g.shift_width;
    at_y -= at_y >= g.map_height ? g.map_height : 0;
    at_x -= at_x >= g.map_width ? g.map_width : 0;
    const int in_image = padding ? -1 : (image_rows + at_y) * g.map_width + at_x;
    return g.image_order ? in_image : index * g.tokens() + slot.index;
  }

  // The same in image order of a map without padding.
  __device__ int row_in_image(const WindowGeometry& g, const Slot& slot) const {
    int at_y = y + slot.y;
    int at_x = x + slot.x;
    at_y -= at_y >= g.map_height ? g.map_height : 0;
    at_x -= at_x >= g.map_width ? g.map_width : 0;
    return (image_rows + at_y) * g.map_width + at_x;
  }
};

// The row of the bias table for a query and a key.
__device__ inline int bias_row(int window_height, int window_width, int query, int key) {
  const int dy = query / window_width - key / window_width;
  const int dx = query % window_width - key % window_width;
  return (dy + window_height - 1) * (2 * window_width - 1) + dx + window_width - 1;
}

}  // namespace swinscope::cuda
