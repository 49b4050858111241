// ReLU and its gradient, a 16-byte piece a thread where the count allows it. Bound by memory.
#include "kernels/channel_piece.cuh"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/relu.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;

template <typename T, int kLength>
__global__ void relu_kernel(std::int64_t pieces, const T* x, T* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= pieces) return;
  auto values = load_channels<kLength>(x + i * kLength);
#pragma unroll
  for (float& value : values.values)
    value = value < 0.0F ? 0.0F : value;
  store_channels<kLength>(y + i * kLength, values);
}

template <typename T, int kLength>
__global__ void relu_backward_kernel(std::int64_t pieces, const T* y, const T* dy, T* dx) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= pieces) return;
  const auto output = load_channels<kLength>(y + i * kLength);
  auto gradient = load_channels<kLength>(dy + i * kLength);
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    if (output.values[e] <= 0.0F) gradient.values[e] = 0.0F;
  }
  store_channels<kLength>(dx + i * kLength, gradient);
}

}  // namespace

void relu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream) {
  if (count == 0) return;
  with_channel_pieces(type, {count}, [&]<typename T, int kLength>() {
    const std::int64_t pieces = count / kLength;
    relu_kernel<T, kLength>
        <<<blocks_for(pieces, kThreads), kThreads, 0, stream>>>(pieces, static_cast<const T*>(x), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("relu_kernel");
}

void relu_backward(std::int64_t count, ElementType type, const void* y, const void* dy, void* dx, Stream stream) {
  if (count == 0) return;
  with_channel_pieces(type, {count}, [&]<typename T, int kLength>() {
    const std::int64_t pieces = count / kLength;
    relu_backward_kernel<T, kLength><<<blocks_for(pieces, kThreads), kThreads, 0, stream>>>(
        pieces, static_cast<const T*>(y), static_cast<const T*>(dy), static_cast<T*>(dx));
  });
  SWINSCOPE_CUDA_LAUNCHED("relu_backward_kernel");
}

}  // namespace swinscope::cuda
