// Translates a device trainer's options into those of its parts: AdamW, the builder of the step, the memory layout.
#pragma once

#include <vector>

#include "kernels/multi_tensor_adamw.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/parameters.h"

namespace swinscope {

cuda::AdamWSettings adamw_settings(const DeviceTrainerOptions& options);
std::vector<cuda::AdamWSpan> adamw_spans(const ParameterLayout& layout, double weight_decay);
// `ranks`: null for one alone.
TrainingBuildOptions build_options(const DeviceTrainerOptions& options, DeviceCommunicator* ranks,
                                   PrepareConvolution prepare_convolution);
TrainingLayoutOptions layout_options(const DeviceTrainerOptions& options, const DeviceCommunicator* ranks);

}  // namespace swinscope
