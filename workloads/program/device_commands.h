// What `swin` does on a GPU. A build without CUDA has the same commands, which say so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workloads/models/model_table.h"
#include "workloads/program/run_options.h"
#include "workloads/quantization.h"

namespace swinscope {

struct InferOptions {
  RunOptions run;
  std::filesystem::path images;  // JPEG file or folder; empty: synthetic images
  Task task = Task::kClassification;
  std::filesystem::path annotations;  // of segmentation: masks to judge by, and folder for those that are found
  std::filesystem::path output;
  bool tap_fusion = false;
  int head_channels = 0;  // 0: the weights', else the model's
  // On a GPU.
  std::string level = "graph";
  std::vector<std::string> with;
  std::vector<std::string> without;
  std::string gelu = "auto";
  std::optional<double> tune_seconds;  // for trying ways to compute products in the whole pass
  bool operations = false;             // time of each operation
  std::filesystem::path logits;        // file to write images and logits to
  bool given = false;                  // whether any of them was
};

std::vector<Option> add_device_options(Command& command, InferOptions& options);
// Throws WorkloadError (kUsage) if one of them was given.
void refuse_device_options(const InferOptions& options);

int infer_on_device(const InferOptions& options, const SwinConfig& config);

struct QuantizeOptions {
  RunOptions run;
  std::filesystem::path calibration_data;  // empty: synthetic images
  std::int64_t images = 128;
  std::string observer = "mse";
  std::string precision = "fp8";
  double least_cosine = kLeastCosine;
  std::filesystem::path output;
  bool force = false;
};

int quantize_on_device(const QuantizeOptions& options);

// Where choices of algorithms are kept: $XDG_CACHE_HOME/swinscope or ~/.cache/swinscope; empty without a home.
std::filesystem::path algorithm_folder();

}  // namespace swinscope
