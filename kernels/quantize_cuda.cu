// Rounding to 8 bits of tensors of 16-bit numbers (a vector of eight a thread) and of weights, a block for each
// output's row; and counts of magnitudes, each block's own in shared memory first.
#include "kernels/byte_format.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/quantize.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRowThreads = 128;

template <typename T>
__global__ void quantize_kernel(std::int64_t vectors, const T* x, ByteFormat format, float inverse, uint2* y) {
  let_next_begin();
  wait_for_previous();
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const Vector<T> from = load_vector(x + i * Vector<T>::kLength);
  float values[8];
#pragma unroll
  for (int e = 0; e < 8; ++e)
    values[e] = to_float(from.values[e]);
  y[i] = packed(format, values, inverse);
}

// A block has an output's row.
template <typename T>
__global__ void quantize_weight_kernel(const WeightShape shape, const T* weight, std::uint8_t* y, float* scales) {
  const std::int64_t inputs = shape.inputs;
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
  const float scale = byte_scale(shape.format, largest);
  for (std::int64_t i = threadIdx.x; i < inputs; i += kRowThreads) {
    const float value = to_float(row[i]) / scale;
    y[blockIdx.x * inputs + i] = static_cast<std::uint8_t>(shape.format == ByteFormat::kInt8 ? integer_bits(value, 1.0F)
                                                                                             : pack_e4m3(value, 0.0F));
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = scale * shape.input_scale;
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

void quantize(std::int64_t count, ElementType type, const void* x, ByteFormat format, float scale, void* y,
              Stream stream) {
  require(count % 8 == 0 && type != ElementType::kFp32, "quantize", "whole vectors of 16-bit elements are needed");
  require(format != ByteFormat::kNone, "quantize", "a format of 8 bits is needed");
  const std::int64_t vectors = count / 8;
  const LaunchShape shape{dim3(blocks_for(vectors, kThreads)), dim3(kThreads)};
  auto* const to = static_cast<uint2*>(y);
  if (type == ElementType::kFp16) {
    launch_early(quantize_kernel<__half>, shape, stream, vectors, static_cast<const __half*>(x), format, 1.0F / scale,
                 to);
  } else {
    launch_early(quantize_kernel<__nv_bfloat16>, shape, stream, vectors, static_cast<const __nv_bfloat16*>(x), format,
                 1.0F / scale, to);
  }
}

void quantize_weight(const WeightShape& shape, ElementType type, const void* weight, void* y, float* scales,
                     Stream stream) {
  const auto blocks = static_cast<unsigned>(shape.outputs);
  auto* const to = static_cast<std::uint8_t*>(y);
  if (type == ElementType::kFp16) {
    quantize_weight_kernel<<<blocks, kRowThreads, 0, stream>>>(shape, static_cast<const __half*>(weight), to, scales);
  } else {
    require(type == ElementType::kBf16, "quantize_weight", "16-bit elements are needed");
    quantize_weight_kernel<<<blocks, kRowThreads, 0, stream>>>(shape, static_cast<const __nv_bfloat16*>(weight), to,
                                                               scales);
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
