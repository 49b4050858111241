// The device buffers of a forward pass. No value outlives the block that wrote it but the residual stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/device.h"
#include "workloads/cuda/features.h"
#include "workloads/model_table.h"

namespace swinscope {

// In elements; token counts are those of the stage that needs most.
struct ActivationSizes {
  std::int64_t images = 0;   // [batch, 3, size, size]
  std::int64_t columns = 0;  // patches
  std::int64_t stream = 0;   // [tokens, C], twice: the residual stream before and after a merging
  std::int64_t token = 0;    // [rows, C]: rows include the windows' padding where windows are copied
  std::int64_t token_buffers = 0;
  std::int64_t wide = 0;    // [rows, 4C]: qkv, hidden
  std::int64_t heads = 0;   // q, k, v and the attended values of all windows' heads; attention step by step only
  std::int64_t scores = 0;  // fp32, and again as probabilities
  std::int64_t norms = 0;   // fp32, of q and of k
  std::int64_t pooled = 0;
  std::int64_t logits = 0;  // and again in fp32

  std::int64_t bytes(ElementType type) const;
};

ActivationSizes activation_sizes(const SwinConfig& config, std::int64_t batch, const Features& features);

struct Activations {
  Activations(const ActivationSizes& sizes, ElementType type);
  void poison(cuda::Stream stream);  // all but the images

  cuda::DeviceBuffer images, columns;
  std::array<cuda::DeviceBuffer, 2> streams;
  std::array<cuda::DeviceBuffer, 4> tokens;
  cuda::DeviceBuffer wide, heads, scores, probabilities, norms, pooled, logits, float_logits;
};

}  // namespace swinscope
