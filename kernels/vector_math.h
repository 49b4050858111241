// Internal to the CPU backend: functions that the compiler can turn into vector code, which calls into libm
// cannot be. Without contraction every vector width gives the same bits. In double they are libm's: the
// reference.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace swinscope::cpu {

inline double exponential(double x) { return std::exp(x); }

// e^x = 2^n * e^r with |r| <= ln 2 / 2, and e^r by its Taylor series to r^7 (remainder below 6e-9). Relative
// error below 2e-7; from 88.73 on infinity, below -103.9 zero, NaN stays NaN.
inline float exponential(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // few enough bits that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRoundToInteger = 12582912.0F;  // 1.5 * 2^23: what is added to it loses its fraction
  const float low = x < -104.0F ? -104.0F : x;
  const float clamped = low > 89.0F ? 89.0F : low;
  const float shifted = clamped * kLog2E + kRoundToInteger;
  const float n = shifted - kRoundToInteger;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float series = 1.0F / 5040.0F;
  series = series * r + 1.0F / 720.0F;
  series = series * r + 1.0F / 120.0F;
  series = series * r + 1.0F / 24.0F;
  series = series * r + 1.0F / 6.0F;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  // 2^n in two factors: n reaches from -150 to 128, beyond the exponents of a normal number at both ends.
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRoundToInteger);
  const std::int32_t half = exponent >> 1;
  const auto power_of_two = [](std::int32_t e) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(e) + 127U) << 23);
  };
  return series * power_of_two(half) * power_of_two(exponent - half);
}

// The normal distribution at one point.
template <typename T>
struct Normal {
  T cumulative;  // Phi(x)
  T density;     // exp(-x^2 / 2) / sqrt(2 pi)
};

// erfc keeps the relative precision of the left tail, where 1 + erf cancels.
inline Normal<double> normal_distribution(double x) {
  constexpr double kInverseSqrtTwoPi = 0.3989422804014327;
  constexpr double kInverseSqrtTwo = 0.7071067811865476;
  return {0.5 * std::erfc(-x * kInverseSqrtTwo), kInverseSqrtTwoPi * std::exp(-0.5 * x * x)};
}

// Phi(-|x|) = erfcx(|x| / sqrt 2) / 2 * exp(-x^2 / 2), where the scaled complementary error function erfcx is smooth: t
// times a polynomial in t = 1 / (1 + 0.21 |x|), around 0.625 where its terms do not cancel. The coefficients were
// fitted to erfcx by least squares of the relative error, reweighted towards its maximum (Lawson's algorithm), on |x|
// <= 13.5, beyond which the product is zero; the fit's relative error is 1.4e-8, so that rounding dominates.
inline Normal<float> normal_distribution(float x) {
  constexpr float kInverseSqrtTwoPi = 0.398942280F;
  const float unbounded = x < 0.0F ? -x : x;
  const float magnitude = unbounded > 16.0F ? 16.0F : unbounded;
  const float bell = exponential(-0.5F * x * x);
  const float scaled = 0.21F * magnitude;
  const float t = 1.0F - scaled / (1.0F + scaled);  // unlike 1 / (1 + scaled), it keeps the digits of a small x
  const float u = t - 0.625F;
  float erfcx = -0.143950373F;
  erfcx = erfcx * u - 0.149425834F;
  erfcx = erfcx * u + 0.253566563F;
  erfcx = erfcx * u + 0.915183902F;
  erfcx = erfcx * u + 1.44147801F;
  erfcx = erfcx * u + 1.54836416F;
  erfcx = erfcx * u + 1.25737858F;
  erfcx = erfcx * u + 0.801473796F;
  erfcx = erfcx * u + 0.405190825F;
  const float tail = 0.5F * (erfcx * t) * bell;
  return {x < 0.0F ? tail : 1.0F - tail, kInverseSqrtTwoPi * bell};
}

}  // namespace swinscope::cpu
