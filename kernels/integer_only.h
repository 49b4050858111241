// Softmax, GELU and layer normalization without one floating-point operation, after I-ViT (Li, Gu: "I-ViT: Integer-only
// Quantization for Efficient Vision Transformer Inference", 2022, arXiv:2207.01405). The functions here compute one
// value, or the statistics of one row; kernels and tests call the same ones, so that they agree bit for bit.
//
// Formats. Inputs and outputs are 8-bit integers from -128 to 127, all of them, and stand for themselves times a scale
// (that of an exponential's input from 1/512 to 1). The host turns scales into integers once: of() of each struct.
// Probabilities have the scale 1/128, and 127 stands for all that is above it.
//
// What is the paper's: powers of two by a straight line and shifts, log2(e) as 1.0111b and the slope of GELU's sigmoid
// as 1.1011b by shifts and additions, division by a sum in integers, the square root by Newton's method. What differs:
// - Inputs get 6 binary places before anything is shifted. The paper shifts the integers themselves, and I0 = 1/scale
//   is rounded to one: with 8 bits that costs up to 10 % of a result.
// - The paper divides by I0. It is known before, so that a multiplication and a shift give the same quotient: exactly,
//   for every power there is. What remains are one division for each row of a softmax, one for each element of GELU,
//   and three for each row of a normalization.
// - Results are rounded to nearest, where the paper cuts them off: a sum of 49 probabilities would lose up to 49 / 128.
// - GELU's sigmoid is taken relative to the greater of its argument and 0, not to the largest of a row: one exponential
//   of two is one then, and no row needs to be seen first.
// - Newton's method starts on a straight line, so that 2 steps do where the paper has 10 from a power of two.
// - Gamma and beta of a normalization are left out: the linear layer behind it takes them into its weights and bias.
//
// Errors, against real arithmetic on the same inputs (tests/unit/kernels/integer_only_test.cpp holds them):
// - 2^-f as 1 - f / 2 is too large by 0 to 6.15 %, log2(e) too small by 0.36 %, the slope 1.6875 of GELU by 0.85 %;
// - a probability: 3 / 128 for scales up to 0.1, of which half a step is rounding;
// - GELU: 0.032 and 0.6 steps for scales up to 0.1, of which 0.0219 is x * sigmoid(1.6875 x) itself;
// - a normalized value: 0.55 steps, and a part in 6000 of it (more where the variance is below 0.01).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/check.h"

namespace swinscope {

inline constexpr int kExponentPlaces = 6;             // binary places that inputs of an exponential get
inline constexpr int kOneBits = 16;                   // the exponential of 0 is above 2^15 and at most 2^16
inline constexpr int kProbabilityBits = 7;            // 128 stands for 1
inline constexpr int kMostSoftmaxKeys = 64;           // in a row: their exponentials add up to 2^22 at most
inline constexpr int kSigmoidBits = 12;               // 4096 stands for 1
inline constexpr int kMostNormalizedChannels = 1024;  // in a row, a multiple of 16

// A positive number as factor / 2^shift, with a factor from 2^(bits - 1) to 2^bits.
struct DyadicNumber {
  int factor = 0;
  int shift = 0;

  static DyadicNumber of(float value, int bits) {
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);
    return {static_cast<int>(std::lround(std::ldexp(fraction, bits))), bits - exponent};
  }
};

// x log2(e) and 1.702 x, for x of at least 0.
constexpr int times_log2_e(int x) { return x + (x >> 1) - (x >> 4); }
constexpr int times_gelu_slope(int x) { return x + (x >> 1) + (x >> 3) + (x >> 4); }

// Powers of e of inputs that have this scale.
struct IntegerExponential {
  std::uint32_t unit = 0;        // the paper's I0 with 6 places: so much of a power of two is 1. From 64 to 2^15
  std::uint32_t reciprocal = 0;  // 2^reciprocal_shift / unit, rounded up: at most 2^16
  int reciprocal_shift = 0;      // from 21 to 30
  int lift = 0;                  // brings 2 * unit to its 16 bits

  static IntegerExponential of(float scale) {
    require(scale >= 1.0F / 512.0F && scale <= 1.0F, "integer exponential", "the scale must be from 1/512 to 1");
    const auto unit = static_cast<std::uint32_t>(std::lround(std::ldexp(1.0F, kExponentPlaces) / scale));
    const auto bits = static_cast<int>(std::bit_width(unit - 1));
    const int shift = 15 + bits;
    return {unit, ((1U << shift) + unit - 1) / unit, shift, kOneBits - 1 - bits};
  }

  constexpr std::uint32_t one() const { return 2 * unit << lift; }
};

// e^(-scale * distance / 64) as a part of one(), for distances up to 255 * 64.
//
// A power of two is at most 1.4375 * 16320 = 23460, below 2^15 (GELU's: 1.4375 * 1.6875 * 8192 = 19872). Times the
// reciprocal it is below 2^31, and the quotient exact: the reciprocal is too large by less than unit / 2^shift of a
// unit, which counts power * unit < 2^shift times. The paper's I0 - r / 2 is taken twice, so that no bit is cut off: at
// most 2^16 when lifted. Powers from 2^-17 on are 0.
constexpr std::uint32_t shift_exponential(const IntegerExponential& exponential, int distance) {
  const auto power = static_cast<std::uint32_t>(times_log2_e(distance));
  const std::uint32_t whole = power * exponential.reciprocal >> exponential.reciprocal_shift;
  const std::uint32_t rest = power - whole * exponential.unit;
  return (2 * exponential.unit - rest) << exponential.lift >> std::min(whole, 31U);
}

// Of a softmax: `below` is the row's largest input minus this one, from 0 to 255.
constexpr std::uint32_t softmax_exponential(const IntegerExponential& exponential, int below) {
  return shift_exponential(exponential, below * (1 << kExponentPlaces));
}

// The division of a row. The sum is above 2^15, since the largest input's exponential is, and at most 2^22.
constexpr std::uint32_t softmax_reciprocal(std::uint32_t sum) { return (1U << 31) / sum; }

// 0 to 128. The product is at most 2^31, since an exponential is a part of the sum, and with the half below 2^32.
constexpr int softmax_probability(std::uint32_t exponential, std::uint32_t reciprocal) {
  constexpr int kShift = 31 - kProbabilityBits;
  return static_cast<int>((exponential * reciprocal + (1U << (kShift - 1))) >> kShift);
}

// sigmoid(1.702 scale x), 0 to 4096. The numerator is at most 2^28, the sum at most 2^17.
constexpr int integer_sigmoid(const IntegerExponential& exponential, int x) {
  const std::uint32_t one = exponential.one();
  const int distance = times_gelu_slope((x < 0 ? -x : x) * (1 << kExponentPlaces));
  const std::uint32_t smaller = shift_exponential(exponential, distance);
  return static_cast<int>(((x < 0 ? smaller : one) << kSigmoidBits) / (one + smaller));
}

struct IntegerGelu {
  IntegerExponential exponential;
  int factor = 0;  // from 2^10 to 2^11
  int shift = 0;   // from 14 to 30

  static IntegerGelu of(float scale, float result_scale) {
    const float ratio = scale / result_scale;
    require(ratio >= 1.0F / 256.0F && ratio <= 256.0F, "integer GELU", "scales must be within 256 of each other");
    const DyadicNumber gain = DyadicNumber::of(ratio, 11);
    return {IntegerExponential::of(scale), gain.factor, gain.shift + kSigmoidBits};
  }
};

// To be cut off at what 8 bits hold. At most 2^7 * 2^12 * 2^11 = 2^30, and half of 2^shift at most 2^29.
constexpr int integer_gelu(const IntegerGelu& gelu, int x) {
  return (x * integer_sigmoid(gelu.exponential, x) * gelu.factor + (1 << (gelu.shift - 1))) >> gelu.shift;
}

// The square root of a value from 2^28 to below 2^30: rounded down, or that and 1.
//
// The line is the tangent at 21845^2 and too large by at most 8.4 %; a step makes 0.33 % of it, and the next one less
// than 1. A step never ends below the root rounded down.
constexpr std::uint32_t newton_root(std::uint32_t value) {
  std::uint32_t root = (value >> 16) + (value >> 17) + 10922;
  root = (root + value / root) >> 1;
  return (root + value / root) >> 1;
}

struct IntegerNorm {
  std::uint32_t epsilon = 0;  // in squares of an input's step, with 16 places: from 1 to 2^22
  int gain = 0;               // 1 / result_scale, from 2^14 to 2^15,
  int gain_shift = 0;         // with so many places, from 4 to 14

  static IntegerNorm of(double epsilon, float scale, float result_scale) {
    require(result_scale >= 1.0F / 1024.0F && result_scale <= 1.0F, "integer normalization",
            "the result's scale must be from 1/1024 to 1");
    const double squares = epsilon / (static_cast<double>(scale) * static_cast<double>(scale));
    require(squares >= 0.0 && squares <= 64.0, "integer normalization", "epsilon must be at most 64 scale^2");
    const DyadicNumber gain = DyadicNumber::of(1.0F / result_scale, 15);
    return {std::max(1U, static_cast<std::uint32_t>(std::lround(std::ldexp(squares, 16)))), gain.factor, gain.shift};
  }
};

// The variance of a row, in squares of an input's step, with 16 places: below 2^30, too small by less than 1 or too
// large by less than 1.2. sum: of the inputs, `squares`: of their squares, at most 2^24.
//
// With the mean m rounded to an integer and t = sum - channels * m, at most channels / 2 in magnitude, the squares of
// the distances from m are squares - m (sum + t), and t^2 / channels of them come from rounding the mean. They are at
// most 2^24, a variance of 8 bits at most 127.5^2 < 2^14. So whole steps and the remainder get their places apart.
constexpr std::uint32_t row_variance(int channels, int sum, int squares, int mean) {
  const int rest = sum - channels * mean;
  const auto count = static_cast<std::uint32_t>(channels);
  const auto distances = static_cast<std::uint32_t>(squares - mean * (sum + rest));
  const auto rounding = static_cast<std::uint32_t>(rest * rest);  // at most 2^18
  return (distances / count << 16) + (distances % count << 16) / count - (((rounding << 12) / count) << 4) / count;
}

// What a row's inputs become: (x * factor + offset) >> shift, to be cut off at what 8 bits hold.
struct IntegerRow {
  int factor = 0;  // at most 2^22
  int offset = 0;
  int shift = 0;  // from 3 to 27

  constexpr int normalized(int x) const { return (x * factor + offset) >> shift; }
};

// The variance goes to 29 or 30 bits, its root has 15, and 2^29 divided by that 15 or 16 (only 2^15 itself has 16):
// times the gain at most 2^30, of which 22 bits are kept. mean * factor is at most 2^29, and so are x * factor and half
// of `rest` times the factor by half the channels; x and the mean are less than 255 apart, so that the sum is below
// 2^30 and half of 2^shift.
constexpr IntegerRow integer_row(const IntegerNorm& norm, int channels, int sum, int squares) {
  // To nearest: 128 more make it a division of what is not negative.
  const auto count = static_cast<std::uint32_t>(channels);
  const auto raised = static_cast<std::uint32_t>(sum + 128 * channels);
  const int mean = static_cast<int>((raised + count / 2) / count) - 128;
  const std::uint32_t variance = row_variance(channels, sum, squares, mean) + norm.epsilon;
  const int pairs = (std::countl_zero(variance) - 2) / 2;
  const auto inverse = static_cast<int>((1U << 29) / newton_root(variance << 2 * pairs));
  const int factor = (inverse * norm.gain + (1 << 7)) >> 8;
  const int shift = 13 + norm.gain_shift - pairs;
  const int rest = sum - channels * mean;
  const int centre = mean * factor + (factor / 2 * rest) / (channels / 2);
  return {factor, (1 << (shift - 1)) - centre, shift};
}

}  // namespace swinscope
