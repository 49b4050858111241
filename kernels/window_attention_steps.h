// Window attention as a framework computes it, one kernel for each operation and every intermediate in memory: the
// lower rungs of the optimization ladder. The two products between the steps are cuda::Matmul's. In the order of use:
//
//   split_heads, scale_queries (V1) or inverse_norms of q and k (V2), scores = q k^T, scale_cosine (V2),
//   add_position_bias, add_window_mask (shifted windows), softmax, p v, merge_heads
//
// Backward, from q, k, v, norms and p as the forward pass left them:
//
//   split_gradient, dv = p^T dout, dp = dout v^T, softmax_backward, position_bias_backward, the scores' gradient
//   rounded (cuda::convert) or logit_scale_backward and scale_cosine_backward (V2), dq = ds k, dk = ds^T q,
//   scale_queries of dq (V1) or normalize_backward of both (V2), merge_gradients, padding_backward (padded maps)
//
// The bias and the mask are sums, which gradients pass as they are. Sums have a fixed order: the same input, the same
// bits.
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
// sums may be scores.
void add_position_bias(const WindowAttentionShape& shape, const float* bias, const float* scores, float* sums,
                       Stream stream);
void add_window_mask(const WindowAttentionShape& shape, float* scores, Stream stream);
// Over the window's tokens; what belongs to padding becomes zero.
void softmax(const WindowAttentionShape& shape, ElementType type, const float* scores, void* probabilities,
             Stream stream);

// [products, padded_tokens, head_dim] -> [tokens, heads, head_dim].
void merge_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads, void* out,
                 Stream stream);

// dout: [tokens, heads, head_dim] -> [products, padded_tokens, head_dim]; padding, which has no output, is zeros.
void split_gradient(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* dout,
                    void* heads, Stream stream);
// In place from the probabilities' gradient to the scores': p o (dp - row sum of p o dp), with p divided by its row's
// sum, since it may be rounded.
void softmax_backward(const WindowAttentionShape& shape, ElementType type, const void* probabilities, float* gradients,
                      Stream stream);
// Of each of the two that follow.
std::int64_t backward_workspace_bytes(const WindowAttentionShape& shape);
// The sum over windows, as the gradient of the table [bias_table_rows(window), heads].
void position_bias_backward(const WindowAttentionShape& shape, const float* dscores, bool accumulate, void* workspace,
                            float* dtable, Stream stream);
// cosines: as scale_cosine() left them, in fp32: the sum over all pairs mostly cancels. dlogit_scale: [heads]; 0 above
// the clamp.
void logit_scale_backward(const WindowAttentionShape& shape, const float* cosines, const float* dscores,
                          const float* logit_scale, bool accumulate, void* workspace, float* dlogit_scale,
                          Stream stream);
// The gradient of q k^T for vectors that are not normalized, in the element type; may be in place in fp32. A vector of
// norm zero gets none: it has no direction, and that of x / max(norm, 1e-12), of order 1e12, overflows 16 bits.
void scale_cosine_backward(const WindowAttentionShape& shape, ElementType type, const float* q_norms,
                           const float* k_norms, const float* logit_scale, const float* dscores, void* dproducts,
                           Stream stream);
// In place, what scale_cosine_backward() and the product after it left in dq (or dk) becomes its gradient: what lies
// along q goes.
void normalize_backward(const WindowAttentionShape& shape, ElementType type, const void* q, const float* norms,
                        void* dq, Stream stream);
// dq, dk and dv one after another -> [tokens, 3, heads, head_dim].
void merge_gradients(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads,
                     void* dqkv, Stream stream);
// Adds the sums over padding to the gradient of the qkv bias, [3, heads, head_dim]; for maps that are padded, in image
// order.
void add_padding(const WindowAttentionShape& shape, ElementType type, const void* heads, float* dqkv_bias,
                 Stream stream);

}  // namespace swinscope::cuda::steps
