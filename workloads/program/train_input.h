// What `swin train` reads: images with a class, or with a label for each pixel; from files, or made in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "workloads/communicator.h"
#include "workloads/program/train_options.h"
#include "workloads/training_data.h"

namespace swinscope {

struct TrainInput {
  std::unique_ptr<TrainingData> data;
  std::function<std::vector<SkippedPath>()> skipped = nullptr;  // files so far; null where there are none
};

// `first`: sample that this rank's first batch begins with.
TrainInput open_training_input(const TrainOptions& options, const SwinConfig& config, std::int64_t first, int ranks);

// The held-out part from its beginning, of which each batch loaded tells `communicator` that this rank has come on;
// there are none where the data have no such part.
TrainInput open_validation_input(const TrainOptions& options, const SwinConfig& config, Communicator& communicator);
std::int64_t validation_images(const TrainOptions& options);

// What was skipped when the data folder was listed, which each rank does: folders, and pictures without a mask.
std::vector<SkippedPath> skipped_in_listing(const TrainOptions& options);

// Reads what `--data` names: it decides the classes and the length of an epoch.
void open_data_folder(TrainOptions& options, SwinConfig& config);

}  // namespace swinscope
