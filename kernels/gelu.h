// GELU, exact, and its gradient on the CPU and on the device. The device's backward pass also sums the bias gradient
// of the layer before. The tanh form exists only as an epilogue of GEMMs.
#pragma once

#include <cstdint>

#include "kernels/bias.h"
#include "kernels/cost.h"
#include "kernels/delayed_scale.h"
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

// The exact form. y may be x. `count` must be a multiple of 8. backwards: from the last elements to the first. copy: of
// 16-bit types.
void gelu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream, bool backwards = false,
                  const ByteCopy& copy = {});

struct GeluGradientTensors {
  const void* x = nullptr;  // before the activation, with its bias
  const void* dy = nullptr;
  void* dx = nullptr;         // may be dy, or x
  void* y = nullptr;          // gelu(x) once more, where wanted: for a forward pass that did not keep it. May be x
  float* dbias = nullptr;     // column sums of dx, or null
  bool accumulate = false;    // dbias is added to, else overwritten
  void* workspace = nullptr;  // gelu_backward_workspace_bytes(), where there is a dbias
  bool backwards = false;     // from the last rows to the first: the same bits
  ByteCopy copy = {};         // of dx; of 16-bit types
};

std::int64_t gelu_backward_workspace_bytes(const BiasShape& shape);

// The exact form, and with it the gradient of the bias before it: one pass over x and dy. Sums as in bias_backward().
void gelu_backward(const BiasShape& shape, ElementType type, const GeluGradientTensors& tensors, Stream stream);

}  // namespace cuda

}  // namespace swinscope
