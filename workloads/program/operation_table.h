// How `swin infer` and `swin train` show the times of operations.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/cuda/step_profile.h"

namespace swinscope {

nlohmann::ordered_json describe_operations(const std::vector<OperationTime>& operations);
void print_operations(const std::vector<OperationTime>& operations);

}  // namespace swinscope
