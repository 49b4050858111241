// Shared by the kernels of window_attention_steps.h: which window and head a block has, and where its tokens stand.
#pragma once

#include <limits>

#include "kernels/check.h"
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

// Blocks that have a window's head each, so that indices within it are small.
struct WindowHead {
  std::int64_t product;
  int window;
  int head;
  __device__ WindowHead(unsigned number, const Places& at)
      : product(number), window(static_cast<int>(number) / at.heads), head(static_cast<int>(number) % at.heads) {}
};

// body(place among the head's pairs, query, key) for all its pairs, padding too.
template <typename Body>
__device__ void for_pairs(const Places& at, const Body& body) {
  const int pairs = at.padded * at.padded;
  for (int i = static_cast<int>(threadIdx.x); i < pairs; i += kThreads)
    body(i, i / at.padded, i % at.padded);
}

inline unsigned blocks(std::int64_t threads) { return blocks_for(threads, kThreads); }

// Of all rows of q, k or v: [products, padded].
inline std::int64_t head_rows(const WindowAttentionShape& shape) { return products(shape) * padded_tokens(shape); }
inline std::int64_t head_elements(const WindowAttentionShape& shape) { return head_rows(shape) * shape.head_dim; }
// A block each.
inline unsigned head_blocks(const WindowAttentionShape& shape, int parts = 1) {
  require(parts * products(shape) <= std::numeric_limits<int>::max(), "window attention", "too many windows");
  return static_cast<unsigned>(parts * products(shape));
}

}  // namespace swinscope::cuda::steps
