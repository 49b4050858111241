// Patch merging's gather of 2 x 2 tokens into one of 4C channels, and its gradient, on the CPU and on the device. The
// normalization and the reduction around it are layernorm.h's and a GEMM.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Patch merging gathers each 2 x 2 block of tokens into one of 4C channels (Liu et al. 2021,
// arXiv:2103.14030, section 3.1). With (dy, dx) the place in the block, the channel groups stand in the order
// (0,0), (1,0), (0,1), (1,1), the order of the published weights. Odd maps are padded with zeros below and to
// the right. The normalization and the 4C -> 2C reduction are layernorm and linear (V1: normalize 4C, then
// reduce; V2: reduce, then normalize 2C).
struct PatchMergeShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  constexpr std::int64_t merged_height() const { return (height + 1) / 2; }
  constexpr std::int64_t merged_width() const { return (width + 1) / 2; }
  constexpr std::int64_t merged_tokens() const { return batch * merged_height() * merged_width(); }
};

OperationCost patch_merge_forward_cost(const PatchMergeShape& shape, std::int64_t element_bytes);
OperationCost patch_merge_backward_cost(const PatchMergeShape& shape, std::int64_t element_bytes);

namespace cpu {

// x: [batch, height, width, C]; y: [merged_tokens(), 4C]. They must not overlap.
template <typename T>
void patch_merge_forward(const PatchMergeShape& shape, const T* x, T* y);

// dx is overwritten; the gradient of padding is dropped.
template <typename T>
void patch_merge_backward(const PatchMergeShape& shape, const T* dy, T* dx);

}  // namespace cpu
namespace cuda {

// channels must be a multiple of 8.
void patch_merge_forward(const PatchMergeShape& shape, ElementType type, const void* x, void* y, Stream stream);
// (Where the merged tokens are normalized at once, as in V1, layernorm_backward() does it by itself.)
void patch_merge_backward(const PatchMergeShape& shape, ElementType type, const void* dy, void* dx, Stream stream);

}  // namespace cuda

}  // namespace swinscope
