// What `swin train` was asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "workloads/evaluator.h"
#include "workloads/images/image_folder.h"
#include "workloads/images/scene_folder.h"
#include "workloads/program/run_options.h"
#include "workloads/program/step_times.h"
#include "workloads/rank_info.h"
#include "workloads/trainer.h"

namespace swinscope {

inline constexpr const char* kSyntheticData = "synthetic";

struct TrainOptions {
  RunOptions run;
  TrainerOptions trainer;
  std::string data = kSyntheticData;  // or a folder
  std::int64_t dataset_size = 1024;   // images of an epoch
  std::int64_t epochs = 0;            // 0: warm-up and steps as given
  std::int64_t images = 0;            // to train on, warm-up included; 0: as for epochs
  int loader_threads = 0;             // 0: as many as compute
  double crop_area = 0.08;
  std::filesystem::path checkpoint;   // folder; empty: none
  std::int64_t checkpoint_every = 0;  // steps; 0: an epoch
  bool resume = false;
  bool qat = false;  // forward in 8 bits, backward in 16
  std::filesystem::path log;
  std::filesystem::path run_folder;
  double hang_after = 300.0;                // seconds; 0: never
  double bucket_mib = 0.0;                  // 0: 4 between processors, 25 between GPUs
  std::string reduce_precision = "fp32";    // between GPUs
  std::string all_reduce = kAllReduceAuto;  // of their gradients; kernels or copies once the ranks are connected
  bool may_reduce_by_copies() const { return all_reduce != kAllReduceKernels; }
  int comm_blocks = 0;              // multiprocessors that an all-reduce may take; 0: as NCCL thinks best
  std::filesystem::path gradients;  // file for the last step's
  // On a GPU.
  std::string level = "graph";
  std::vector<std::string> with;
  std::vector<std::string> without;
  bool recompute = false;
  bool operations = false;              // time of each operation of a step, at the end
  bool device_given = false;            // whether any of them was
  std::optional<ImageFolders> folders;  // of a data folder
  Task task = Task::kClassification;
  int head_channels = 0;  // of segmentation; 0: the weights', else the model's
  bool crop_area_given = false;
  bool label_smoothing_given = false;
  std::optional<SceneFolders> scenes;  // of a data folder for segmentation
};

struct EpochResult {
  std::int64_t epoch = 0;  // from 1
  std::int64_t step = 0;   // steps done then
  std::int64_t steps = 0;  // that the means are over: fewer than an epoch's after a resume
  double loss = 0.0;
  double accuracy = 0.0;
  Evaluation validation;  // no images: there was none
};

struct TrainResult {
  StepTimes times;
  std::vector<StepResult> steps;  // of this process, warm-up included
  std::vector<EpochResult> epochs;
  std::vector<SkippedPath> skipped_files;
  std::int64_t resumed_at = 0;                                       // steps that were done before
  std::int64_t skipped = 0;                                          // steps whose gradient was not finite
  std::vector<double> input_wait_shares;                             // of the measured steps' time, by rank
  nlohmann::ordered_json device = nlohmann::ordered_json::object();  // what there is to say of it
  bool new_classifier = false;                                       // the weights given were for other classes
  std::string checkpoint_failure;                                    // of the last checkpoint; empty: it was written
};

}  // namespace swinscope
