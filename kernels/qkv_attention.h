// Window attention and the qkv projection before it as one kernel, for inference: q, k and v of a window and head stay
// in the multiprocessor that computes them. Compute capability 9.0, fp16 and bf16.
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda {

constexpr std::int64_t kMostAttentionTokens = 64;  // of a window on tensor cores
constexpr std::int64_t kMostQkvAttentionChannels = 512;

// qkv = x W^T + b, rounded to the type, and window_attention_forward() of it, both in image order. Padding of the map
// is rows of x that are zero. With gamma and beta LN(x) gamma + beta, rounded, is in the place of x.
struct QkvAttentionTensors {
  const void* x = nullptr;      // [tokens, channels]
  const void* gamma = nullptr;  // [channels], or null, as beta
  const void* beta = nullptr;
  const void* weight = nullptr;        // [3, heads, head_dim, channels]
  const void* qkv_bias = nullptr;      // [3, heads, head_dim], or null
  const void* bias = nullptr;          // by expand_attention_bias()
  const float* logit_scale = nullptr;  // [heads]; kCosine only
  void* out = nullptr;                 // [tokens, heads, head_dim]; not x
  bool backwards = false;              // from the last window to the first: the same bits
};

// Whether the GPU has it for such windows: attention_on_tensor_cores(), and a number of channels that
// is a multiple of 64 and at most 512. Without the cosine a window has at most 56 tokens.
bool qkv_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu);
// Whether they have it with gamma and beta: the scaled dot product, 128 or 256 channels, windows of at most 56 tokens,
// a map without padding. And whether windows are enough for all of the GPU.
bool normalized_qkv_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu);
bool normalized_qkv_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu);
// Whether windows fill their 64 rows of products, and windows and heads are enough for all of the GPU: else the
// projection and the attention apart are faster.
bool qkv_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu);
void qkv_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                           Stream stream);

OperationCost qkv_attention_forward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes);

}  // namespace swinscope::cuda
