// Building blocks of kernels: conversions between an element type and fp32, 16-byte vectors, and reductions over part
// of a warp or a block.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/device.h"

namespace swinscope::cuda {

constexpr int kWarp = 32;

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(__half x) { return __half2float(x); }
__device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
__device__ T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

// Elements that are loaded and stored together, 16 bytes.
template <typename T>
struct alignas(16) Vector {
  static constexpr int kLength = 16 / sizeof(T);
  T values[kLength];
};

template <typename T>
__device__ Vector<T> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T>*>(from);
}
template <typename T>
__device__ void store_vector(T* to, const Vector<T>& vector) {
  *reinterpret_cast<Vector<T>*>(to) = vector;
}

// The sum over groups of `lanes` neighbouring lanes, a power of two; every lane gets it.
__device__ inline float sum_over(float value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}
__device__ inline float max_over(float value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

// The sum over a block of kThreads; every thread gets it.
template <int kThreads, typename Value>
__device__ Value block_sum(Value value) {
  __shared__ Value partial[kThreads / kWarp];
  for (int step = kWarp / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffffU, value, step);
  __syncthreads();  // nobody reads the sum before
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  Value total = 0;
  for (const Value part : partial)
    total += part;
  return total;
}

// Calls body.template operator()<T>() with the C++ type of `type`.
template <typename Body>
void with_element_type(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::kFp32:
      return body.template operator()<float>();
    case ElementType::kFp16:
      return body.template operator()<__half>();
    case ElementType::kBf16:
      return body.template operator()<__nv_bfloat16>();
  }
}

inline unsigned blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace swinscope::cuda
