// The backward pass of window_attention_steps.h: softmax, cosine, position bias, logit scale and padding, a kernel each
// with its intermediates in memory. The products between them are cuda::Matmul's.
#include <algorithm>

#include "kernels/cuda_call.h"
#include "kernels/partial_sums.h"
#include "kernels/window_attention_backward.h"
#include "kernels/window_attention_steps.cuh"

namespace swinscope::cuda::steps {
namespace {

// A norm that inverse_norms() found below its limit.
constexpr float kClamped = 0.999e12F;

// A warp a row. Rows and keys of padding have probability 0. Rounded probabilities do not quite add up to 1: what is
// lost there would be the largest part of a gradient that mostly cancels, as the logit scale's.
template <typename T>
__global__ __launch_bounds__(kThreads) void softmax_backward_kernel(std::int64_t rows, int padded,
                                                                    const T* probabilities, float* gradients) {
  const std::int64_t row = thread_index() / kWarp;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const T* const p = probabilities + row * padded;
  float* const d = gradients + row * padded;
  float weighted = 0.0F;
  float all = 0.0F;
  for (int key = lane; key < padded; key += kWarp) {
    weighted += to_float(p[key]) * d[key];
    all += to_float(p[key]);
  }
  all = sum_over(all, kWarp);
  const float scale = all > 0.0F ? 1.0F / all : 0.0F;
  const float mean = sum_over(weighted, kWarp) * scale;
  for (int key = lane; key < padded; key += kWarp)
    d[key] = to_float(p[key]) * scale * (d[key] - mean);
}

__device__ float factor_of(float inverse_norm) { return inverse_norm > kClamped ? 0.0F : inverse_norm; }

template <typename T>
__global__ __launch_bounds__(kThreads) void cosine_backward_kernel(Places at, const float* q_norms,
                                                                   const float* k_norms, const float* logit_scale,
                                                                   const float* dscores, T* dproducts) {
  const WindowHead place(blockIdx.x, at);
  const float scale = expf(fminf(logit_scale[place.head], static_cast<float>(kMaxLogitScale)));
  const float* const queries = q_norms + place.product * at.padded;
  const float* const keys = k_norms + place.product * at.padded;
  const std::int64_t first = place.product * at.padded * at.padded;
  for_pairs(at, [=](int i, int query, int key) {
    const float factor = scale * factor_of(queries[query]) * factor_of(keys[key]);
    dproducts[first + i] = from_float<T>(dscores[first + i] * factor);
  });
}

// A thread a row.
template <typename T>
__global__ __launch_bounds__(kThreads) void normalize_backward_kernel(std::int64_t rows, int dim, const T* q,
                                                                      const float* norms, T* dq) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  constexpr int kLength = Vector<T>::kLength;
  float sum = 0.0F;
  for (int c = 0; c < dim; c += kLength) {
    const Vector<T> x = load_vector(q + row * dim + c);
    const Vector<T> d = load_vector(dq + row * dim + c);
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      sum += to_float(x.values[e]) * to_float(d.values[e]);
  }
  const float inverse = factor_of(norms[row]);
  const float lost = sum * inverse * inverse;
  for (int c = 0; c < dim; c += kLength) {
    const Vector<T> x = load_vector(q + row * dim + c);
    Vector<T> d = load_vector(dq + row * dim + c);
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      d.values[e] = from_float<T>(to_float(d.values[e]) - lost * to_float(x.values[e]));
    store_vector(dq + row * dim + c, d);
  }
}

// A block a window and head.
__global__ __launch_bounds__(kThreads) void cosine_sums_kernel(int pairs, const float* cosines, const float* dscores,
                                                               float* sums) {
  const std::int64_t first = std::int64_t{blockIdx.x} * pairs;
  float sum = 0.0F;
  for (int i = static_cast<int>(threadIdx.x); i < pairs; i += kThreads)
    sum += cosines[first + i] * dscores[first + i];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// A block a head.
__global__ __launch_bounds__(kThreads) void logit_scale_kernel(std::int64_t windows, int heads, const float* sums,
                                                               const float* logit_scale, bool accumulate,
                                                               float* dlogit_scale) {
  const auto head = static_cast<int>(blockIdx.x);
  double sum = 0.0;
  for (std::int64_t window = threadIdx.x; window < windows; window += kThreads)
    sum += static_cast<double>(sums[window * heads + head]);
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x != 0) return;
  const bool free = logit_scale[head] <= static_cast<float>(kMaxLogitScale);
  const float gradient = free ? static_cast<float>(sum) : 0.0F;
  dlogit_scale[head] = accumulate ? dlogit_scale[head] + gradient : gradient;
}

// A block a channel of q, k or v.
template <typename T>
__global__ __launch_bounds__(kThreads) void padding_kernel(std::int64_t windows, Places at, const T* heads,
                                                           float* dqkv_bias) {
  const int tokens = at.geometry.tokens();
  const auto channel = static_cast<int>(blockIdx.x) % at.dim;
  const auto head = static_cast<int>(blockIdx.x) / at.dim % at.heads;
  const auto part = static_cast<int>(blockIdx.x) / at.dim / at.heads;
  float sum = 0.0F;
  for (std::int64_t i = threadIdx.x; i < windows * tokens; i += kThreads) {
    const std::int64_t window = i / tokens;
    const auto slot = static_cast<int>(i % tokens);
    if (at.geometry.row(static_cast<int>(window), slot) >= 0) continue;
    const std::int64_t row = ((part * windows + window) * at.heads + head) * at.padded + slot;
    sum += to_float(heads[row * at.dim + channel]);
  }
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) dqkv_bias[blockIdx.x] += sum;
}

std::int64_t scores_of_window(const WindowAttentionShape& shape) {
  return shape.heads * padded_tokens(shape) * padded_tokens(shape);
}

}  // namespace

void softmax_backward(const WindowAttentionShape& shape, ElementType type, const void* probabilities, float* gradients,
                      Stream stream) {
  const std::int64_t rows = head_rows(shape);
  with_element_type(type, [&]<typename T>() {
    softmax_backward_kernel<T><<<blocks(rows * kWarp), kThreads, 0, stream>>>(
        rows, static_cast<int>(padded_tokens(shape)), static_cast<const T*>(probabilities), gradients);
  });
  SWINSCOPE_CUDA_LAUNCHED("softmax_backward_kernel");
}

std::int64_t backward_workspace_bytes(const WindowAttentionShape& shape) {
  return std::max(scores_of_window(shape), products(shape)) * 4;
}

void position_bias_backward(const WindowAttentionShape& shape, const float* dscores, bool accumulate, void* workspace,
                            float* dtable, Stream stream) {
  const std::int64_t padded = padded_tokens(shape);
  const std::int64_t pairs = scores_of_window(shape);
  auto* const sums = static_cast<float*>(workspace);
  add_partial_sums({shape.grid.window_count(), pairs, pairs, dscores, {sums}, false}, stream);
  table_gradient(shape, {sums, padded * padded, padded}, accumulate, dtable, stream);
}

void scale_cosine_backward(const WindowAttentionShape& shape, ElementType type, const float* q_norms,
                           const float* k_norms, const float* logit_scale, const float* dscores, void* dproducts,
                           Stream stream) {
  with_element_type(type, [&]<typename T>() {
    cosine_backward_kernel<T><<<head_blocks(shape), kThreads, 0, stream>>>(
        Places::of(shape, TokenOrder::kImage), q_norms, k_norms, logit_scale, dscores, static_cast<T*>(dproducts));
  });
  SWINSCOPE_CUDA_LAUNCHED("cosine_backward_kernel");
}

void normalize_backward(const WindowAttentionShape& shape, ElementType type, const void* q, const float* norms,
                        void* dq, Stream stream) {
  require(shape.head_dim % 8 == 0, "normalize_backward", "head_dim must be a multiple of 8");
  const std::int64_t rows = head_rows(shape);
  with_element_type(type, [&]<typename T>() {
    normalize_backward_kernel<T><<<blocks(rows), kThreads, 0, stream>>>(
        rows, static_cast<int>(shape.head_dim), static_cast<const T*>(q), norms, static_cast<T*>(dq));
  });
  SWINSCOPE_CUDA_LAUNCHED("normalize_backward_kernel");
}

void logit_scale_backward(const WindowAttentionShape& shape, const float* cosines, const float* dscores,
                          const float* logit_scale, bool accumulate, void* workspace, float* dlogit_scale,
                          Stream stream) {
  const auto pairs = static_cast<int>(padded_tokens(shape) * padded_tokens(shape));
  auto* const sums = static_cast<float*>(workspace);
  cosine_sums_kernel<<<head_blocks(shape), kThreads, 0, stream>>>(pairs, cosines, dscores, sums);
  SWINSCOPE_CUDA_LAUNCHED("cosine_sums_kernel");
  logit_scale_kernel<<<static_cast<unsigned>(shape.heads), kThreads, 0, stream>>>(
      shape.grid.window_count(), static_cast<int>(shape.heads), sums, logit_scale, accumulate, dlogit_scale);
  SWINSCOPE_CUDA_LAUNCHED("logit_scale_kernel");
}

void add_padding(const WindowAttentionShape& shape, ElementType type, const void* heads, float* dqkv_bias,
                 Stream stream) {
  with_element_type(type, [&]<typename T>() {
    padding_kernel<T><<<static_cast<unsigned>(3 * shape.channels()), kThreads, 0, stream>>>(
        shape.grid.window_count(), Places::of(shape, TokenOrder::kImage), static_cast<const T*>(heads), dqkv_bias);
  });
  SWINSCOPE_CUDA_LAUNCHED("padding_kernel");
}

}  // namespace swinscope::cuda::steps
