// Rounding to e4m3 of tensors of 16-bit numbers (a vector of eight a thread) and of weights, a block for each output's
// row; and counts of magnitudes, each block's own in shared memory first.
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/e4m3.cuh"
#include "kernels/e4m3.h"
#include "kernels/early_launch.cuh"
#include "kernels/quantize.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRowThreads = 128;

template <typename T>
__device__ uint2 rounded(const Vector<T>& v, float inverse) {
  std::uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    pairs[i] = pack_e4m3(to_float(v.values[2 * i]) * inverse, to_float(v.values[2 * i + 1]) * inverse);
  return {pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16};
}

template <typename T>
__global__ void quantize_kernel(std::int64_t vectors, const T* x, float inverse, uint2* y) {
  let_next_begin();
  wait_for_previous();
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < vectors) y[i] = rounded(load_vector(x + i * Vector<T>::kLength), inverse);
}

// A block has an output's row.
template <typename T>
__global__ void quantize_weight_kernel(std::int64_t inputs, const T* weight, float input_scale, std::uint8_t* y,
                                       float* scales) {
  const T* const row = weight + blockIdx.x * inputs;
  float largest = 0.0F;
  for (std::int64_t i = threadIdx.x; i < inputs; i += kRowThreads)
    largest = fmaxf(largest, fabsf(to_float(row[i])));
  __shared__ float parts[kRowThreads / kWarp];
  largest = max_over(largest, kWarp);
  if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = largest;
  __syncthreads();
#pragma unroll
  for (const float part : parts)
    largest = fmaxf(largest, part);
  const float scale = fmaxf(largest / kLargestE4m3, kLeastE4m3Scale);
  for (std::int64_t i = threadIdx.x; i < inputs; i += kRowThreads)
    y[blockIdx.x * inputs + i] = static_cast<std::uint8_t>(pack_e4m3(to_float(row[i]) / scale, 0.0F));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale * input_scale;
}

__global__ void count_magnitudes_kernel(std::int64_t count, const std::uint16_t* x, std::uint32_t* counts) {
  __shared__ std::uint32_t own[kMagnitudeBins];
  for (int bin = static_cast<int>(threadIdx.x); bin < kMagnitudeBins; bin += kThreads)
    own[bin] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step)
    atomicAdd(&own[(x[i] & 0x7fff) >> 4], 1U);
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < kMagnitudeBins; bin += kThreads)
    if (own[bin] != 0) atomicAdd(&counts[bin], own[bin]);
}

}  // namespace

void quantize(std::int64_t count, ElementType type, const void* x, float scale, void* y, Stream stream) {
  require(count % 8 == 0 && type != ElementType::kFp32, "quantize", "whole vectors of 16-bit elements are needed");
  const std::int64_t vectors = count / 8;
  const LaunchShape shape{dim3(blocks_for(vectors, kThreads)), dim3(kThreads)};
  auto* const to = static_cast<uint2*>(y);
  if (type == ElementType::kFp16) {
    launch_early(quantize_kernel<__half>, shape, stream, vectors, static_cast<const __half*>(x), 1.0F / scale, to);
  } else {
    launch_early(quantize_kernel<__nv_bfloat16>, shape, stream, vectors, static_cast<const __nv_bfloat16*>(x),
                 1.0F / scale, to);
  }
}

void quantize_weight(const WeightShape& shape, ElementType type, const void* weight, void* y, float* scales,
                     Stream stream) {
  const auto blocks = static_cast<unsigned>(shape.outputs);
  auto* const to = static_cast<std::uint8_t*>(y);
  if (type == ElementType::kFp16) {
    quantize_weight_kernel<<<blocks, kRowThreads, 0, stream>>>(shape.inputs, static_cast<const __half*>(weight),
                                                               shape.input_scale, to, scales);
  } else {
    require(type == ElementType::kBf16, "quantize_weight", "16-bit elements are needed");
    quantize_weight_kernel<<<blocks, kRowThreads, 0, stream>>>(shape.inputs, static_cast<const __nv_bfloat16*>(weight),
                                                               shape.input_scale, to, scales);
  }
  SWINSCOPE_CUDA(cudaGetLastError());
}

void count_magnitudes(std::int64_t count, const void* x, std::uint32_t* counts, Stream stream) {
  const auto blocks =
      std::min<std::int64_t>(blocks_for(count, kThreads), std::int64_t{4} * device_info().multiprocessors);
  count_magnitudes_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      count, static_cast<const std::uint16_t*>(x), counts);
  SWINSCOPE_CUDA(cudaGetLastError());
}

}  // namespace swinscope::cuda
