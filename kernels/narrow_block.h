// Parts of Swin's blocks with 128 channels that keep between their operations what else goes through memory, as one
// kernel each; compute capability 9.0, fp16 and bf16. Tensors are of the shape's type and aligned to 16 bytes.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope::cuda {

constexpr std::int64_t kNarrowChannels = 128;
constexpr std::int64_t kNarrowHidden = 512;
constexpr std::int64_t kNarrowTileRows = 128;  // that a block of threads works on at a time

struct NarrowShape {
  std::int64_t rows = 0;
  ElementType type = ElementType::kFp16;
  bool backwards = false;  // from the last row to the first; narrow_mlp_forward() cannot
};

// Whether the GPU has them.
bool narrow_block_offered(ElementType type, const DeviceInfo& gpu);
// Whether so many rows occupy at least half of the GPU: with fewer of them an operation at a time is faster.
bool narrow_block_pays(std::int64_t rows, const DeviceInfo& gpu);

// The fully connected layers. With GELU's tanh form, as below.
struct NarrowMlpWeights {
  const void* weight1 = nullptr;  // [512, 128]
  const void* bias1 = nullptr;    // [512]
  const void* weight2 = nullptr;  // [128, 512]
  const void* bias2 = nullptr;    // [128]
  const void* gamma = nullptr;    // [128], as beta: of their normalization
  const void* beta = nullptr;
};

// Swin V2's: y = x + LN(GELU(x W1^T + b1) W2^T + b2) gamma + beta. y may be x.
struct NarrowMlpTensors {
  const void* x = nullptr;  // [rows, 128]
  NarrowMlpWeights weights;
  void* y = nullptr;
};
void narrow_mlp_forward(const NarrowShape& shape, const NarrowMlpTensors& tensors, Stream stream);
OperationCost narrow_mlp_cost(const NarrowShape& shape);

// What follows attention in Swin V1: r = residual + attended Wp^T + bp, rounded, and
// y = r + GELU((LN(r) gamma + beta) W1^T + b1) W2^T + b2. y may be the residual.
struct NarrowBlockEndTensors {
  const void* attended = nullptr;           // [rows, 128]
  const void* projection_weight = nullptr;  // [128, 128]
  const void* projection_bias = nullptr;    // [128]
  NarrowMlpWeights weights;
  const void* residual = nullptr;  // [rows, 128]
  void* y = nullptr;
};
void narrow_block_end_forward(const NarrowShape& shape, const NarrowBlockEndTensors& tensors, Stream stream);
OperationCost narrow_block_end_cost(const NarrowShape& shape);

// What precedes attention in Swin V1: y = (LN(x) gamma + beta) W^T + b.
struct NarrowQkvTensors {
  const void* x = nullptr;      // [rows, 128]
  const void* gamma = nullptr;  // [128], as beta
  const void* beta = nullptr;
  const void* weight = nullptr;  // [384, 128]
  const void* bias = nullptr;    // [384], or null
  void* y = nullptr;             // [rows, 384]
};
void narrow_qkv_forward(const NarrowShape& shape, const NarrowQkvTensors& tensors, Stream stream);
OperationCost narrow_qkv_cost(const NarrowShape& shape);

}  // namespace swinscope::cuda
