// Linear layers of many rows that normalize them first, as one kernel: the rows are read once, and nothing normalized
// is written. Compute capability 9.0, fp16 and bf16. (normalized_product.h is for few rows.)
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope::cuda {

constexpr std::int64_t kNormalizedRowsInputs = 256;   // the only number of them that it is made for
constexpr std::int64_t kNormalizedRowsColumns = 128;  // of a tile: outputs are a multiple of it
constexpr std::int64_t kMostNormalizedRowsOutputs = 2048;
constexpr std::int64_t kNormalizedTileRows = 64;

struct NormalizedRowsShape {
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool gelu = false;  // GELU of the result, its tanh form
  ElementType type = ElementType::kFp16;
  bool backwards = false;  // from the last row to the first: the same bits
};

// y = f((LN(x) gamma + beta) W^T + b), f: nothing or GELU. All of the type, aligned to 16 bytes.
struct NormalizedRowsTensors {
  const void* x = nullptr;      // [rows, inputs]
  const void* gamma = nullptr;  // [inputs], as beta
  const void* beta = nullptr;
  const void* weight = nullptr;  // [outputs, inputs]
  const void* bias = nullptr;    // [outputs], or null
  void* y = nullptr;             // [rows, outputs]; not x
};

// Whether the GPU has it: a multiple of 128 outputs, at most 2048. And whether rows occupy at least half of the GPU:
// with fewer of them normalization and product apart are faster.
bool normalized_rows_offered(const NormalizedRowsShape& shape, const DeviceInfo& gpu);
bool normalized_rows_pays(const NormalizedRowsShape& shape, const DeviceInfo& gpu);
void normalized_rows_forward(const NormalizedRowsShape& shape, const NormalizedRowsTensors& tensors, Stream stream);
OperationCost normalized_rows_cost(const NormalizedRowsShape& shape);

}  // namespace swinscope::cuda
