// What a checkpoint says of the training beside its tensors: JSON in the metadata of the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/delayed_scale.h"
#include "workloads/safetensors.h"

namespace swinscope {

// Key of the metadata.
inline constexpr const char* kCheckpointKey = "swin.checkpoint";

struct CheckpointState {
  std::int64_t steps_done = 0;
  std::int64_t optimizer_steps = 0;  // fewer, if steps were skipped
  std::map<std::string, std::string> settings;
  // Of a device: the loss scale, its steps since it changed, and which products were computed how
  // (MatmulLibrary::choices).
  double loss_scale = 1.0;
  std::int64_t good_steps = 0;
  std::string algorithms = {};
  std::vector<DelayedScale> byte_scales = {};  // of what has 8 bits, in the order of the model's graph
};

// As a value of the metadata.
std::string checkpoint_text(const CheckpointState& state);

// Throws WorkloadError (kInput), saying why, for a file without such metadata, and for numbers that no training has.
CheckpointState checkpoint_state(const SafetensorsFile& file);

[[noreturn]] void refuse_checkpoint(const std::filesystem::path& file, const std::string& why);

}  // namespace swinscope
