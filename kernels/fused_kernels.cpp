// What the fused kernels of inference cost, which GPUs have them, and from how many rows on they are faster than
// separate ones: decided by shapes and by what is known of a GPU, so that the choice is made (and tested) without one.
#include "kernels/linear.h"
#include "kernels/narrow_attention.h"
#include "kernels/narrow_block.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_embed.h"
#include "kernels/qkv_attention.h"

namespace swinscope::cuda {
namespace {

constexpr std::int64_t kHeadDim = 32;                      // of attention on tensor cores
constexpr std::int64_t kMostScaledTokens = 56;             // of a window, with the scaled dot product
constexpr std::int64_t kMostRows = std::int64_t{1} << 30;  // counted in 32 bits, beyond the last one by those of a turn

// They are made of WGMMA and TMA as compute capability 9.0 has them.
bool is_hopper(const DeviceInfo& gpu) { return gpu.major == 9; }

// Rows, in tiles, occupy at least half of the GPU.
bool fill_half(std::int64_t rows, std::int64_t tile, const DeviceInfo& gpu) {
  return rows / tile >= gpu.multiprocessors / 2;
}

bool has_tensor_core_windows(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu) {
  const std::int64_t most = shape.score == AttentionScore::kCosine ? kMostAttentionTokens : kMostScaledTokens;
  return is_hopper(gpu) && type != ElementType::kFp32 && shape.head_dim == kHeadDim &&
         shape.grid.window_tokens() <= most;
}

// Tensors of 128 channels read and written, and what else is read.
OperationCost cost_of(const NarrowShape& shape, std::int64_t read, std::int64_t written, std::int64_t weights,
                      std::int64_t vectors) {
  constexpr std::int64_t kElementBytes = 2;
  return {2 * shape.rows * weights, (shape.rows * read * kNarrowChannels + weights + vectors) * kElementBytes,
          shape.rows * written * kNarrowChannels * kElementBytes};
}
constexpr std::int64_t kMlpWeights = 2 * kNarrowChannels * kNarrowHidden;
constexpr std::int64_t kMlpVectors = kNarrowHidden + 3 * kNarrowChannels;

}  // namespace

bool narrow_block_offered(ElementType type, const DeviceInfo& gpu) {
  return type != ElementType::kFp32 && is_hopper(gpu);
}
bool narrow_block_pays(std::int64_t rows, const DeviceInfo& gpu) { return fill_half(rows, kNarrowTileRows, gpu); }

bool normalized_rows_offered(const NormalizedRowsShape& shape, const DeviceInfo& gpu) {
  return shape.type != ElementType::kFp32 && shape.inputs == kNormalizedRowsInputs && shape.outputs > 0 &&
         shape.outputs % kNormalizedRowsColumns == 0 && shape.outputs <= kMostNormalizedRowsOutputs &&
         shape.rows <= kMostRows && is_hopper(gpu);
}
bool normalized_rows_pays(const NormalizedRowsShape& shape, const DeviceInfo& gpu) {
  return fill_half(shape.rows, kNormalizedTileRows, gpu);
}

bool normalized_patch_embed_offered(const PatchEmbedShape& shape, ElementType type, const DeviceInfo& gpu) {
  constexpr std::int64_t kPatch = 4;
  return type != ElementType::kFp32 && shape.channels == 3 && shape.patch == kPatch && shape.height % kPatch == 0 &&
         shape.width % kPatch == 0 && shape.outputs == kNarrowChannels && shape.tokens() <= kMostRows && is_hopper(gpu);
}

bool narrow_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu) {
  return has_tensor_core_windows(shape, type, gpu) && (shape.channels() == 128 || shape.channels() == 256) &&
         !shape.grid.padded();
}
bool narrow_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu) {
  return shape.grid.window_count() >= std::int64_t{2} * gpu.multiprocessors;
}

bool qkv_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu) {
  return has_tensor_core_windows(shape, type, gpu) && shape.channels() % 64 == 0 &&
         shape.channels() <= kMostQkvAttentionChannels;
}
bool qkv_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu) {
  return shape.grid.window_tokens() == kMostAttentionTokens &&
         shape.grid.window_count() * shape.heads >= std::int64_t{8} * gpu.multiprocessors;
}

bool normalized_qkv_attention_offered(const WindowAttentionShape& shape, ElementType type, const DeviceInfo& gpu) {
  return shape.score == AttentionScore::kScaledDot && narrow_attention_offered(shape, type, gpu);
}
bool normalized_qkv_attention_pays(const WindowAttentionShape& shape, const DeviceInfo& gpu) {
  return narrow_attention_pays(shape, gpu);
}

OperationCost narrow_mlp_cost(const NarrowShape& shape) { return cost_of(shape, 1, 1, kMlpWeights, kMlpVectors); }
OperationCost narrow_block_end_cost(const NarrowShape& shape) {
  return cost_of(shape, 2, 1, kMlpWeights + kNarrowChannels * kNarrowChannels, kMlpVectors + kNarrowChannels);
}
OperationCost narrow_qkv_cost(const NarrowShape& shape) {
  return cost_of(shape, 1, 3, 3 * kNarrowChannels * kNarrowChannels, 5 * kNarrowChannels);
}

OperationCost normalized_rows_cost(const NormalizedRowsShape& shape) {
  const std::int64_t bytes = element_bytes(shape.type);
  OperationCost cost = linear_forward_cost({shape.rows, shape.inputs, shape.outputs, true}, bytes);
  cost.bytes_read += 2 * shape.inputs * bytes;
  return cost;
}

OperationCost normalized_patch_embed_cost(const PatchEmbedShape& shape, std::int64_t element_bytes) {
  return {2 * shape.column_elements() * shape.outputs,
          (shape.column_elements() + shape.outputs * (shape.column_length() + 3)) * element_bytes,
          shape.tokens() * shape.outputs * element_bytes};
}

OperationCost qkv_attention_forward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes) {
  const std::int64_t channels = shape.channels();
  OperationCost cost = window_attention_forward_cost(shape, element_bytes);
  cost.flops += linear_forward_cost({shape.grid.tokens(), channels, 3 * channels, true}, element_bytes).flops;
  cost.bytes_read += (3 * channels * (channels + 1) - 2 * shape.grid.tokens() * channels) * element_bytes;
  cost.bytes_written -= shape.grid.tokens() * shape.heads * element_bytes;  // no LSE
  return cost;
}

}  // namespace swinscope::cuda
