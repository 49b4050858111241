#include "workloads/redraw.h"

#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/parallel.h"

namespace swinscope {
namespace {

constexpr double kLn200 = 5.298317366548036;
constexpr std::int64_t kGrain = 1 << 16;

}  // namespace

RedrawRule redraw_rule(std::string_view name, std::span<const std::int64_t> shape) {
  if (name == "input.image" || name.ends_with("relative_position_bias_table") || name.ends_with("cpb_mlp.0.weight")) {
    return {-0.5, std::sqrt(12.0)};
  }
  if (name.ends_with("logit_scale")) return {0.0, kLn200};
  if (name.ends_with("bias")) return {-0.5, std::sqrt(0.48)};
  if (shape.size() == 1 && name.ends_with(".weight")) return {0.5, 1.0};
  const std::int64_t fan_in =
      shape.empty() ? 1 : std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  return {-0.5, std::sqrt(12.0 / static_cast<double>(fan_in))};
}

template <typename T>
void redraw_tensor(std::string_view name, std::span<const std::int64_t> shape, std::uint64_t seed,
                   std::span<T> values) {
  const HashStream stream(name, seed);
  const RedrawRule rule = redraw_rule(name, shape);
  cpu::parallel_ranges(static_cast<std::int64_t>(values.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      values[index] = static_cast<T>(static_cast<float>(rule.scale * (stream.unit(index) + rule.shift)));
    }
  });
}

template <typename T>
void redraw_parameters(ParameterStore<T>& store, std::uint64_t seed) {
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    redraw_tensor<T>(tensor.name, tensor.shape, seed, store.values(tensor));
  }
}

template <typename T>
std::uint64_t redraw_checksum(std::span<const T> values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(values[i]));
    sum += (bits + 1) * (2 * static_cast<std::uint64_t>(i) + 1);
  }
  return sum;
}

template void redraw_tensor<float>(std::string_view, std::span<const std::int64_t>, std::uint64_t, std::span<float>);
template void redraw_tensor<double>(std::string_view, std::span<const std::int64_t>, std::uint64_t, std::span<double>);
template void redraw_parameters<float>(ParameterStore<float>&, std::uint64_t);
template void redraw_parameters<double>(ParameterStore<double>&, std::uint64_t);
template std::uint64_t redraw_checksum<float>(std::span<const float>);
template std::uint64_t redraw_checksum<double>(std::span<const double>);

}  // namespace swinscope
