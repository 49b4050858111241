// Data of an evaluation, which has no steps: whoever loads a batch of them has come on (Communicator::advance()).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "workloads/communicator.h"
#include "workloads/training_data.h"

namespace swinscope {

// `communicator` must outlive the data.
std::unique_ptr<TrainingData> advancing(std::unique_ptr<TrainingData> data, Communicator& communicator);

}  // namespace swinscope
