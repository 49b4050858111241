#pragma once

#include <cstdint>

#include "kernels/cost.h"

namespace swinscope {

// Layer normalization over the last dimension (Ba, Kiros, Hinton 2016, arXiv:1607.06450), as
// torch.nn.LayerNorm:
//   mean = sum(x) / C,  rstd = 1 / sqrt(sum((x - mean)^2) / C + epsilon),  y = (x - mean) * rstd * gamma +
//   beta.
struct LayerNormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  double epsilon = 1e-5;
};

OperationCost layernorm_forward_cost(const LayerNormShape& shape, std::int64_t element_bytes);
OperationCost layernorm_backward_cost(const LayerNormShape& shape, std::int64_t element_bytes);

namespace cpu {

// x, y: [rows, channels]; gamma, beta: [channels]; mean, rstd: [rows], saved for the backward pass.
// The variance is taken in a second pass over the row, so that rows with |mean| >> sigma keep their digits. y
// may be x.
template <typename T>
void layernorm_forward(const LayerNormShape& shape, const T* x, const T* gamma, const T* beta, T* y, T* mean, T* rstd);

// With xhat = (x - mean) * rstd and g = dy * gamma, sums over the channels of a row:
//   dx = rstd * (g - sum(g) / C - xhat * sum(g * xhat) / C)   (overwritten; may be dy),
//   dgamma += sum over rows of dy * xhat,  dbeta += sum over rows of dy   (added up in double).
template <typename T>
void layernorm_backward(const LayerNormShape& shape, const T* x, const T* gamma, const T* mean, const T* rstd,
                        const T* dy, T* dx, T* dgamma, T* dbeta);

}  // namespace cpu
}  // namespace swinscope
