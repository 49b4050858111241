// Layer normalization within the product that follows it. With gamma in the weights, mean and standard deviation of a
// row come in at the end:
//   LN(x) W^T + b = rstd (x W'^T - mean s) + b',  W' = W diag(gamma),  s = sums of the rows of W',  b' = b + W beta.
// s is taken of W' as it is stored, rounded: so the mean of a row cancels to the last digit of fp32, and W' is rounded
// once, where LN(x) and W would be rounded each.
#pragma once

#include <cstdint>

#include "kernels/device.h"
#include "kernels/layernorm.h"

namespace swinscope::cuda {

constexpr double kFoldedEpsilon = LayerNormShape{}.epsilon;

struct FoldedNormTensors {
  const float* weight = nullptr;  // [outputs, inputs]
  const float* bias = nullptr;    // [outputs]; null: none
  const float* gamma = nullptr;   // [inputs]
  const float* beta = nullptr;    // [inputs]
  void* folded = nullptr;         // W' in `type`
  float* corrections = nullptr;   // [2, outputs]: s, then b'
};
void fold_normalization(std::int64_t inputs, std::int64_t outputs, ElementType type, const FoldedNormTensors& tensors,
                        Stream stream);

}  // namespace swinscope::cuda
