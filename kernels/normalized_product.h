// Layer normalization between two products, without a kernel of its own. With gamma in the second one's weights, mean
// and standard deviation of a row come in at the end:
//   LN(x) W^T + b = rstd (x W'^T - mean s) + b',  W' = W diag(gamma),  s = sums of the rows of W',  b' = b + W beta.
// s is taken of W' as it is stored, rounded: so the mean of a row cancels to the last digit of fp32, and W' is rounded
// once, where LN(x) and W would be rounded each.
// The first product leaves the moments of its rows, as they are stored: of each 32 columns mean and sum of squared
// differences from it. The second one joins them (Chan, Golub and LeVeque 1983): so neither a mean far from zero nor a
// single large value costs digits of the variance.
#pragma once

#include <cstdint>

#include "kernels/device.h"
#include "kernels/layernorm.h"

namespace swinscope::cuda {

constexpr double kFoldedEpsilon = LayerNormShape{}.epsilon;
constexpr std::int64_t kMomentColumns = 32;
constexpr std::int64_t kMostNormalizedColumns = 1536;  // of a row: a multiple of kMomentColumns
// Of [rows, columns]: [rows, columns / kMomentColumns] pairs of floats.
constexpr std::int64_t row_moment_bytes(std::int64_t rows, std::int64_t columns) {
  return rows * (columns / kMomentColumns) * 2 * 4;
}

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
