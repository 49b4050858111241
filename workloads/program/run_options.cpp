#include "workloads/program/run_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/parallel.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/safetensors.h"
#include "workloads/weights.h"

namespace swinscope {

void add_run_options(Command& command, RunOptions& options, const std::string& batch_names) {
  command.option("--model", options.model, "model, see `swin list`").required();
  command.option("--device", options.device, "cpu or cuda").show_default();
  command
      .option("--precision", options.precision,
              "cpu: fp32 (default) or fp64; cuda: fp32, tf32, fp16 or bf16, infer also fp8 and int8")
      .one_of({"fp32", "fp64", "tf32", "fp16", "bf16", "fp8", "int8"});
  command.option("--image", options.image_size, "image size in pixels (default: the model's)").positive();
  command.option("--window", options.window, "tokens along a window's side (default: the model's)")
      .within(1, kMostWindow);
  command.option(batch_names, options.batch, "images of each rank in a step").positive().show_default();
  command.option("--steps", options.steps, "measured steps").positive().show_default();
  command.option("--warmup", options.warmup, "steps before the measured ones").not_negative().show_default();
  command.option("--weights", options.weights, "safetensors file with timm's names");
  command.option("--seed", options.seed, "of random weights and of the data").show_default();
  command.option("--threads", options.threads, "CPU threads (default: the CPUs allowed, shared with ranks beside)")
      .positive();
  command.flag("--json", options.json, "print the summary as JSON");
  command.flag("-q,--quiet", options.quiet, "no progress on stderr");
}

SwinConfig resolve_config(const RunOptions& options) {
  SwinConfig config = find_model(options.model);
  if (options.image_size > 0) config.image_size = options.image_size;
  if (options.window > 0) config.window = options.window;
  check_config(config);
  if (!options.weights.empty()) config.classes = classes_in(SafetensorsFile(options.weights), config.classes);
  return config;
}

void set_segmentation(const RunOptions& options, int head_channels, SwinConfig& config) {
  config.task = Task::kSegmentation;
  if (!options.weights.empty()) {
    config.head_channels = head_channels_in(SafetensorsFile(options.weights), config.head_channels);
  }
  if (head_channels > 0) config.head_channels = head_channels;
}

void add_task_option(Command& command, std::string& task) {
  command
      .option("--task", task, "classification, or segmentation: UPerNet's head on the stages, a class for each pixel")
      .one_of({"classification", "segmentation"})
      .show_default();
}

Task parse_task(const std::string& task) {
  return task == "segmentation" ? Task::kSegmentation : Task::kClassification;
}

void add_head_options(Command& command, int& head_channels, bool& tap_fusion) {
  command.flag("--tap-fusion", tap_fusion,
               "segmentation: the head's fusion convolution of enlarged maps, computed at their own sizes: the same "
               "function with fewer products");
  command
      .option("--head-channels", head_channels,
              "segmentation: channels of UPerNet's head, even (default: the weights', else the model's)")
      .within(2, kMostHeadChannels);
}

void require_cpu(RunOptions& options) {
  if (options.device != "cpu") {
    throw WorkloadError(WorkloadErrorKind::kUsage,
                        fmt::format("--device {}: not for this command in this build", options.device), {},
                        "--device cpu is");
  }
  if (options.precision.empty()) options.precision = "fp32";
  if (options.precision != "fp32" && options.precision != "fp64") {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--precision {}: not on the CPU", options.precision), {},
                        "fp32 and fp64 are");
  }
}

template <typename T>
bool load_given_weights(const RunOptions& options, ParameterStore<T>& store) {
  if (options.weights.empty()) return false;
  load_weights(SafetensorsFile(options.weights), store);
  return true;
}

template <typename T>
GivenWeights load_weights_to_train(const RunOptions& options, ParameterStore<T>& store) {
  if (options.weights.empty()) return GivenWeights::kNone;
  return load_weights_to_tune(SafetensorsFile(options.weights), store) ? GivenWeights::kAll
                                                                       : GivenWeights::kWithoutClassifier;
}

int use_threads(const RunOptions& options, int sharing) {
  if (options.threads > 0) {
    cpu::set_thread_count(options.threads);
  } else if (sharing > 1) {
    cpu::set_thread_count(std::max(1, cpu::thread_count() / sharing));
  }
  return cpu::thread_count();
}

nlohmann::ordered_json start_document(const std::string& schema, const RunOptions& options, const SwinConfig& config,
                                      const RankInfo& rank, int threads) {
  const ModelCost cost = model_cost(config);
  nlohmann::ordered_json run;
  run["model"] = config.name;
  run["device"] = options.device;
  run["precision"] = options.precision;
  run["image_size"] = config.image_size;
  run["window"] = config.window;
  run["batch_per_rank"] = options.batch;
  run["ranks"] = rank.size;
  run["threads_per_rank"] = threads;
  run["seed"] = options.seed;
  run["weights"] =
      options.weights.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(options.weights.string());
  run["parameters"] = cost.parameters();
  run["flops_per_image_forward"] = cost.flops();
  nlohmann::ordered_json document;
  document["schema"] = schema;
  document["run"] = std::move(run);
  document["warnings"] = nlohmann::ordered_json::array();
  document["data"] = nlohmann::ordered_json::array();
  return document;
}

template bool load_given_weights<float>(const RunOptions&, ParameterStore<float>&);
template bool load_given_weights<double>(const RunOptions&, ParameterStore<double>&);
template GivenWeights load_weights_to_train<float>(const RunOptions&, ParameterStore<float>&);
template GivenWeights load_weights_to_train<double>(const RunOptions&, ParameterStore<double>&);

}  // namespace swinscope
