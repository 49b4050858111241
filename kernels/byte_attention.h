// Window attention whose q, k and v come in 8 bits (compute capability 9.0).
#pragma once

#include "kernels/window_attention.h"

namespace swinscope::cuda {

// As window_attention_forward(), of V1's scores in image order without padding; tensors.qkv_scale is positive.
// Probabilities are rounded to fp16, and the result is fp16 or, where tensors.out_scale is positive, of the format of
// qkv.
void byte_attention_forward(const WindowAttentionShape& shape, const WindowAttentionTensors& tensors, Stream stream);

}  // namespace swinscope::cuda
