// Patch embedding: an NCHW image to NHWC tokens, as im2col and a GEMM, forward and backward, on the CPU. The device has
// the im2col alone, or embedding and normalization as one kernel (Hopper, hopper_patch_embed.cuh).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Non-overlapping convolution of an NCHW image with kernel = stride = patch, giving NHWC tokens
// [batch, height / patch, width / patch, outputs]. The weight is [outputs, channels, patch, patch], as timm's
// PatchEmbed. Computed as im2col (columns of K = channels * patch * patch in weight order) times the weight.
struct PatchEmbedShape {
  std::int64_t batch = 0;
  std::int64_t channels = 3;
  std::int64_t height = 0;  // multiples of patch
  std::int64_t width = 0;
  std::int64_t patch = 4;
  std::int64_t outputs = 0;

  constexpr std::int64_t tokens() const { return batch * (height / patch) * (width / patch); }
  constexpr std::int64_t column_length() const { return channels * patch * patch; }
  constexpr std::int64_t column_elements() const { return tokens() * column_length(); }
};

OperationCost patch_embed_forward_cost(const PatchEmbedShape& shape, std::int64_t element_bytes);
OperationCost patch_embed_backward_cost(const PatchEmbedShape& shape, bool input_gradient, std::int64_t element_bytes);

namespace cpu {

// columns: column_elements() elements, a workspace that the backward pass needs unchanged.
// y: [tokens(), outputs]. bias may be null. Throws std::invalid_argument if patch divides not height and
// width.
template <typename T>
void patch_embed_forward(const PatchEmbedShape& shape, const T* image, const T* weight,
                         const std::type_identity_t<T>* bias, T* columns, T* y);

// dweight += dy^T * columns, dbias += column sums of dy; dimage (overwritten) only where it is not null, and
// then `workspace` must hold column_elements() elements (it may be `columns`, whose content is then lost).
template <typename T>
void patch_embed_backward(const PatchEmbedShape& shape, const T* weight, const T* columns, const T* dy, T* dweight,
                          std::type_identity_t<T>* dbias, std::type_identity_t<T>* dimage,
                          std::type_identity_t<T>* workspace);

}  // namespace cpu
namespace cuda {

// The im2col half: columns [tokens(), column_length()]. The product with the weight is cuda::Matmul's, and so are the
// weight's gradient, dy^T * columns, and the bias's, bias_backward(). patch must be 4.
void patch_columns(const PatchEmbedShape& shape, ElementType type, const void* image, void* columns, Stream stream);

// The whole and the normalization after it as one kernel, without columns in memory: y = LN(columns W^T + b) gamma +
// beta. Tensors are of the type.
struct NormalizedPatchEmbedTensors {
  const void* image = nullptr;   // [batch, channels, height, width]
  const void* weight = nullptr;  // [outputs, channels, patch, patch]
  const void* bias = nullptr;    // [outputs], or null
  const void* gamma = nullptr;   // [outputs], as beta
  const void* beta = nullptr;
  void* y = nullptr;  // [tokens(), outputs]
};
// Whether the GPU has it: compute capability 9.0, fp16 and bf16, three channels, patches of 4, 128
// outputs.
bool normalized_patch_embed_offered(const PatchEmbedShape& shape, ElementType type, const DeviceInfo& gpu);
void normalized_patch_embed_forward(const PatchEmbedShape& shape, ElementType type,
                                    const NormalizedPatchEmbedTensors& tensors, Stream stream);
OperationCost normalized_patch_embed_cost(const PatchEmbedShape& shape, std::int64_t element_bytes);

}  // namespace cuda

}  // namespace swinscope
