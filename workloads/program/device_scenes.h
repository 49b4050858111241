// swin infer --task segmentation --device cuda.
#pragma once

#include "workloads/cuda/device_segmenter.h"
#include "workloads/models/model_table.h"
#include "workloads/program/device_commands.h"

namespace swinscope {

// What the options mean for the model; sets the precision where none was given, and the form of GELU. Throws
// WorkloadError (kUsage) for what only classification has.
DeviceSegmenterOptions segmenter_options(InferOptions& options);

// As infer_scenes(), on the current device, with what segmenter_options() gave: synthetic scenes are one batch, copied
// once, and measured as those of a classifier are.
int infer_scenes_on_device(const InferOptions& options, const SwinConfig& config, const DeviceSegmenterOptions& choice);

}  // namespace swinscope
