// swin infer --images: classifies JPEG files, on whatever device.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/images/image_files.h"
#include "workloads/models/model_table.h"
#include "workloads/program/run_options.h"

namespace swinscope {

// images [batch, 3, size, size] -> logits [batch, classes].
using ClassifyBatch = std::function<std::vector<float>(std::span<const float> images)>;

// Goes through the files batch by batch, measures each batch's classification (after `warmup` repetitions of the
// first), prints each file's class and its probability, and names and counts what could not be read. `document`: as
// from start_document(). Throws WorkloadError: kInput where no file can be read, kFailure where logits are not finite.
// Returns the exit status: that of damaged input when files were skipped.
int classify_files(ImageReader reader, const RunOptions& options, const SwinConfig& config,
                   nlohmann::ordered_json document, const ClassifyBatch& classify);

}  // namespace swinscope
