// Window attention as a framework computes it, one kernel for each operation and every intermediate in memory: the
// lower rungs of the optimization ladder. The two products between the steps are cuda::Matmul's. In the order of use:
//
//   split_heads, scale_queries (V1) or inverse_norms of q and k (V2), scores = q k^T, scale_cosine (V2),
//   add_position_bias, add_window_mask (shifted windows), softmax, p v, merge_heads
//
// A window is padded to padded_tokens() rows, so that products have aligned operands; padding holds zeros.
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda::steps {

// The window's tokens rounded up to a multiple of 8.
std::int64_t padded_tokens(const WindowAttentionShape& shape);
// Heads of all windows: the number of products.
std::int64_t products(const WindowAttentionShape& shape);

// qkv as in WindowAttentionTensors -> q, k, v one after another, each [products, padded_tokens, head_dim].
void split_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* qkv,
                 const void* pad_qkv, void* heads, Stream stream);
// q / sqrt(head_dim), in place.
void scale_queries(const WindowAttentionShape& shape, ElementType type, void* q, Stream stream);
// 1 / max(norm, 1e-12) of each row of q (or k); norms: [products, padded_tokens].
void inverse_norms(const WindowAttentionShape& shape, ElementType type, const void* q, float* norms, Stream stream);

// In place on scores [products, padded_tokens, padded_tokens].
void scale_cosine(const WindowAttentionShape& shape, const float* q_norms, const float* k_norms,
                  const float* logit_scale, float* scores, Stream stream);
// The bias of each pair, [heads, tokens, tokens], from the table: done in each forward pass, or once.
void gather_position_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream);
void add_position_bias(const WindowAttentionShape& shape, const float* bias, float* scores, Stream stream);
void add_window_mask(const WindowAttentionShape& shape, float* scores, Stream stream);
// Over the window's tokens; what belongs to padding becomes zero.
void softmax(const WindowAttentionShape& shape, ElementType type, const float* scores, void* probabilities,
             Stream stream);

// [products, padded_tokens, head_dim] -> [tokens, heads, head_dim].
void merge_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads, void* out,
                 Stream stream);

}  // namespace swinscope::cuda::steps
