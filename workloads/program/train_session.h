// Runs the steps of `swin train` for one rank: opens the data, resumes and writes checkpoints, validates, and prints
// progress and the result.
#pragma once

#include <map>
#include <string>

#include "workloads/communicator.h"
#include "workloads/program/train_options.h"

namespace swinscope {

// `settings`: what a checkpoint must agree with.
TrainResult run_training(const TrainOptions& options, const SwinConfig& config,
                         const std::map<std::string, std::string>& settings, Communicator& communicator);

}  // namespace swinscope
