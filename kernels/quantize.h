// Rounding to 8 bits (byte_format.h) with a scale: what a tensor's numbers stand for is their value times it.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/byte_format.h"
#include "kernels/device.h"

namespace swinscope {

// A histogram of magnitudes: each of fp16's exponents in 64 parts. The last exponent's are infinities and NaN.
inline constexpr int kMagnitudeBins = 2048;
inline constexpr int kFirstInfiniteBin = kMagnitudeBins / 32 * 31;
using MagnitudeCounts = std::array<std::uint32_t, kMagnitudeBins>;
// A weight [outputs, inputs], and the scale of what it is multiplied with.
struct WeightShape {
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
  float input_scale = 1.0F;
  ByteFormat format = ByteFormat::kE4m3;
};

namespace cuda {

// y = x / scale in 8 bits. type: kFp16 or kBf16; tensors are aligned to 16 bytes, and so is count.
void quantize(std::int64_t count, ElementType type, const void* x, ByteFormat format, float scale, void* y,
              Stream stream);

// Each output's row with a scale of its own, by its largest magnitude; scales[output]: that times the input's.
void quantize_weight(const WeightShape& shape, ElementType type, const void* weight, void* y, float* scales,
                     Stream stream);

// counts[bin] += how many of x have such a magnitude; x in fp16. counts: [kMagnitudeBins].
void count_magnitudes(std::int64_t count, const void* x, std::uint32_t* counts, Stream stream);

}  // namespace cuda

}  // namespace swinscope
