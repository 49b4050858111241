// The index arithmetic of window.h in 32 bits, for kernels.
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda {

struct WindowGeometry {
  int map_height, map_width, window_height, window_width, shift_height, shift_width, windows_y, windows_x;
  bool image_order;

  static WindowGeometry of(const WindowGrid& grid, TokenOrder order) {
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    return {narrow(grid.map.height),       narrow(grid.map.width),       narrow(grid.window.height),
            narrow(grid.window.width),     narrow(grid.shift.height),    narrow(grid.shift.width),
            narrow(grid.windows().height), narrow(grid.windows().width), order == TokenOrder::kImage};
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

// The row of the bias table for a query and a key.
__device__ inline int bias_row(int window_height, int window_width, int query, int key) {
  const int dy = query / window_width - key / window_width;
  const int dx = query % window_width - key % window_width;
  return (dy + window_height - 1) * (2 * window_width - 1) + dx + window_width - 1;
}

}  // namespace swinscope::cuda
