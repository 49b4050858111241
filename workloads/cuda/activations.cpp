#include "workloads/cuda/activations.h"

namespace swinscope {
namespace {

// Without copies a block needs the normalized input (V2: what is to be normalized) and the attended values.
constexpr std::int64_t kTokenBuffers = 2;
constexpr std::int64_t kTokenBuffersWithCopies = 4;

}  // namespace

ActivationSizes activation_sizes(const SwinConfig& config, std::int64_t batch, const Features& features) {
  ActivationSizes sizes;
  sizes.images = batch * kImageChannels * config.image_size * config.image_size;
  sizes.columns = sizes.images;
  sizes.token_buffers = features.window ? kTokenBuffers : kTokenBuffersWithCopies;
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    const std::int64_t tokens = batch * shape.resolution * shape.resolution;
    const std::int64_t area = std::int64_t{shape.window} * shape.window;
    const std::int64_t side = (shape.resolution + shape.window - 1) / shape.window;
    const std::int64_t windows = batch * side * side;
    const std::int64_t rows = features.window ? tokens : std::max(tokens, windows * area);
    sizes.stream = std::max(sizes.stream, tokens * shape.width);
    sizes.token = std::max(sizes.token, rows * shape.width);
    sizes.wide = std::max(sizes.wide, kMlpRatio * rows * shape.width);
    if (!features.attention) {
      const std::int64_t padded = (area + 7) / 8 * 8;
      sizes.heads = std::max(sizes.heads, 4 * windows * padded * shape.width);
      sizes.scores = std::max(sizes.scores, windows * shape.heads * padded * padded);
      sizes.norms = std::max(sizes.norms, 2 * windows * shape.heads * padded);
    }
  }
  sizes.pooled = batch * stage_shape(config, config.stages - 1).width;
  sizes.logits = batch * config.classes;
  return sizes;
}

std::int64_t ActivationSizes::bytes(ElementType type) const {
  const std::int64_t elements =
      images + columns + 2 * stream + token_buffers * token + wide + heads + scores + pooled + logits;
  return elements * element_bytes(type) + (scores + norms + logits) * element_bytes(ElementType::kFp32);
}

Activations::Activations(const ActivationSizes& sizes, ElementType type) {
  const auto of_type = [type](std::int64_t count) { return cuda::DeviceBuffer(count * element_bytes(type)); };
  const auto of_floats = [](std::int64_t count) {
    return cuda::DeviceBuffer(count * element_bytes(ElementType::kFp32));
  };
  images = of_type(sizes.images);
  columns = of_type(sizes.columns);
  for (cuda::DeviceBuffer& stream : streams)
    stream = of_type(sizes.stream);
  for (std::int64_t i = 0; i < sizes.token_buffers; ++i)
    tokens[static_cast<std::size_t>(i)] = of_type(sizes.token);
  wide = of_type(sizes.wide);
  heads = of_type(sizes.heads);
  scores = of_floats(sizes.scores);
  probabilities = of_type(sizes.scores);
  norms = of_floats(sizes.norms);
  pooled = of_type(sizes.pooled);
  logits = of_type(sizes.logits);
  float_logits = of_floats(sizes.logits);
}

void Activations::poison(cuda::Stream stream) {
  for (cuda::DeviceBuffer* buffer : {&columns, &streams[0], &streams[1], &tokens[0], &tokens[1], &tokens[2], &tokens[3],
                                     &wide, &heads, &scores, &probabilities, &norms, &pooled, &logits, &float_logits}) {
    buffer->poison(stream);
  }
}

}  // namespace swinscope
