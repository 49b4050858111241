// The two paths of cuda::window_attention_backward(), and what both end with.
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda {

// Floats at the beginning of the workspace, all fp32 but the last:
//   [shares, heads, pairs]   sums of dscores over the windows of a share, in an order of the path's own
//   [heads, pairs]           the same over all windows
//   [shares, heads]          of the logit scale's gradient
//   [column_shares, 3, heads, head_dim] sums of rows of dqkv and of padding
//   [windows * tokens, 3, heads, head_dim] in the element type, only of the general path and where a map in image order
//   is
//                            padded: gradients of padding, zero elsewhere
struct BackwardWorkspace {
  std::int64_t shares = 0;
  std::int64_t pairs = 0;
  std::int64_t heads = 0;
  std::int64_t column_shares = 0;  // 0: the path leaves no sums of rows
  std::int64_t channels = 0;
  std::int64_t padding_bytes = 0;

  // Rounded up: what follows is read 16 bytes at once.
  std::int64_t scales() const { return (shares * heads + 3) / 4 * 4; }
  std::int64_t floats() const {
    return ((shares + 1) * heads * pairs + scales() + column_shares * 3 * channels + 3) / 4 * 4;
  }
  std::int64_t bytes() const { return floats() * 4 + padding_bytes; }
  float* share_sums(void* workspace) const { return static_cast<float*>(workspace); }
  float* sums(void* workspace) const { return share_sums(workspace) + shares * heads * pairs; }
  float* scale_sums(void* workspace) const { return sums(workspace) + heads * pairs; }
  float* column_sums(void* workspace) const { return scale_sums(workspace) + scales(); }
  void* padding(void* workspace) const { return share_sums(workspace) + floats(); }
};

// Of the current device.
std::int64_t multiprocessors();

// Any window of up to 576 tokens, any element type, fp32 arithmetic. Pairs are [query, key].
BackwardWorkspace general_backward_workspace(const WindowAttentionShape& shape);
void general_attention_backward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                                const WindowAttentionGradientTensors& tensors, const BackwardWorkspace& places,
                                Stream stream);

// Sums of dscores over windows, for each head and pair of tokens.
struct PairSums {
  const float* sums = nullptr;
  std::int64_t head_stride = 0;
  std::int64_t query_stride = 0;  // pairs are [query, key]; 0: in the order of the tensor core path
};
// To dtable [bias_table_rows(window), heads]: the sums over pairs of equal distance.
void table_gradient(const WindowAttentionShape& shape, const PairSums& pairs, bool accumulate, float* dtable,
                    Stream stream);

}  // namespace swinscope::cuda
