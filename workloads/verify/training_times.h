// `swin verify --times MODEL`: how long each kernel of a training step takes at the shapes of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/device.h"
#include "workloads/models/model_table.h"

namespace swinscope {

struct KernelTime {
  std::string what;           // "stage 3: attention backward"
  int calls = 0;              // in a step
  double microseconds = 0.0;  // of one call
  std::int64_t bytes = 0;     // compulsory, of one call: cost.h
  std::int64_t flops = 0;
};

// Calls `report` with each kernel as it is timed: the least of three rounds of several launches in a graph, on random
// data that rotates through more memory than the L2 cache holds. Type: fp16 or bf16 (or fp32, with products in TF32).
void time_training_kernels(const SwinConfig& config, std::int64_t batch, ElementType type,
                           const std::function<void(const KernelTime&)>& report);

}  // namespace swinscope
