#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Gaussian error linear unit (Hendrycks, Gimpel 2016, arXiv:1606.08415), the exact form, not the tanh
// approximation:
//   y = x * Phi(x),  Phi(x) = erfc(-x / sqrt(2)) / 2,   dy/dx = Phi(x) + x * exp(-x^2 / 2) / sqrt(2 pi).
OperationCost gelu_forward_cost(std::int64_t count, std::int64_t element_bytes);
OperationCost gelu_backward_cost(std::int64_t count, std::int64_t element_bytes);

namespace cpu {

// y may be x (but the backward pass needs x).
template <typename T>
void gelu_forward(std::int64_t count, const T* x, T* y);

// dx is overwritten; it may be dy.
template <typename T>
void gelu_backward(std::int64_t count, const T* x, const T* dy, T* dx);

}  // namespace cpu
namespace cuda {

// The exact form. y may be x. `count` must be a multiple of 8.
void gelu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream);

}  // namespace cuda

}  // namespace swinscope
