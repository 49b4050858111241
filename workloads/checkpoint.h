// The state of a training in a file, from which it goes on as if it had never stopped, to the bit.
//
// FOLDER/checkpoint.safetensors holds the parameters under timm's names (so the file serves as weights, too), running
// statistics under torch's, AdamW's
// moments as optimizer.first_moment.NAME and optimizer.second_moment.NAME, and in the metadata, under
// "swin.checkpoint", JSON: schema, steps done, steps of the optimizer, the settings of the training, and what a device
// adds. Parameters and moments are fp32 on every device (fp64 on the CPU if asked for), so that one may go on where
// another stopped, where their precision is the same: then not to the same bits. Everything else
// that a step needs (the order of the data, crops, stochastic depth) is computed from the seed and the number of the
// step.
//
// The file is written beside the old one, forced to the disk and renamed: at any moment, and after a crash or on a full
// disk, there is one whole checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "workloads/checkpoint_state.h"
#include "workloads/optimizer.h"
#include "workloads/parameters.h"
#include "workloads/safetensors.h"

namespace swinscope {

// The prefix of tensors that are no weights.
inline constexpr const char* kOptimizerPrefix = "optimizer.";

std::filesystem::path checkpoint_file(const std::filesystem::path& folder);

// T is float or double. Makes the folder if need be. Throws WorkloadError (kFailure) when the disk says no; the
// previous checkpoint is then still there.
template <typename T>
void write_checkpoint(const std::filesystem::path& folder, const CheckpointState& state, ParameterStore<T>& store,
                      const typename Optimizer<T>::Moments& moments);

class Checkpoint {
 public:
  // Empty where the folder has none. Throws WorkloadError (kInput) for a file that is damaged or no checkpoint.
  static std::optional<Checkpoint> find(const std::filesystem::path& folder);

  const CheckpointState& state() const { return state_; }
  // Throws WorkloadError (kUsage) naming every setting that differs: a training that goes on with others is another
  // one.
  void require_settings(const std::map<std::string, std::string>& settings) const;
  // Throws WorkloadError (kInput) for the checkpoint of another model.
  template <typename T>
  void read(ParameterStore<T>& store, const typename Optimizer<T>::Moments& moments) const;

 private:
  explicit Checkpoint(SafetensorsFile file);

  SafetensorsFile file_;
  CheckpointState state_;
};

}  // namespace swinscope
