// Internal to the CPU backend: one output pixel of a bilinear resize. Everything that resizes uses it, so that a fused
// operation gives the bits of the one that stores the resized map.
#pragma once

#include <cstdint>

#include "kernels/bilinear.h"

namespace swinscope::cpu {

template <typename T>
class BilinearPixel {
 public:
  // `image`: rows of `width` pixels, `stride` elements from one pixel to the next.
  BilinearPixel(const T* image, std::int64_t width, std::int64_t stride, const BilinearSource& row,
                const BilinearSource& column)
      : low_low_(image + (row.low * width + column.low) * stride),
        low_high_(image + (row.low * width + column.high) * stride),
        high_low_(image + (row.high * width + column.low) * stride),
        high_high_(image + (row.high * width + column.high) * stride),
        down_(static_cast<T>(row.weight)),
        right_(static_cast<T>(column.weight)) {}

  T operator[](std::int64_t channel) const {
    const T upper = (T{1} - right_) * low_low_[channel] + right_ * low_high_[channel];
    const T lower = (T{1} - right_) * high_low_[channel] + right_ * high_high_[channel];
    return (T{1} - down_) * upper + down_ * lower;
  }

 private:
  const T* low_low_;
  const T* low_high_;
  const T* high_low_;
  const T* high_high_;
  T down_;
  T right_;
};

}  // namespace swinscope::cpu
