#include "workloads/cuda/trainer_setup.h"

#include <cstdint>

#include "workloads/cuda/element_type.h"

namespace swinscope {
namespace {

constexpr std::int32_t kGrowthInterval = 2000;

}  // namespace

cuda::AdamWSettings adamw_settings(const DeviceTrainerOptions& options) {
  const OptimizerOptions& optimizer = options.trainer.optimizer;
  cuda::AdamWSettings settings;
  settings.beta1 = optimizer.beta1;
  settings.beta2 = optimizer.beta2;
  settings.epsilon = optimizer.epsilon;
  settings.clip_norm = optimizer.clip_norm;
  settings.each_span = !options.features.adamw;
  if (element_type_of(options.precision) == ElementType::kFp16) settings.growth_interval = kGrowthInterval;
  return settings;
}

std::vector<cuda::AdamWSpan> adamw_spans(const ParameterLayout& layout, double weight_decay) {
  std::vector<cuda::AdamWSpan> spans;
  for (const ParameterInfo& tensor : layout.tensors())
    spans.push_back({tensor.offset, tensor.count, tensor.decays ? weight_decay : 0.0});
  return spans;
}

}  // namespace swinscope
