// What layers' inputs are like on some images, in fp16 on the device: the magnitudes that quantization goes by.
#pragma once

#include <vector>

#include "workloads/cuda/device_model.h"

namespace swinscope {

// Of all layers that can be quantized; batches: of images, [batch, 3, size, size] each. Takes the memory of a model in
// fp16 while it runs.
InputCounts count_inputs(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                         const ParameterStore<float>& store, const std::vector<std::vector<float>>& batches);

}  // namespace swinscope
