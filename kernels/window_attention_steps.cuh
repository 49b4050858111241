// What the kernels of window_attention_steps.h share.
#pragma once

#include "kernels/device_math.cuh"
#include "kernels/window_attention_steps.h"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda::steps {

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

__device__ inline std::int64_t thread_index() { return std::int64_t{blockIdx.x} * kThreads + threadIdx.x; }

inline unsigned blocks(std::int64_t threads) { return blocks_for(threads, kThreads); }

// Of all rows of q, k or v: [products, padded].
inline std::int64_t head_rows(const WindowAttentionShape& shape) { return products(shape) * padded_tokens(shape); }
inline std::int64_t head_elements(const WindowAttentionShape& shape) { return head_rows(shape) * shape.head_dim; }
inline std::int64_t score_elements(const WindowAttentionShape& shape) {
  return head_rows(shape) * padded_tokens(shape);
}

}  // namespace swinscope::cuda::steps
