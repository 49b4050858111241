#include <cmath>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/window_attention_steps.h"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda::steps {
namespace {

constexpr int kThreads = 256;

struct Places {
  WindowGeometry geometry;
  int heads;
  int dim;
  int padded;  // tokens

  static Places of(const WindowAttentionShape& shape, TokenOrder order) {
    return {WindowGeometry::of(shape.grid, order), static_cast<int>(shape.heads), static_cast<int>(shape.head_dim),
            static_cast<int>(padded_tokens(shape))};
  }
};

__device__ std::int64_t thread_index() { return std::int64_t{blockIdx.x} * kThreads + threadIdx.x; }

// One thread a vector of [3, products, padded, dim].
template <typename T>
__global__ void split_kernel(std::int64_t vectors, Places at, std::int64_t count, const T* qkv, const T* pad, T* out) {
  const std::int64_t i = thread_index();
  if (i >= vectors) return;
  const int per_row = at.dim / Vector<T>::kLength;
  const auto piece = static_cast<int>(i % per_row);
  const auto slot = static_cast<int>(i / per_row % at.padded);
  const std::int64_t product = i / per_row / at.padded % count;
  const auto part = static_cast<int>(i / per_row / at.padded / count);
  const auto head = static_cast<int>(product % at.heads);
  Vector<T> v{};
  if (slot < at.geometry.tokens()) {
    const int row = at.geometry.row(static_cast<int>(product / at.heads), slot);
    const T* const token = row < 0 ? pad : qkv + std::int64_t{row} * 3 * at.heads * at.dim;
    v = load_vector(token + (part * at.heads + head) * at.dim + piece * Vector<T>::kLength);
  }
  store_vector(out + i * Vector<T>::kLength, v);
}

template <typename T>
__global__ void merge_kernel(std::int64_t vectors, Places at, const T* heads, T* out) {
  const std::int64_t i = thread_index();
  if (i >= vectors) return;
  const int per_row = at.dim / Vector<T>::kLength;
  const auto piece = static_cast<int>(i % per_row);
  const auto slot = static_cast<int>(i / per_row % at.padded);
  const std::int64_t product = i / per_row / at.padded;
  if (slot >= at.geometry.tokens()) return;
  const int row = at.geometry.row(static_cast<int>(product / at.heads), slot);
  if (row < 0) return;
  const std::int64_t target = (std::int64_t{row} * at.heads + product % at.heads) * at.dim + piece * Vector<T>::kLength;
  store_vector(out + target, load_vector(heads + i * Vector<T>::kLength));
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

__global__ void add_bias_kernel(std::int64_t count, Places at, const float* bias, float* scores) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pair pair(i, at.padded);
  const int tokens = at.geometry.tokens();
  if (pair.query >= tokens || pair.key >= tokens) return;
  scores[i] += bias[(pair.product % at.heads * tokens + pair.query) * tokens + pair.key];
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

unsigned blocks(std::int64_t threads) { return blocks_for(threads, kThreads); }

std::int64_t head_elements(const WindowAttentionShape& shape) {
  return products(shape) * padded_tokens(shape) * shape.head_dim;
}

std::int64_t score_elements(const WindowAttentionShape& shape) {
  return products(shape) * padded_tokens(shape) * padded_tokens(shape);
}

}  // namespace

std::int64_t padded_tokens(const WindowAttentionShape& shape) { return (shape.grid.window_tokens() + 7) / 8 * 8; }

std::int64_t products(const WindowAttentionShape& shape) { return shape.grid.window_count() * shape.heads; }

void split_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* qkv,
                 const void* pad_qkv, void* heads, Stream stream) {
  require(shape.head_dim % 8 == 0, "split_heads", "head_dim must be a multiple of 8");
  require(order == TokenOrder::kWindow || !shape.grid.padded() || pad_qkv != nullptr, "split_heads",
          "a padded map needs pad_qkv");
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = 3 * head_elements(shape) / Vector<T>::kLength;
    split_kernel<T><<<blocks(vectors), kThreads, 0, stream>>>(vectors, Places::of(shape, order), products(shape),
                                                              static_cast<const T*>(qkv),
                                                              static_cast<const T*>(pad_qkv), static_cast<T*>(heads));
  });
  SWINSCOPE_CUDA_LAUNCHED("split_kernel");
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

void add_position_bias(const WindowAttentionShape& shape, const float* bias, float* scores, Stream stream) {
  const std::int64_t count = score_elements(shape);
  add_bias_kernel<<<blocks(count), kThreads, 0, stream>>>(count, Places::of(shape, TokenOrder::kImage), bias, scores);
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
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = head_elements(shape) / Vector<T>::kLength;
    merge_kernel<T><<<blocks(vectors), kThreads, 0, stream>>>(vectors, Places::of(shape, order),
                                                              static_cast<const T*>(heads), static_cast<T*>(out));
  });
  SWINSCOPE_CUDA_LAUNCHED("merge_kernel");
}

}  // namespace swinscope::cuda::steps
