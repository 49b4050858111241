// Self-attention within shifted windows, V1 (scaled dot product) and V2 (cosine), forward and backward, on the CPU and
// on the device. Tokens stay in image order: rolling, padding and partitioning are index arithmetic (window.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/byte_format.h"
#include "kernels/cost.h"
#include "kernels/delayed_scale.h"
#include "kernels/device.h"
#include "kernels/eviction.h"
#include "kernels/window.h"

namespace swinscope {

// How the score of query i and key j arises before bias and mask:
enum class AttentionScore : std::uint8_t {
  kScaledDot,  // V1: q_i . k_j / sqrt(head_dim)                          (arXiv:2103.14030, equation 4)
  kCosine,     // V2: exp(min(logit_scale[head], ln 100)) * cos(q_i, k_j) (arXiv:2111.09883, equation 2)
};

// ln(1 / 0.01), the largest natural logarithm of the cosine scale.
inline constexpr double kMaxLogitScale = 4.605170185988092;

// Multi-head self-attention within (shifted) windows, from and to image order:
//   score = as above + bias_table[bias_table_row(i, j), head] + (kWindowMask where the window regions
//   differ), out_i = sum_j softmax_j(score_ij) * v_j.
// In the cosine form vectors are divided by max(norm, 1e-12), so that a zero vector has cosine 0 with
// everything.
struct WindowAttentionShape {
  WindowGrid grid{};  // with the effective window and shift: see effective_window()
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  AttentionScore score = AttentionScore::kScaledDot;
  int spare_multiprocessors = 0;  // that the backward kernel on the device leaves to a kernel that runs beside it

  constexpr std::int64_t channels() const { return heads * head_dim; }
};

// Padding: where the map is no multiple of the window, the reference pads the *input of the qkv projection*
// with zero tokens, which therefore take part as keys and values with q, k, v equal to the projection's bias.
// `pad_qkv` is that bias; it is needed if grid.padded() only (null means zeros).
template <typename T>
struct WindowAttentionInputs {
  const T* qkv = nullptr;          // [tokens, 3, heads, head_dim]
  const T* bias_table = nullptr;   // [bias_table_rows(window), heads]
  const T* logit_scale = nullptr;  // [heads], natural logarithm, unclamped; kCosine only
  const T* pad_qkv = nullptr;      // [3, heads, head_dim] or null
};

template <typename T>
struct WindowAttentionGradients {
  T* qkv = nullptr;          // overwritten
  T* bias_table = nullptr;   // accumulated into
  T* logit_scale = nullptr;  // accumulated into; kCosine only; zero above the clamp
  // Accumulated into: what the padding adds to the gradient of the qkv bias. May be null. In the cosine form
  // a padded key of norm zero gets a gradient of order 1e12 (that of x / max(norm, 1e-12)): ignore the k
  // third where the model has no k bias.
  T* pad_qkv = nullptr;
};

// Forward: q k^T and p v. Backward: the four gradient products; p is recomputed and that is not counted.
// Padded tokens are counted as the work they are.
OperationCost window_attention_forward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes);
OperationCost window_attention_backward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes);

namespace cpu {

// out: [tokens, heads, head_dim]; lse: [tokens, heads], log of the sum of exponentials of a query's scores,
// needed by the backward pass, or null. Throws std::invalid_argument for a missing input or a shift not
// smaller than the window.
template <typename T>
void window_attention_forward(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, T* out,
                              std::type_identity_t<T>* lse);

// Doubles that window_attention_backward needs as workspace: partial sums of the parameter gradients, added
// up in order.
std::int64_t window_attention_backward_workspace(const WindowAttentionShape& shape);

// dout: [tokens, heads, head_dim]. Scores are recomputed from qkv and lse.
template <typename T>
void window_attention_backward(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, const T* lse,
                               const T* dout, const WindowAttentionGradients<T>& gradients, double* workspace);

}  // namespace cpu
namespace cuda {

// How the tokens of qkv and out stand: as in the image, rows found by address, or window after window (then padding has
// rows of its own, and pad_qkv is not read).
enum class TokenOrder : std::uint8_t { kImage, kWindow };

struct WindowAttentionTensors {
  const void* qkv = nullptr;           // [tokens, 3, heads, head_dim]
  const void* bias = nullptr;          // by expand_attention_bias()
  const float* logit_scale = nullptr;  // [heads]; kCosine only
  const void* pad_qkv = nullptr;       // [3, heads, head_dim]; needed if grid.padded() and kImage
  void* out = nullptr;                 // [tokens, heads, head_dim]
  float* lse = nullptr;                // [tokens, heads] or null
  // On tensor cores:
  bool backwards = false;  // from the last window to the first: the same bits
  Eviction out_eviction = Eviction::kNormal;
  // Positive: in 8 bits, and what those are multiplied by; of fp16 in the image's order, qkv without padding.
  ByteFormat byte_format = ByteFormat::kNone;
  float out_scale = 0.0F;
  float qkv_scale = 0.0F;
  ByteCopy copy = {};  // of out; of fp16 on tensor cores, where neither qkv nor out has 8 bits
};

// Whether a window's scores stay in the registers of tensor core products: 16-bit types, heads of 32 channels, at most
// 64 tokens. Everything else takes the general path in fp32 arithmetic, for up to 576 tokens and heads of 16 or 32.
bool attention_on_tensor_cores(const WindowAttentionShape& shape, ElementType type);

// From a table [bias_table_rows(window), heads] in fp32 to one value for each pair of tokens, in the order in which the
// kernel reads them. Done once, when weights are loaded.
std::int64_t attention_bias_bytes(const WindowAttentionShape& shape, ElementType type);
void expand_attention_bias(const WindowAttentionShape& shape, ElementType type, const float* table, void* bias,
                           Stream stream);

// The whole operation as one kernel. Sums, softmax and, in the cosine form, norms are in fp32; probabilities are
// rounded to the element type for the second product.
void window_attention_forward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                              const WindowAttentionTensors& tensors, Stream stream);

struct WindowAttentionGradientTensors {
  // As in the forward pass.
  const void* qkv = nullptr;
  const void* bias = nullptr;  // by expand_attention_bias()
  const float* logit_scale = nullptr;
  const void* pad_qkv = nullptr;
  const float* lse = nullptr;     // that the forward pass left
  const void* dout = nullptr;     // [tokens, heads, head_dim]
  void* dqkv = nullptr;           // [tokens, 3, heads, head_dim], overwritten; not qkv
  float* dtable = nullptr;        // [bias_table_rows(window), heads]
  float* dlogit_scale = nullptr;  // [heads]; kCosine only; 0 above the clamp
  // [3, heads, head_dim], the gradient of the qkv bias: the sums of dqkv's rows and, where a map in image order is
  // padded, of padding's, whose q, k and v are that bias.
  float* dqkv_bias = nullptr;
  bool accumulate = false;  // dtable, dlogit_scale and dqkv_bias are added to, else overwritten
  void* workspace = nullptr;
  ByteCopy copy = {};  // of dqkv; of fp16 on tensor cores
};

std::int64_t attention_backward_workspace_bytes(const WindowAttentionShape& shape, ElementType type, TokenOrder order);

// Unlike the CPU's, a vector of norm zero gets no gradient in the cosine form: the exact one, of order 1e12, would be
// infinite in 16 bits, and V2's keys of padding are such vectors, whose gradient the weights' product multiplies by 0.
// Probabilities are computed again from q, k and the LSE: nothing of the size of the scores is ever in memory. The
// parameters' gradients are summed up in stages of fixed order: the same input gives the same bits on the same GPU.
void window_attention_backward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                               const WindowAttentionGradientTensors& tensors, Stream stream);

}  // namespace cuda

}  // namespace swinscope
