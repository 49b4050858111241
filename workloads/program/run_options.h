// Options that `swin infer` and `swin train` share, and what they do before and after their steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "options/options.h"
#include "workloads/models/model_table.h"
#include "workloads/parameters.h"
#include "workloads/rank_info.h"

namespace swinscope {

struct RunOptions {
  std::string model;
  std::string device = "cpu";
  std::string precision;   // empty: fp32, on a GPU what the level says
  int image_size = 0;      // 0: the model's
  int window = 0;          // tokens along a side; 0: the model's
  std::int64_t batch = 1;  // of each rank
  std::int64_t steps = 10;
  std::int64_t warmup = 1;  // steps before the measured ones
  std::uint64_t seed = 0;
  std::filesystem::path weights;
  int threads = 0;  // 0: the CPUs this rank may use, shared with the ranks beside it
  bool json = false;
  bool quiet = false;
};

// `batch_names`: the option's names.
void add_run_options(Command& command, RunOptions& options, const std::string& batch_names);

// The model with the wanted image size and window, and with the classes of the weights if any are given. Throws
// WorkloadError: kUsage for an unknown model, kInput for weights that cannot be read.
SwinConfig resolve_config(const RunOptions& options);

// Makes it a model for segmentation: its head has `head_channels`, or if 0 as many as that of the weights, or the
// model's own.
void set_segmentation(const RunOptions& options, int head_channels, SwinConfig& config);
// --task; `task` is the default, and what parse_task takes afterwards.
void add_task_option(Command& command, std::string& task);
Task parse_task(const std::string& task);
void add_head_options(Command& command, int& head_channels, bool& tap_fusion);

// For what runs on the CPU only: sets the precision where none was given. Throws WorkloadError (kUsage) for another
// device or a precision that the CPU has not.
void require_cpu(RunOptions& options);

// Loads --weights, or else does nothing. Returns whether there were any.
template <typename T>
bool load_given_weights(const RunOptions& options, ParameterStore<T>& store);

enum class GivenWeights : std::uint8_t { kNone, kAll, kWithoutClassifier };
// The same to begin a training with: where the weights tell other classes apart than the model does, the store keeps
// the classifier that it has.
template <typename T>
GivenWeights load_weights_to_train(const RunOptions& options, ParameterStore<T>& store);

// Sets the CPU operations' threads and returns their number. `sharing`: ranks that share these CPUs.
int use_threads(const RunOptions& options, int sharing);

// The start of a JSON document: schema, run (program, model, batch, ...), warnings (empty), data (empty).
nlohmann::ordered_json start_document(const std::string& schema, const RunOptions& options, const SwinConfig& config,
                                      const RankInfo& rank, int threads);

}  // namespace swinscope
