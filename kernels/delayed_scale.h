// Training with operands of 8 bits: a tensor's scale follows from the largest magnitudes of the steps before (delayed
// scaling), so that the kernel that makes a tensor rounds it as it goes, and only notes how large this one is. Weights
// are rounded once a step.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/byte_format.h"
#include "kernels/device.h"

namespace swinscope {

inline constexpr int kScaleHistory = 16;
// Beyond that a tensor is as good as zero.
inline constexpr float kLeastDelayedScale = 0x1p-60F;
// What e4m3 numbers leave free for magnitudes that grow from step to step: one of their 18 powers of two.
inline constexpr float kFloatMargin = 2.0F;

// Of one tensor, in the device's memory.
struct DelayedScale {
  float scale = 1.0F;                 // of this step: what numbers are divided by before they are rounded
  std::uint32_t largest = 0;          // the bits of the largest magnitude of this step so far; NaN does not count
  float history[kScaleHistory] = {};  // of the steps before, the last one first; 0: there was none

  friend bool operator==(const DelayedScale&, const DelayedScale&) = default;
};

// The first scales, before anything was seen: normalized activations reach about 28 (int8: 8), gradients of a scaled
// loss about 7.
inline constexpr float kFirstInputScale = 1.0F / 16.0F;
inline constexpr float kFirstGradientScale = 1.0F / 64.0F;

// To the next step. One with an infinity is not counted: its update is skipped. Zeros say nothing.
constexpr void advance(DelayedScale& of, ByteFormat format) {
  constexpr std::uint32_t kInfinity = 0x7f800000;
  const std::uint32_t largest = of.largest;
  of.largest = 0;
  if (largest == 0 || largest >= kInfinity) return;
  auto most = std::bit_cast<float>(largest);
  for (int i = kScaleHistory - 1; i > 0; --i) {
    of.history[i] = of.history[i - 1];
    most = most < of.history[i] ? of.history[i] : most;
  }
  of.history[0] = std::bit_cast<float>(largest);
  if (format == ByteFormat::kE4m3) most *= kFloatMargin;
  const float scale = most / largest_number(format);
  of.scale = scale > kLeastDelayedScale ? scale : kLeastDelayedScale;
}

namespace cuda {

// Where a kernel leaves what it makes in 8 bits, too: rounded to the tensor's own type first. Nowhere where `bytes` is
// null.
struct ByteCopy {
  void* bytes = nullptr;
  DelayedScale* scale = nullptr;
  ByteFormat format = ByteFormat::kNone;
};

void advance_scales(std::int64_t count, ByteFormat format, DelayedScale* scales, Stream stream);

// By a kernel of its own. type: kFp16 or kBf16; count is a multiple of 8.
void copy_to_bytes(std::int64_t count, ElementType type, const void* x, const ByteCopy& copy, Stream stream);

// A weight [outputs, inputs] in fp16, what it is multiplied with, and where it goes in 8 bits: each output's row with a
// scale of its own, as quantize_weight() has it; where there is a gradient, in e4m3 and transposed with one scale, too.
struct ByteWeight {
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;  // a multiple of 16; both of 64 where it is transposed
  const void* weight = nullptr;
  const DelayedScale* input_scale = nullptr;
  void* bytes = nullptr;     // [outputs, inputs]
  float* factors = nullptr;  // [outputs], of the sums
  const DelayedScale* gradient_scale = nullptr;
  void* transposed = nullptr;           // [inputs, outputs]
  float* transposed_factors = nullptr;  // [inputs]
};

// All weights of a model by two kernels.
class ByteWeights {
 public:
  // Waits for the stream.
  ByteWeights(std::span<const ByteWeight> weights, ByteFormat format, Stream stream);
  // Outlives what it enqueues.
  void run(Stream stream) const;

 private:
  ByteFormat format_;
  std::int64_t weights_ = 0;
  std::int64_t row_blocks_ = 0;
  std::int64_t tiles_ = 0;
  DeviceBuffer table_;
};

}  // namespace cuda
}  // namespace swinscope
