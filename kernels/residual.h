// Residual sums with stochastic depth by sample, their gradient, and the accumulation of gradients into fp32, on the
// CPU and on the device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// y = x + scale[sample] * branch: the residual connection with stochastic depth per sample (Huang et al.
// 2016, arXiv:1603.09382). For drop probability p the caller draws scale[sample] = 0 with probability p, else
// 1 / (1 - p). Without a scale it is the plain sum.
struct ResidualShape {
  std::int64_t batch = 0;
  std::int64_t sample_elements = 0;  // tokens * channels of one sample
};

OperationCost residual_forward_cost(const ResidualShape& shape, bool scaled, std::int64_t element_bytes);
// One gradient tensor through the branch scale; without a scale dbranch is dy itself and nothing is to be
// done.
OperationCost residual_backward_cost(const ResidualShape& shape, bool scaled, std::int64_t element_bytes);

namespace cpu {

// x, branch, y: [batch, sample_elements]; scale: [batch] or null. y may be x or branch.
template <typename T>
void residual_forward(const ResidualShape& shape, const T* x, const T* branch, const std::type_identity_t<T>* scale,
                      T* y);

// dbranch = scale * dy (overwritten; may be dy). The gradient of x is dy.
template <typename T>
void residual_backward(const ResidualShape& shape, const std::type_identity_t<T>* scale, const T* dy, T* dbranch);

// y += x: where gradients of two paths meet.
template <typename T>
void add_into(std::int64_t count, const T* x, T* y);

}  // namespace cpu

OperationCost add_into_cost(std::int64_t count, std::int64_t element_bytes);

namespace cuda {

// y = x + branch; y may be x or branch. The element count must be a multiple of 8.
void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch, void* y,
                      Stream stream);

// y = x + scale[sample] * branch. sample_elements must be a multiple of 8. The gradient of the branch is
// bias_backward()'s dx, or, without a bias, residual_backward()'s.
void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch,
                      const float* scale, void* y, Stream stream);

// dbranch = scale[sample] * dy; may be dy.
void residual_backward(const ResidualShape& shape, ElementType type, const float* scale, const void* dy, void* dbranch,
                       Stream stream);

// y += x, y in fp32: gradients of several batches. count must be a multiple of 8.
void add_into(std::int64_t count, ElementType type, const void* x, float* y, Stream stream);

}  // namespace cuda

}  // namespace swinscope
