// The fully connected layers of a block with 128 channels, as they end Swin's blocks, in one kernel that keeps their
// hidden activations to itself; compute capability 9.0, fp16 and bf16.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda {

constexpr std::int64_t kNarrowMlpChannels = 128;
constexpr std::int64_t kNarrowMlpHidden = 512;

struct NarrowMlpShape {
  std::int64_t rows = 0;
  ElementType type = ElementType::kFp16;
  bool normalize_result = false;  // Swin V2
};

// y = residual + f, f = GELU(x W1^T + b1) W2^T + b2 with GELU's tanh form, or LN(f) gamma + beta. All in the shape's
// type and aligned to 16 bytes; x and residual may be y.
struct NarrowMlpTensors {
  const void* x = nullptr;        // [rows, 128]
  const void* weight1 = nullptr;  // [512, 128]
  const void* bias1 = nullptr;    // [512]
  const void* weight2 = nullptr;  // [128, 512]
  const void* bias2 = nullptr;    // [128]
  const void* gamma = nullptr;    // [128], as beta, where the result is normalized
  const void* beta = nullptr;
  const void* residual = nullptr;  // [rows, 128]
  void* y = nullptr;
};

// Whether this GPU and this build have it.
bool narrow_mlp_offered(ElementType type);
// Whether so many rows occupy at least half of this GPU: with fewer of them two products are faster.
bool narrow_mlp_pays(std::int64_t rows);
void narrow_mlp_forward(const NarrowMlpShape& shape, const NarrowMlpTensors& tensors, Stream stream);

}  // namespace swinscope::cuda
