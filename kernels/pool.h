// Global average pooling before the classifier, [batch, tokens, channels] to [batch, channels], and its gradient, on
// the CPU and on the device.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Global average pool: y[b, c] = sum over tokens of x[b, token, c] / tokens.
struct PoolShape {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::int64_t channels = 0;
};

OperationCost pool_forward_cost(const PoolShape& shape, std::int64_t element_bytes);
OperationCost pool_backward_cost(const PoolShape& shape, std::int64_t element_bytes);

namespace cpu {

template <typename T>
void pool_forward(const PoolShape& shape, const T* x, T* y);

// dx[b, token, c] = dy[b, c] / tokens, overwritten.
template <typename T>
void pool_backward(const PoolShape& shape, const T* dy, T* dx);

}  // namespace cpu
namespace cuda {

void pool_forward(const PoolShape& shape, ElementType type, const void* x, void* y, Stream stream);

// channels must be a multiple of 8.
void pool_backward(const PoolShape& shape, ElementType type, const void* dy, void* dx, Stream stream);

}  // namespace cuda

}  // namespace swinscope
