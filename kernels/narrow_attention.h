// Attention half of Swin's blocks with few channels, as far as the attended values, as one kernel: in V1 with the
// normalization before it. Compute capability 9.0, fp16 and bf16.
#pragma once

#include "kernels/qkv_attention.h"

namespace swinscope::cuda {

// Whether the GPU has it: 128 or 256 channels, heads of 32, windows of at most 56 tokens (with the
// cosine 64), a map without padding.
bool narrow_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu);
// Whether there are at least two windows for each multiprocessor: with fewer, each taken head by head, operations apart
// are faster.
bool narrow_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu);
// x is normalized, with gamma and beta, where the score is the scaled dot product, and is not with the cosine.
void narrow_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                              Stream stream);

}  // namespace swinscope::cuda
