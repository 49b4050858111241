// Softmax, GELU and layer normalization from 8-bit integers to 8-bit integers, with integer-only arithmetic
// (integer_only.h) or floating-point arithmetic in between. No model uses them: `swin peaks --alternatives` measures
// whether integers pay.
#pragma once

#include <cstdint>

#include "kernels/device.h"
#include "kernels/layernorm.h"

namespace swinscope::cuda {

enum class ByteArithmetic : std::uint8_t { kFloat, kInteger };

// Rows of attention scores. `keys` of them count, the rest of a row is padding, whose probabilities are 0.
struct ByteSoftmaxShape {
  std::int64_t rows = 0;
  int keys = 0;  // 1 to kByteSoftmaxRow
};
inline constexpr int kByteSoftmaxRow = 64;  // bytes from one row to the next

// What one of the integers stands for; integer_only.h has the ranges.
struct ByteScales {
  float x = 1.0F;
  float y = 1.0F;
};

// Results are rounded to nearest, and cut off at -128 and 127. Memory is aligned to 16 bytes; y may be x.

// y: probabilities times 128.
void byte_softmax(ByteArithmetic arithmetic, const ByteSoftmaxShape& shape, const void* x, float scale, void* y,
                  Stream stream);

// In floating point the tanh form, in integers x * sigmoid(1.702 x). `count` must be a multiple of 16.
void byte_gelu(ByteArithmetic arithmetic, std::int64_t count, const void* x, const ByteScales& scales, void* y,
               Stream stream);

// Without gamma and beta: the linear layer behind takes them into its weights and bias. 128, 256, 512 or 1024 channels.
void byte_layernorm(ByteArithmetic arithmetic, const LayerNormShape& shape, const void* x, const ByteScales& scales,
                    void* y, Stream stream);

}  // namespace swinscope::cuda
