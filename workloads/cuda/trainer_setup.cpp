#include "workloads/cuda/trainer_setup.h"

#include <cstdint>
#include <utility>

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
  if (options.precision == Precision::kFp16) settings.growth_interval = kGrowthInterval;
  return settings;
}

std::vector<cuda::AdamWSpan> adamw_spans(const ParameterLayout& layout, double weight_decay) {
  std::vector<cuda::AdamWSpan> spans;
  for (const ParameterInfo& tensor : layout.tensors())
    spans.push_back({tensor.offset, tensor.count, tensor.decays ? weight_decay : 0.0});
  return spans;
}

TrainingBuildOptions build_options(const DeviceTrainerOptions& options, DeviceCommunicator* ranks,
                                   PrepareConvolution prepare_convolution) {
  return {options.precision,
          training_features(options.features),
          options.recompute,
          options.trainer.label_smoothing,
          options.trainer.drop_path,
          options.trainer.seed,
          std::move(prepare_convolution),
          ranks,
          options.trainer.tap_fusion,
          ranks == nullptr ? 0 : options.spare_multiprocessors};
}

TrainingLayoutOptions layout_options(const DeviceTrainerOptions& options, const DeviceCommunicator* ranks) {
  TrainingLayoutOptions result = layout_options(options);
  if (ranks != nullptr) {
    result.ranks = ranks->size();
    result.reduce_by_copies = options.reduce_by_copies;
  }
  return result;
}

}  // namespace swinscope
