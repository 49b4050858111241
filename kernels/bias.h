// Adding a bias to each row of a matrix, and its gradient, the column sums, on the CPU and on the device. The gradient
// can scale the rows by sample on the way (stochastic depth).
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/delayed_scale.h"
#include "kernels/device.h"

namespace swinscope {

// y[rows, columns] = x[rows, columns] + bias[columns], and its adjoint, the column sums.
struct BiasShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

OperationCost bias_forward_cost(const BiasShape& shape, std::int64_t element_bytes);
OperationCost bias_backward_cost(const BiasShape& shape, std::int64_t element_bytes);

namespace cpu {

// y may be x.
template <typename T>
void bias_forward(const BiasShape& shape, const T* x, const T* bias, T* y);

// dbias += sum over rows of dy, added up in double. (dx is dy.)
template <typename T>
void bias_backward(const BiasShape& shape, const T* dy, T* dbias);

}  // namespace cpu
namespace cuda {

// y may be x. `columns` must be a multiple of 8.
void bias_forward(const BiasShape& shape, ElementType type, const void* x, const void* bias, void* y, Stream stream);

struct BiasGradientTensors {
  const void* dy = nullptr;
  // Stochastic depth: row r of dy counts sample_scale[r / rows_per_sample] times; null: once.
  const float* sample_scale = nullptr;
  std::int64_t rows_per_sample = 0;
  void* dx = nullptr;  // scale * dy, where wanted: the gradient of a residual connection's branch. May be dy
  float* dbias = nullptr;
  bool accumulate = false;  // dbias is added to, else overwritten
  void* workspace = nullptr;
  ByteCopy copy = {};  // of dx; of 16-bit types
};

std::int64_t bias_backward_workspace_bytes(const BiasShape& shape);

// Column sums of (scaled) dy in two stages in fixed order: the same input gives the same bits. `columns` must be a
// multiple of 8.
void bias_backward(const BiasShape& shape, ElementType type, const BiasGradientTensors& tensors, Stream stream);

}  // namespace cuda

}  // namespace swinscope
