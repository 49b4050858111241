#include "workloads/initialize.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "kernels/parallel.h"
#include "workloads/redraw.h"

namespace swinscope {
namespace {

// Elements that a thread takes at a time.
constexpr std::int64_t kPiece = 1 << 16;

// Sets element i to value(i), which depends on i alone, so that the number of threads changes nothing.
template <typename T, typename Value>
void fill(std::span<T> values, const Value& value) {
  const auto count = static_cast<std::int64_t>(values.size());
  cpu::parallel_for((count + kPiece - 1) / kPiece, [&](std::int64_t piece) {
    const std::int64_t end = std::min(count, (piece + 1) * kPiece);
    for (std::int64_t i = piece * kPiece; i < end; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<T>(value(static_cast<std::uint64_t>(i)));
  });
}

template <typename T>
void initialize_tensor(const ParameterInfo& tensor, std::span<T> values, SwinVersion version, std::uint64_t seed) {
  const std::string& name = tensor.name;
  const HashStream stream(name, seed);
  if (redraw_rule(name, tensor.shape).shift == 0.5) {  // the weight of a normalization
    const bool post_norm =
        version == SwinVersion::kV2 && (name.ends_with(".norm1.weight") || name.ends_with(".norm2.weight"));
    std::ranges::fill(values, static_cast<T>(post_norm ? 0.0 : 1.0));
  } else if (name.ends_with("logit_scale")) {
    std::ranges::fill(values, static_cast<T>(2.302585092994046));  // ln 10
  } else if (name == "patch_embed.proj.weight") {
    const double inputs = static_cast<double>(tensor.count) / static_cast<double>(tensor.shape[0]);
    fill(values, [&](std::uint64_t i) { return (2.0 * stream.unit(i) - 1.0) / std::sqrt(inputs); });
  } else if (name.ends_with("bias")) {
    std::ranges::fill(values, T{});
  } else {
    fill(values, [&](std::uint64_t i) { return 0.02 * stream.normal(i); });
  }
}

}  // namespace

template <typename T>
void initialize_parameters(ParameterStore<T>& store, SwinVersion version, std::uint64_t seed) {
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    initialize_tensor<T>(tensor, store.values(tensor), version, seed);
  }
  for (const ParameterInfo& buffer : store.layout().buffers())
    std::ranges::fill(store.buffer(buffer), static_cast<T>(buffer.name.ends_with("running_var") ? 1.0 : 0.0));
}

template void initialize_parameters<float>(ParameterStore<float>&, SwinVersion, std::uint64_t);
template void initialize_parameters<double>(ParameterStore<double>&, SwinVersion, std::uint64_t);

}  // namespace swinscope
