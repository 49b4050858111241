// Translates a device trainer's options into those of AdamW.
#pragma once

#include <vector>

#include "kernels/multi_tensor_adamw.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/parameters.h"

namespace swinscope {

cuda::AdamWSettings adamw_settings(const DeviceTrainerOptions& options);
std::vector<cuda::AdamWSpan> adamw_spans(const ParameterLayout& layout, double weight_decay);

}  // namespace swinscope
