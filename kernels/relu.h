// ReLU and its gradient, element by element, on the CPU and on the device.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// y = max(x, 0); NaN stays NaN.
OperationCost relu_forward_cost(std::int64_t count, std::int64_t element_bytes);
OperationCost relu_backward_cost(std::int64_t count, std::int64_t element_bytes);

namespace cpu {

// y may be x.
template <typename T>
void relu_forward(std::int64_t count, const T* x, T* y);

// dx = dy where the forward pass's output y is above 0, else 0 (also at 0, as torch). dx may be dy.
template <typename T>
void relu_backward(std::int64_t count, const T* y, const T* dy, T* dx);

}  // namespace cpu
namespace cuda {

// As the CPU's. Where a normalization comes before, its own kernel does it: batchnorm.h.
void relu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream);
void relu_backward(std::int64_t count, ElementType type, const void* y, const void* dy, void* dx, Stream stream);

}  // namespace cuda
}  // namespace swinscope
