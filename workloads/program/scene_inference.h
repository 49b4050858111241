// `swin infer --task segmentation` on the CPU: a class for each pixel of JPEG files, or the time of synthetic scenes.
#pragma once

#include "workloads/model_table.h"
#include "workloads/program/device_commands.h"

namespace swinscope {

// Sets what the task decides. Throws WorkloadError (kUsage) for what only classification has, and for options that are
// missing another one; kInput for weights that cannot be read.
void prepare_scene_inference(const InferOptions& options, SwinConfig& config);

// Options for segmentation where the task is another: throws WorkloadError (kUsage).
void refuse_scene_options(const InferOptions& options);

// Segments the files of --images once, batch by batch, names and counts what cannot be read, writes masks where
// --output says so, and judges them where --annotations are given; or measures --steps batches of synthetic scenes.
// Prints the summary. Throws WorkloadError: kInput where no file can be read, kFailure where logits are not finite or a
// mask cannot be written. Returns the exit status: that of damaged input when files were skipped.
int infer_scenes(const InferOptions& options, const SwinConfig& config);

}  // namespace swinscope
