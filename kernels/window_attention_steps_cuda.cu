#include <cmath>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/window_attention_steps.cuh"

namespace swinscope::cuda::steps {
namespace {

// One thread a vector of [parts, products, padded, dim]; tokens are [parts, heads, dim].
struct HeadVector {
  int slot;
  std::int64_t product;
  std::int64_t in_token;  // offset
  __device__ HeadVector(std::int64_t i, int length, const Places& at, std::int64_t products) {
    const int per_row = at.dim / length;
    const std::int64_t row = i / per_row;
    const std::int64_t matrix = row / at.padded;
    slot = static_cast<int>(row % at.padded);
    product = matrix % products;
    in_token = (matrix / products * at.heads + product % at.heads) * at.dim + i % per_row * length;
  }
  // Of the tokens; -1 for padding.
  __device__ int row(const Places& at) const { return at.geometry.row(static_cast<int>(product / at.heads), slot); }
};

// Padding of the map is `pad`, or zeros without it; padding of a window is zeros.
template <typename T>
__global__ void split_kernel(std::int64_t vectors, Places at, std::int64_t products, int parts, const T* tokens,
                             const T* pad, T* heads) {
  const std::int64_t i = thread_index();
  if (i >= vectors) return;
  const HeadVector place(i, Vector<T>::kLength, at, products);
  Vector<T> v{};
  if (place.slot < at.geometry.tokens()) {
    const int row = place.row(at);
    const T* const token = row < 0 ? pad : tokens + std::int64_t{row} * parts * at.heads * at.dim;
    if (token != nullptr) v = load_vector(token + place.in_token);
  }
  store_vector(heads + i * Vector<T>::kLength, v);
}

template <typename T>
__global__ void merge_kernel(std::int64_t vectors, Places at, std::int64_t products, int parts, const T* heads,
                             T* tokens) {
  const std::int64_t i = thread_index();
  if (i >= vectors) return;
  const HeadVector place(i, Vector<T>::kLength, at, products);
  if (place.slot >= at.geometry.tokens()) return;
  const int row = place.row(at);
  if (row < 0) return;
  store_vector(tokens + std::int64_t{row} * parts * at.heads * at.dim + place.in_token,
               load_vector(heads + i * Vector<T>::kLength));
}

template <typename T>
__global__ void scale_kernel(std::int64_t count, float scale, T* x) {
  const std::int64_t i = thread_index();
  if (i < count) x[i] = from_float<T>(to_float(x[i]) * scale);
}

template <typename T>
__global__ void norm_kernel(std::int64_t rows, int dim, const T* x, float* norms) {
  const std::int64_t i = thread_index();
  if (i >= rows) return;
  float sum = 0.0F;
  for (int c = 0; c < dim; ++c) {
    const float value = to_float(x[i * dim + c]);
    sum += value * value;
  }
  norms[i] = 1.0F / fmaxf(sqrtf(sum), 1e-12F);
}

// The steps on scores: one thread a pair of tokens.
struct Pair {
  std::int64_t product;
  int query;
  int key;
  __device__ Pair(std::int64_t index, int padded)
      : product(index / padded / padded),
        query(static_cast<int>(index / padded % padded)),
        key(static_cast<int>(index % padded)) {}
};

__global__ void cosine_kernel(std::int64_t count, Places at, const float* q_norms, const float* k_norms,
                              const float* logit_scale, float* scores) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pair pair(i, at.padded);
  const float limit = static_cast<float>(kMaxLogitScale);
  const float scale = expf(fminf(logit_scale[pair.product % at.heads], limit));
  scores[i] *= scale * q_norms[pair.product * at.padded + pair.query] * k_norms[pair.product * at.padded + pair.key];
}

__global__ void gather_bias_kernel(std::int64_t count, Places at, const float* table, float* bias) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pair pair(i, at.geometry.tokens());
  const int row = bias_row(at.geometry.window_height, at.geometry.window_width, pair.query, pair.key);
  bias[i] = table[row * at.heads + pair.product];
}

__global__ void add_bias_kernel(std::int64_t count, Places at, const float* bias, const float* scores, float* sums) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pair pair(i, at.padded);
  const int tokens = at.geometry.tokens();
  const bool exists = pair.query < tokens && pair.key < tokens;
  sums[i] = scores[i] + (exists ? bias[(pair.product % at.heads * tokens + pair.query) * tokens + pair.key] : 0.0F);
}

__global__ void mask_kernel(std::int64_t count, Places at, float* scores) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pair pair(i, at.padded);
  const int tokens = at.geometry.tokens();
  const auto window = static_cast<int>(pair.product / at.heads);
  if (pair.query >= tokens || pair.key >= tokens || !at.geometry.masked(window)) return;
  if (at.geometry.region(window, pair.query) != at.geometry.region(window, pair.key)) {
    scores[i] += static_cast<float>(kWindowMask);
  }
}

// A warp a row.
template <typename T>
__global__ void softmax_kernel(std::int64_t rows, int tokens, int padded, const float* scores, T* probabilities) {
  const std::int64_t row = thread_index() / kWarp;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const bool exists = row % padded < tokens;
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
    const std::int64_t vectors = parts * head_elements(shape) / Vector<T>::kLength;
    split_kernel<T><<<blocks(vectors), kThreads, 0, stream>>>(vectors, Places::of(shape, order), products(shape), parts,
                                                              static_cast<const T*>(tokens), static_cast<const T*>(pad),
                                                              static_cast<T*>(heads));
  });
  SWINSCOPE_CUDA_LAUNCHED("split_kernel");
}

void merge(const WindowAttentionShape& shape, ElementType type, TokenOrder order, int parts, const void* heads,
           void* tokens, Stream stream) {
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = parts * head_elements(shape) / Vector<T>::kLength;
    merge_kernel<T><<<blocks(vectors), kThreads, 0, stream>>>(vectors, Places::of(shape, order), products(shape), parts,
                                                              static_cast<const T*>(heads), static_cast<T*>(tokens));
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
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  with_element_type(type, [&]<typename T>() {
    scale_kernel<T>
        <<<blocks(head_elements(shape)), kThreads, 0, stream>>>(head_elements(shape), scale, static_cast<T*>(q));
  });
  SWINSCOPE_CUDA_LAUNCHED("scale_kernel");
}

void inverse_norms(const WindowAttentionShape& shape, ElementType type, const void* q, float* norms, Stream stream) {
  const std::int64_t rows = products(shape) * padded_tokens(shape);
  with_element_type(type, [&]<typename T>() {
    norm_kernel<T><<<blocks(rows), kThreads, 0, stream>>>(rows, static_cast<int>(shape.head_dim),
                                                          static_cast<const T*>(q), norms);
  });
  SWINSCOPE_CUDA_LAUNCHED("norm_kernel");
}

void scale_cosine(const WindowAttentionShape& shape, const float* q_norms, const float* k_norms,
                  const float* logit_scale, float* scores, Stream stream) {
  const std::int64_t count = score_elements(shape);
  cosine_kernel<<<blocks(count), kThreads, 0, stream>>>(count, Places::of(shape, TokenOrder::kImage), q_norms, k_norms,
                                                        logit_scale, scores);
  SWINSCOPE_CUDA_LAUNCHED("cosine_kernel");
}

void gather_position_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream) {
  const std::int64_t count = shape.heads * shape.grid.window_tokens() * shape.grid.window_tokens();
  gather_bias_kernel<<<blocks(count), kThreads, 0, stream>>>(count, Places::of(shape, TokenOrder::kImage), table, bias);
  SWINSCOPE_CUDA_LAUNCHED("gather_bias_kernel");
}

void add_position_bias(const WindowAttentionShape& shape, const float* bias, const float* scores, float* sums,
                       Stream stream) {
  const std::int64_t count = score_elements(shape);
  add_bias_kernel<<<blocks(count), kThreads, 0, stream>>>(count, Places::of(shape, TokenOrder::kImage), bias, scores,
                                                          sums);
  SWINSCOPE_CUDA_LAUNCHED("add_bias_kernel");
}

void add_window_mask(const WindowAttentionShape& shape, float* scores, Stream stream) {
  const std::int64_t count = score_elements(shape);
  mask_kernel<<<blocks(count), kThreads, 0, stream>>>(count, Places::of(shape, TokenOrder::kImage), scores);
  SWINSCOPE_CUDA_LAUNCHED("mask_kernel");
}

void softmax(const WindowAttentionShape& shape, ElementType type, const float* scores, void* probabilities,
             Stream stream) {
  const std::int64_t rows = products(shape) * padded_tokens(shape);
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
