// Number formats of 8 bits, how the CPU rounds to them as the GPU does, and what stands beside tensors of such numbers.
//
// e4m3 (OCP 8-bit floating point specification, revision 1.0): a sign, 4 bits of exponent (bias 7) and 3 of mantissa.
// The largest number is 448, the smallest normal one 2^-6, steps below it are 2^-9. There is no infinity; all bits but
// the sign set are NaN.
//
// int8: the integers from -127 to 127, so that a number and its negative round alike; -128 is never made. There is no
// NaN: rounding makes 127 of it, on the GPU as here. Nothing relies on that: calibration refuses what is not finite
// (workloads/quantization.h).
#pragma once

#include <cmath>
#include <cstdint>

namespace swinscope {

enum class ByteFormat : std::uint8_t { kNone, kE4m3, kInt8 };  // kNone: numbers are wider

// The least scale of a tensor: its inverse is an fp16 number.
inline constexpr float kLeastByteScale = 1.0F / 16384.0F;

constexpr float largest_number(ByteFormat format) { return format == ByteFormat::kInt8 ? 127.0F : 448.0F; }

// What one stands for, so that `largest` becomes the largest number; never 0.
constexpr float byte_scale(ByteFormat format, float largest) {
  const float scale = largest / largest_number(format);
  return scale > kLeastByteScale ? scale : kLeastByteScale;
}

// To nearest, ties to even; beyond the largest number, the largest.
inline std::uint8_t to_e4m3(float value) {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7f;
  const float magnitude = std::fmin(std::fabs(value), largest_number(ByteFormat::kE4m3));
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

// The same.
inline std::uint8_t to_int8(float value) {
  const float largest = largest_number(ByteFormat::kInt8);
  return static_cast<std::uint8_t>(static_cast<int>(std::nearbyint(std::fmax(std::fmin(value, largest), -largest))));
}

inline float from_int8(std::uint8_t bits) { return static_cast<float>(static_cast<std::int8_t>(bits)); }

inline std::uint8_t to_byte(ByteFormat format, float value) {
  return format == ByteFormat::kInt8 ? to_int8(value) : to_e4m3(value);
}
inline float from_byte(ByteFormat format, std::uint8_t bits) {
  return format == ByteFormat::kInt8 ? from_int8(bits) : from_e4m3(bits);
}

}  // namespace swinscope
