// A thread owns a query; keys and values of the window stand in shared memory in fp32 and are read by all threads at
// once.
#include <cmath>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/window_attention_general.h"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kQueries = 64;  // of a block
constexpr int kKeysAtOnce = 8;

template <typename T>
struct GeneralArguments {
  WindowGeometry geometry;
  int heads;
  bool cosine;
  const T* qkv;
  const float* bias;
  const float* logit_scale;
  const T* pad_qkv;
  T* out;
  float* lse;
};

template <typename T, int kDim>
__device__ const T* head_row(const GeneralArguments<T>& a, int row, int head) {
  const T* const token = row < 0 ? a.pad_qkv : a.qkv + std::int64_t{row} * 3 * a.heads * kDim;
  return token + head * kDim;
}

template <int kDim>
__device__ float inverse_norm(const float* vector) {
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < kDim; ++c)
    sum += vector[c] * vector[c];
  return 1.0F / fmaxf(sqrtf(sum), 1e-12F);
}

// Four sums, so that none has the rounding of all products before it.
template <int kDim>
__device__ float dot(const float (&a)[kDim], const float* b) {
  float sums[4] = {};
#pragma unroll
  for (int c = 0; c < kDim; ++c)
    sums[c % 4] += a[c] * b[c];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Shared memory: keys and values [tokens, kDim], then the tokens' regions.
template <typename T, int kDim>
__global__ __launch_bounds__(kQueries) void general_kernel(const GeneralArguments<T> a) {
  extern __shared__ float shared[];
  const int tokens = a.geometry.tokens();
  float* const keys = shared;
  float* const values = keys + tokens * kDim;
  int* const regions = reinterpret_cast<int*>(values + tokens * kDim);
  const int window = static_cast<int>(blockIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const int channels = a.heads * kDim;
  for (int slot = static_cast<int>(threadIdx.x); slot < tokens; slot += kQueries) {
    const T* const row = head_row<T, kDim>(a, a.geometry.row(window, slot), head);
    float key[kDim];
#pragma unroll
    for (int c = 0; c < kDim; ++c) {
      key[c] = to_float(row[channels + c]);
      values[slot * kDim + c] = to_float(row[2 * channels + c]);
    }
    const float scale = a.cosine ? inverse_norm<kDim>(key) : 1.0F;
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      keys[slot * kDim + c] = key[c] * scale;
    regions[slot] = a.geometry.region(window, slot);
  }
  __syncthreads();
  const int slot = static_cast<int>(blockIdx.z) * kQueries + static_cast<int>(threadIdx.x);
  if (slot >= tokens) return;
  const int row = a.geometry.row(window, slot);
  if (row < 0) return;
  const T* const source = head_row<T, kDim>(a, row, head);
  float query[kDim];
#pragma unroll
  for (int c = 0; c < kDim; ++c)
    query[c] = to_float(source[c]);
  const float scale =
      a.cosine ? expf(fminf(a.logit_scale[head], static_cast<float>(kMaxLogitScale))) * inverse_norm<kDim>(query)
               : 1.0F / sqrtf(static_cast<float>(kDim));
  const bool masked = a.geometry.masked(window);
  const float* const bias = a.bias + std::int64_t{head} * tokens * tokens + slot;
  float largest = -INFINITY;
  float sum = 0.0F;
  float out[kDim] = {};
  // A few keys are summed up by themselves before they are added to all others: less rounding, and one rescaling.
  for (int first = 0; first < tokens; first += kKeysAtOnce) {
    float scores[kKeysAtOnce];
    float highest = largest;
#pragma unroll
    for (int i = 0; i < kKeysAtOnce; ++i) {
      const int key = min(first + i, tokens - 1);
      scores[i] = dot<kDim>(query, keys + key * kDim) * scale + bias[key * tokens];
      if (masked && regions[key] != regions[slot]) scores[i] += static_cast<float>(kWindowMask);
      if (first + i >= tokens) scores[i] = -INFINITY;
      highest = fmaxf(highest, scores[i]);
    }
    const float shrink = expf(largest - highest);
    largest = highest;
    float part_sum = 0.0F;
    float part[kDim] = {};
#pragma unroll
    for (int i = 0; i < kKeysAtOnce; ++i) {
      const int key = min(first + i, tokens - 1);
      const float p = expf(scores[i] - largest);
      part_sum += p;
#pragma unroll
      for (int c = 0; c < kDim; ++c)
        part[c] += p * values[key * kDim + c];
    }
    sum = sum * shrink + part_sum;
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      out[c] = out[c] * shrink + part[c];
  }
  T* const target = a.out + std::int64_t{row} * channels + head * kDim;
#pragma unroll
  for (int c = 0; c < kDim; ++c)
    target[c] = from_float<T>(out[c] / sum);
  if (a.lse != nullptr) a.lse[std::int64_t{row} * a.heads + head] = largest + logf(sum);
}

__global__ void expand_general_kernel(int heads, int window_height, int window_width, const float* table, float* bias) {
  const int tokens = window_height * window_width;
  const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index >= std::int64_t{heads} * tokens * tokens) return;
  const auto query = static_cast<int>(index % tokens);
  const auto key = static_cast<int>(index / tokens % tokens);
  const auto head = static_cast<int>(index / tokens / tokens);
  bias[index] = table[bias_row(window_height, window_width, query, key) * heads + head];
}

template <typename T, int kDim>
void launch(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionTensors& tensors, Stream stream) {
  const std::int64_t tokens = shape.grid.window_tokens();
  const auto bytes = static_cast<int>(tokens * (2 * kDim + 1) * 4);
  SWINSCOPE_CUDA(cudaFuncSetAttribute(general_kernel<T, kDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const GeneralArguments<T> arguments{WindowGeometry::of(shape.grid, order),
                                      static_cast<int>(shape.heads),
                                      shape.score == AttentionScore::kCosine,
                                      static_cast<const T*>(tensors.qkv),
                                      static_cast<const float*>(tensors.bias),
                                      tensors.logit_scale,
                                      static_cast<const T*>(tensors.pad_qkv),
                                      static_cast<T*>(tensors.out),
                                      tensors.lse};
  const dim3 grid(static_cast<unsigned>(shape.grid.window_count()), static_cast<unsigned>(shape.heads),
                  blocks_for(tokens, kQueries));
  general_kernel<T, kDim><<<grid, kQueries, static_cast<std::size_t>(bytes), stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("general_kernel");
}

}  // namespace

std::int64_t general_bias_bytes(const WindowAttentionShape& shape) {
  return shape.heads * shape.grid.window_tokens() * shape.grid.window_tokens() * 4;
}

void expand_general_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream) {
  constexpr int kThreads = 256;
  expand_general_kernel<<<blocks_for(general_bias_bytes(shape) / 4, kThreads), kThreads, 0, stream>>>(
      static_cast<int>(shape.heads), static_cast<int>(shape.grid.window.height),
      static_cast<int>(shape.grid.window.width), table, bias);
  SWINSCOPE_CUDA_LAUNCHED("expand_general_kernel");
}

void general_attention(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                       const WindowAttentionTensors& tensors, Stream stream) {
  require(shape.head_dim == 16 || shape.head_dim == 32, "window_attention", "heads must have 16 or 32 channels");
  require(shape.grid.window_tokens() <= 576, "window_attention", "windows may have 576 tokens at most");
  with_element_type(type, [&]<typename T>() {
    if (shape.head_dim == 16) {
      launch<T, 16>(shape, order, tensors, stream);
    } else {
      launch<T, 32>(shape, order, tensors, stream);
    }
  });
}

}  // namespace swinscope::cuda
