#include <algorithm>

#include <fmt/format.h>

#include "kernels/convert.h"
#include "kernels/layernorm.h"
#include "kernels/window_attention.h"
#include "workloads/models/model_table.h"
#include "workloads/program/peaks_measure.h"

namespace swinscope {
namespace {

constexpr ElementType kType = ElementType::kFp16;

// Random values in fp16, and several places in them, so that a launch does not find what the one before left in the
// cache.
class Places {
 public:
  Places(std::int64_t elements, cuda::Stream stream)
      : bytes_((elements * element_bytes(kType) + 255) / 256 * 256),
        buffer_(bytes_ * std::max<std::int64_t>(1, kPool / bytes_)) {
    cuda::fill_random(buffer_.bytes() / element_bytes(kType), kType, 1, buffer_.data(), stream);
  }
  void* at(int launch) const {
    return static_cast<char*>(buffer_.data()) + launch % (buffer_.bytes() / bytes_) * bytes_;
  }

 private:
  static constexpr std::int64_t kPool = std::int64_t{256} << 20;

  std::int64_t bytes_;
  cuda::DeviceBuffer buffer_;
};

KernelRate rate_of(const std::string& name, const OperationCost& cost, double microseconds) {
  return {name, microseconds, static_cast<double>(cost.bytes_read + cost.bytes_written) * 1e-3 / microseconds};
}

KernelRate measure_norm(const std::string& name, const LayerNormShape& shape, bool residual) {
  const cuda::OwnedStream stream;
  const Places x(shape.rows * shape.channels, stream.get());
  const Places y(shape.rows * shape.channels, stream.get());
  const Places scale(shape.channels, stream.get());
  OperationCost cost = layernorm_forward_cost(shape, element_bytes(kType));
  if (residual) cost.bytes_read += shape.rows * shape.channels * element_bytes(kType);
  return rate_of(name, cost, time_in_graph(stream.get(), [&](int launch) {
                   // The residual stream is updated in place.
                   cuda::layernorm_forward(
                       shape, kType,
                       {x.at(launch), scale.at(0), scale.at(1), y.at(launch), residual ? y.at(launch) : nullptr},
                       stream.get());
                 }));
}

KernelRate measure_attention(const std::string& name, const WindowAttentionShape& shape) {
  const cuda::OwnedStream stream;
  const std::int64_t elements = shape.grid.tokens() * shape.channels();
  const Places qkv(3 * elements, stream.get());
  const Places out(elements, stream.get());
  const std::int64_t table_values = bias_table_rows(shape.grid.window) * shape.heads;
  const cuda::DeviceBuffer floats((table_values + shape.heads) * 4);
  cuda::fill_random(table_values + shape.heads, ElementType::kFp32, 1, floats.data(), stream.get());
  const auto* const table = static_cast<const float*>(floats.data());
  const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(shape, kType));
  cuda::expand_attention_bias(shape, kType, table, bias.data(), stream.get());
  OperationCost cost = window_attention_forward_cost(shape, element_bytes(kType));
  cost.bytes_written -= shape.grid.tokens() * shape.heads * element_bytes(kType);  // no LSE
  return rate_of(name, cost, time_in_graph(stream.get(), [&](int launch) {
                   cuda::WindowAttentionTensors tensors;
                   tensors.qkv = qkv.at(launch);
                   tensors.bias = bias.data();
                   tensors.logit_scale = table + table_values;
                   tensors.out = out.at(launch);
                   cuda::window_attention_forward(shape, kType, cuda::TokenOrder::kImage, tensors, stream.get());
                 }));
}

}  // namespace

std::vector<KernelRate> measure_kernels(std::int64_t batch) {
  std::vector<KernelRate> rates;
  for (const char* const model : {"swin_base", "swinv2_base"}) {
    const SwinConfig& config = find_model(model);
    for (int stage = 0; stage < config.stages; ++stage) {
      const StageShape shape = stage_shape(config, stage);
      const auto name = [&](const char* part) {
        return fmt::format("{} stage{}.{} batch {}", model, stage + 1, part, batch);
      };
      rates.push_back(measure_norm(name("norm1"), {batch * shape.resolution * shape.resolution, shape.width},
                                   normalizes_results(config)));
      rates.push_back(measure_attention(
          name("attn.window"),
          {{batch, {shape.resolution, shape.resolution}, {shape.window, shape.window}, {shape.shift, shape.shift}},
           shape.heads,
           shape.width / shape.heads,
           attention_score(config)}));
    }
  }
  return rates;
}

}  // namespace swinscope
