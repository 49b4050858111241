// The general path of cuda::window_attention_forward(): any window of up to 576 tokens, any element type, fp32
// arithmetic.
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda {

// [heads, keys, queries] in fp32.
std::int64_t general_bias_bytes(const WindowAttentionShape& shape);
void expand_general_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream);
void general_attention(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                       const WindowAttentionTensors& tensors, Stream stream);

}  // namespace swinscope::cuda
