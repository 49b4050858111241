// Expands the table of position biases to one fp16 value for each pair of tokens, in the order in which the lanes of
// the tensor core kernels hold their scores; keys outside of the window get minus infinity.
#include <cmath>
#include <limits>

#include "kernels/cuda_call.h"
#include "kernels/window_attention_bias.cuh"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;

// One thread a value: [head, row tile, pair of blocks, lane, 8]. Pairs outside of the window are hidden. `factor`: what
// makes scores powers of two (cosine), or undoes the scale that is applied later.
__global__ void expand_bias_kernel(int heads, int window_height, int window_width, float factor, const float* table,
                                   __half* bias) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index >= heads * static_cast<int>(kHeadBias)) return;
  const int element = index % 8;
  const int lane = index / 8 % kWarp;
  const int pair = index / (8 * kWarp) % 4;
  const int tile = index / static_cast<int>(kWarp * kLaneBias) % kRowTiles;
  const int head = index / static_cast<int>(kHeadBias);
  const int key = (2 * pair + element / 4) * 8 + lane % 4 * 2 + element % 2;
  const int query = tile * 16 + lane / 4 + element % 4 / 2 * 8;
  const int tokens = window_height * window_width;
  float value = 0.0F;
  if (key >= tokens) {
    value = -std::numeric_limits<float>::infinity();
  } else if (query < tokens) {
    value = table[bias_row(window_height, window_width, query, key) * heads + head] * factor;
  }
  bias[index] = __float2half_rn(value);
}

}  // namespace

void expand_mma_bias(const WindowAttentionShape& shape, const float* table, void* bias, Stream stream) {
  const bool cosine = shape.score == AttentionScore::kCosine;
  const float factor = cosine ? kLog2e : std::sqrt(static_cast<float>(shape.head_dim));
  expand_bias_kernel<<<blocks_for(shape.heads * kHeadBias, kThreads), kThreads, 0, stream>>>(
      static_cast<int>(shape.heads), static_cast<int>(shape.grid.window.height),
      static_cast<int>(shape.grid.window.width), factor, table, static_cast<__half*>(bias));
  SWINSCOPE_CUDA_LAUNCHED("expand_bias_kernel");
}

}  // namespace swinscope::cuda
