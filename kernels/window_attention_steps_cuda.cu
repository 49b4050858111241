// The forward pass of window_attention_steps.h, a kernel each: heads split and merged, scale or cosine, position bias,
// mask and softmax. Scores are fp32 in memory, probabilities of the element type; bound by memory.
#include <cmath>

#include "kernels/cuda_call.h"
#include "kernels/window_attention_steps.cuh"

namespace swinscope::cuda::steps {
namespace {

// Of [parts, products, padded, dim] and of tokens that are [parts, heads, dim]: calls copy(vector among the heads, row
// of the tokens or -1 for padding, offset in the token), or, for slots behind the window's tokens, copy(vector, -2, 0).
template <int kLength, typename Copy>
__device__ void for_head_vectors(const Places& at, int products, const Copy& copy) {
  const auto block = static_cast<int>(blockIdx.x);
  const WindowHead place(static_cast<unsigned>(block % products), at);
  const int offset = (block / products * at.heads + place.head) * at.dim;
  const int per_row = at.dim / kLength;
  for (int i = static_cast<int>(threadIdx.x); i < at.padded * per_row; i += kThreads) {
    const int slot = i / per_row;
    const int row = slot < at.geometry.tokens() ? at.geometry.row(place.window, slot) : -2;
    copy((std::int64_t{block} * at.padded * per_row + i) * kLength, row, offset + i % per_row * kLength);
  }
}

// Padding of the map is `pad`, or zeros without it; padding of a window is zeros.
template <typename T>
__global__ __launch_bounds__(kThreads) void split_kernel(Places at, int products, int parts, const T* tokens,
                                                         const T* pad, T* heads) {
  for_head_vectors<Vector<T>::kLength>(at, products, [=](std::int64_t to, int row, int in_token) {
    Vector<T> v{};
    if (row >= 0) {
      v = load_vector(tokens + std::int64_t{row} * (parts * at.heads * at.dim) + in_token);
    } else if (row == -1 && pad != nullptr) {
      v = load_vector(pad + in_token);
    }
    store_vector(heads + to, v);
  });
}

template <typename T>
__global__ __launch_bounds__(kThreads) void merge_kernel(Places at, int products, int parts, const T* heads,
                                                         T* tokens) {
  for_head_vectors<Vector<T>::kLength>(at, products, [=](std::int64_t from, int row, int in_token) {
    if (row < 0) return;
    store_vector(tokens + std::int64_t{row} * (parts * at.heads * at.dim) + in_token, load_vector(heads + from));
  });
}

// A thread a vector.
template <typename T>
__global__ __launch_bounds__(kThreads) void scale_kernel(std::int64_t vectors, float scale, T* x) {
  const std::int64_t i = thread_index();
  if (i >= vectors) return;
  Vector<T> v = load_vector(x + i * Vector<T>::kLength);
#pragma unroll
  for (T& value : v.values)
    value = from_float<T>(to_float(value) * scale);
  store_vector(x + i * Vector<T>::kLength, v);
}

// A thread a row.
template <typename T>
__global__ __launch_bounds__(kThreads) void norm_kernel(std::int64_t rows, int dim, const T* x, float* norms) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  float sum = 0.0F;
  for (int c = 0; c < dim; c += Vector<T>::kLength) {
    const Vector<T> v = load_vector(x + row * dim + c);
#pragma unroll
    for (const T element : v.values) {
      const float value = to_float(element);
      sum += value * value;
    }
  }
  norms[row] = 1.0F / fmaxf(sqrtf(sum), 1e-12F);
}

__global__ __launch_bounds__(kThreads) void cosine_kernel(Places at, const float* q_norms, const float* k_norms,
                                                          const float* logit_scale, float* scores) {
  const WindowHead place(blockIdx.x, at);
  const float scale = expf(fminf(logit_scale[place.head], static_cast<float>(kMaxLogitScale)));
  const float* const queries = q_norms + place.product * at.padded;
  const float* const keys = k_norms + place.product * at.padded;
  float* const of_head = scores + place.product * at.padded * at.padded;
  for_pairs(at, [=](int i, int query, int key) { of_head[i] *= scale * queries[query] * keys[key]; });
}

// A thread a pair of tokens: [heads, tokens, tokens].
__global__ __launch_bounds__(kThreads) void gather_bias_kernel(int count, Places at, const float* table, float* bias) {
  const auto i = static_cast<int>(thread_index());
  if (i >= count) return;
  const int tokens = at.geometry.tokens();
  const int row = bias_row(at.geometry.window_height, at.geometry.window_width, i / tokens % tokens, i % tokens);
  bias[i] = table[row * at.heads + i / tokens / tokens];
}

__global__ __launch_bounds__(kThreads) void add_bias_kernel(Places at, const float* bias, const float* scores,
                                                            float* sums) {
  const WindowHead place(blockIdx.x, at);
  const int tokens = at.geometry.tokens();
  const float* const of_head = bias + std::int64_t{place.head} * tokens * tokens;
  const std::int64_t first = place.product * at.padded * at.padded;
  for_pairs(at, [=](int i, int query, int key) {
    const bool exists = query < tokens && key < tokens;
    sums[first + i] = scores[first + i] + (exists ? of_head[query * tokens + key] : 0.0F);
  });
}

// Shared memory: the slots' regions.
__global__ __launch_bounds__(kThreads) void mask_kernel(Places at, float* scores) {
  extern __shared__ int regions[];
  const WindowHead place(blockIdx.x, at);
  const int tokens = at.geometry.tokens();
  if (!at.geometry.masked(place.window)) return;
  for (int slot = static_cast<int>(threadIdx.x); slot < at.padded; slot += kThreads)
    regions[slot] = at.geometry.region(place.window, slot);
  __syncthreads();
  float* const of_head = scores + place.product * at.padded * at.padded;
  for_pairs(at, [=](int i, int query, int key) {
    if (query >= tokens || key >= tokens || regions[query] == regions[key]) return;
    of_head[i] += static_cast<float>(kWindowMask);
  });
}

// A warp a row.
template <typename T>
__global__ __launch_bounds__(kThreads) void softmax_kernel(std::int64_t rows, int tokens, int padded,
                                                           const float* scores, T* probabilities) {
  const std::int64_t row = thread_index() / kWarp;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const bool exists = static_cast<unsigned>(row) % static_cast<unsigned>(padded) < static_cast<unsigned>(tokens);
  const float* const from = scores + row * padded;
  float largest = -INFINITY;
  for (int key = lane; key < tokens; key += kWarp)
    largest = fmaxf(largest, from[key]);
  largest = max_over(largest, kWarp);
  float sum = 0.0F;
  for (int key = lane; key < tokens; key += kWarp)
    sum += expf(from[key] - largest);
  sum = sum_over(sum, kWarp);
  for (int key = lane; key < padded; key += kWarp) {
    const bool counts = exists && key < tokens;
    probabilities[row * padded + key] = from_float<T>(counts ? expf(from[key] - largest) / sum : 0.0F);
  }
}

void split(const WindowAttentionShape& shape, ElementType type, TokenOrder order, int parts, const void* tokens,
           const void* pad, void* heads, Stream stream) {
  require(shape.head_dim % 8 == 0, "split_heads", "head_dim must be a multiple of 8");
  with_element_type(type, [&]<typename T>() {
    split_kernel<T><<<head_blocks(shape, parts), kThreads, 0, stream>>>(
        Places::of(shape, order), static_cast<int>(products(shape)), parts, static_cast<const T*>(tokens),
        static_cast<const T*>(pad), static_cast<T*>(heads));
  });
  SWINSCOPE_CUDA_LAUNCHED("split_kernel");
}

void merge(const WindowAttentionShape& shape, ElementType type, TokenOrder order, int parts, const void* heads,
           void* tokens, Stream stream) {
  require(shape.head_dim % 8 == 0, "merge_heads", "head_dim must be a multiple of 8");
  with_element_type(type, [&]<typename T>() {
    merge_kernel<T><<<head_blocks(shape, parts), kThreads, 0, stream>>>(
        Places::of(shape, order), static_cast<int>(products(shape)), parts, static_cast<const T*>(heads),
        static_cast<T*>(tokens));
  });
  SWINSCOPE_CUDA_LAUNCHED("merge_kernel");
}

}  // namespace

std::int64_t padded_tokens(const WindowAttentionShape& shape) { return (shape.grid.window_tokens() + 7) / 8 * 8; }

std::int64_t products(const WindowAttentionShape& shape) { return shape.grid.window_count() * shape.heads; }

void split_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* qkv,
                 const void* pad_qkv, void* heads, Stream stream) {
  require(order == TokenOrder::kWindow || !shape.grid.padded() || pad_qkv != nullptr, "split_heads",
          "a padded map needs pad_qkv");
  split(shape, type, order, 3, qkv, pad_qkv, heads, stream);
}

void split_gradient(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* dout,
                    void* heads, Stream stream) {
  split(shape, type, order, 1, dout, nullptr, heads, stream);
}

void scale_queries(const WindowAttentionShape& shape, ElementType type, void* q, Stream stream) {
  require(shape.head_dim % 8 == 0, "scale_queries", "head_dim must be a multiple of 8");
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = head_elements(shape) / Vector<T>::kLength;
    scale_kernel<T><<<blocks(vectors), kThreads, 0, stream>>>(vectors, scale, static_cast<T*>(q));
  });
  SWINSCOPE_CUDA_LAUNCHED("scale_kernel");
}

void inverse_norms(const WindowAttentionShape& shape, ElementType type, const void* q, float* norms, Stream stream) {
  require(shape.head_dim % 8 == 0, "inverse_norms", "head_dim must be a multiple of 8");
  const std::int64_t rows = head_rows(shape);
  with_element_type(type, [&]<typename T>() {
    norm_kernel<T><<<blocks(rows), kThreads, 0, stream>>>(rows, static_cast<int>(shape.head_dim),
                                                          static_cast<const T*>(q), norms);
  });
  SWINSCOPE_CUDA_LAUNCHED("norm_kernel");
}

void scale_cosine(const WindowAttentionShape& shape, const float* q_norms, const float* k_norms,
                  const float* logit_scale, float* scores, Stream stream) {
  cosine_kernel<<<head_blocks(shape), kThreads, 0, stream>>>(Places::of(shape, TokenOrder::kImage), q_norms, k_norms,
                                                             logit_scale, scores);
  SWINSCOPE_CUDA_LAUNCHED("cosine_kernel");
}

void gather_position_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream) {
  const std::int64_t count = shape.heads * shape.grid.window_tokens() * shape.grid.window_tokens();
  require(count <= std::numeric_limits<int>::max(), "gather_position_bias", "too many pairs");
  gather_bias_kernel<<<blocks(count), kThreads, 0, stream>>>(static_cast<int>(count),
                                                             Places::of(shape, TokenOrder::kImage), table, bias);
  SWINSCOPE_CUDA_LAUNCHED("gather_bias_kernel");
}

void add_position_bias(const WindowAttentionShape& shape, const float* bias, const float* scores, float* sums,
                       Stream stream) {
  add_bias_kernel<<<head_blocks(shape), kThreads, 0, stream>>>(Places::of(shape, TokenOrder::kImage), bias, scores,
                                                               sums);
  SWINSCOPE_CUDA_LAUNCHED("add_bias_kernel");
}

void add_window_mask(const WindowAttentionShape& shape, float* scores, Stream stream) {
  const auto bytes = static_cast<std::size_t>(padded_tokens(shape)) * sizeof(int);
  mask_kernel<<<head_blocks(shape), kThreads, bytes, stream>>>(Places::of(shape, TokenOrder::kImage), scores);
  SWINSCOPE_CUDA_LAUNCHED("mask_kernel");
}

void softmax(const WindowAttentionShape& shape, ElementType type, const float* scores, void* probabilities,
             Stream stream) {
  const std::int64_t rows = head_rows(shape);
  require(rows <= std::numeric_limits<unsigned>::max(), "softmax", "too many windows");
  with_element_type(type, [&]<typename T>() {
    softmax_kernel<T><<<blocks(rows * kWarp), kThreads, 0, stream>>>(rows, static_cast<int>(shape.grid.window_tokens()),
                                                                     static_cast<int>(padded_tokens(shape)), scores,
                                                                     static_cast<T*>(probabilities));
  });
  SWINSCOPE_CUDA_LAUNCHED("softmax_kernel");
}

void merge_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads, void* out,
                 Stream stream) {
  merge(shape, type, order, 1, heads, out, stream);
}

void merge_gradients(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads,
                     void* dqkv, Stream stream) {
  merge(shape, type, order, 3, heads, dqkv, stream);
}

}  // namespace swinscope::cuda::steps
