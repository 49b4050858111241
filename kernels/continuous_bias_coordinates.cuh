// The log-spaced coordinates of a row of the table (continuous_bias.h).
#pragma once

#include "kernels/continuous_bias.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {

constexpr float kTableScale = 16.0F;

struct Coordinates {
  int height, width;                  // of the window
  int trained_height, trained_width;  // that the coordinates are scaled by

  static Coordinates of(const ContinuousBiasShape& shape) {
    const auto extent = [](std::int64_t trained, std::int64_t window) {
      return static_cast<int>(trained > 0 ? trained : window);
    };
    return {static_cast<int>(shape.window.height), static_cast<int>(shape.window.width),
            extent(shape.pretrained_window.height, shape.window.height),
            extent(shape.pretrained_window.width, shape.window.width)};
  }

  __device__ static float along(int offset, int extent) {
    constexpr float kRange = 8.0F;
    const float scaled = kRange * static_cast<float>(offset) / static_cast<float>(max(extent - 1, 1));
    return copysignf(log2f(1.0F + fabsf(scaled)) / 3.0F, scaled);  // log2(8) = 3
  }
  __device__ float2 of(int row) const {
    const int side = 2 * width - 1;
    return {along(row / side - (height - 1), trained_height), along(row % side - (width - 1), trained_width)};
  }
};

}  // namespace swinscope::cuda
