#include "workloads/initialize.h"

#include <cmath>
#include <span>
#include <string>

#include "workloads/redraw.h"

namespace swinscope {
namespace {

template <typename T>
void initialize_tensor(const ParameterInfo& tensor, std::span<T> values, SwinVersion version, std::uint64_t seed) {
  const std::string& name = tensor.name;
  const HashStream stream(name, seed);
  const bool norm_weight = redraw_rule(name, tensor.shape).shift == 0.5;
  const bool post_norm =
      version == SwinVersion::kV2 && (name.ends_with("norm1.weight") || name.ends_with("norm2.weight"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = 0.0;
    if (norm_weight) {
      value = post_norm ? 0.0 : 1.0;
    } else if (name.ends_with("logit_scale")) {
      value = 2.302585092994046;  // ln 10
    } else if (name == "patch_embed.proj.weight") {
      value = (2.0 * stream.unit(i) - 1.0) /
              std::sqrt(static_cast<double>(tensor.count) / static_cast<double>(tensor.shape[0]));
    } else if (!name.ends_with("bias")) {
      value = 0.02 * stream.normal(i);
    }
    values[i] = static_cast<T>(value);
  }
}

}  // namespace

template <typename T>
void initialize_parameters(ParameterStore<T>& store, SwinVersion version, std::uint64_t seed) {
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    initialize_tensor<T>(tensor, store.values(tensor), version, seed);
  }
}

template void initialize_parameters<float>(ParameterStore<float>&, SwinVersion, std::uint64_t);
template void initialize_parameters<double>(ParameterStore<double>&, SwinVersion, std::uint64_t);

}  // namespace swinscope
