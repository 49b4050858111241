// The number format e4m3 (OCP 8-bit floating point specification, revision 1.0): a sign, 4 bits of exponent (bias 7)
// and 3 of mantissa. The largest number is 448, the smallest normal one 2^-6, steps below it are 2^-9. There is no
// infinity; all bits but the sign set are NaN. How the CPU rounds to it, as the GPU's instruction does, and what stands
// beside tensors of such numbers.
#pragma once

#include <cmath>
#include <cstdint>

namespace swinscope {

inline constexpr float kLargestE4m3 = 448.0F;
// The least scale of a tensor: its inverse is an fp16 number.
inline constexpr float kLeastE4m3Scale = 1.0F / 16384.0F;

// To nearest, ties to even; beyond the largest number, the largest.
inline std::uint8_t to_e4m3(float value) {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const float magnitude = std::fmin(std::fabs(value), kLargestE4m3);
  if (magnitude < 0x1p-6F) return sign | static_cast<std::uint8_t>(std::nearbyint(magnitude * 0x1p9F));
  const int exponent = std::ilogb(magnitude);
  // 8 to 16 steps of 2^(exponent - 3): 16 is the next exponent's first number.
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  return sign | static_cast<std::uint8_t>(((exponent + 7) << 3) + steps - 8);
}

inline float from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 0xf;
  const int mantissa = bits & 7;
  if (exponent == 0xf && mantissa == 7) return std::nanf("");
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                        : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// What one stands for, so that `largest` becomes the largest number; never 0.
inline float e4m3_scale(float largest) { return std::fmax(largest / kLargestE4m3, kLeastE4m3Scale); }

}  // namespace swinscope
