// What training a model on a device is made of, before any device is asked: the graphs of a step and of an evaluation,
// and the places of all that they need in one piece of memory, so that its size is known before it is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workloads/cuda/device_trainer.h"
#include "workloads/execute/cuda_backend.h"
#include "workloads/graph/graph.h"
#include "workloads/parameters.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {

// Bytes from the start of the memory; each region starts at a multiple of 256.
struct Region {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

// Of a group of ranks; one alone has nobody to sum gradients with.
struct TrainingRanks {
  std::int64_t count = 1;
  bool reduce_by_copies = false;  // each rank adds up a part of the gradients, all of one size
};

// Channels, on both sides, from which on layers of a training in 8 bits have such operands.
std::int64_t least_byte_width(const DeviceTrainerOptions& options);

class TrainingPlan {
 public:
  TrainingPlan(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t batch,
               const TrainingRanks& ranks = {});

  std::int64_t bytes() const { return bytes_; }
  // The largest tensor of a step.
  std::int64_t largest_bytes() const;
  // Where the tensors of one of the two graphs lie, if the memory is there.
  DeviceMemory place(const Graph& graph, void* memory) const;
  const Region& input(const std::string& name) const { return inputs_.at(name); }

  ParameterLayout parameters;
  Graph training, evaluation;
  // Flat, in the order of ParameterLayout; fp32 but for the copies, which there are with 16-bit types only.
  Region masters, copies, gradients, first_moments, second_moments;
  Region rounded_gradients;   // flat, where gradients travel in 16 bits
  Region buffers;             // ParameterLayout::buffers(), fp32
  Region labels, predicted;   // [batch], int32; of segmentation [batch, size, size], uint8
  Region control;             // DeviceControl
  Region depth_scales;        // [blocks, 2, batch], fp32
  Region row_loss;            // [batch], fp32; classification
  Region lse, auxiliary_lse;  // of the losses, one for each label, fp32
  Region workspace;

 private:
  Region take(std::int64_t bytes);
  void place_parameters(const DeviceTrainerOptions& options, const TrainingRanks& ranks);
  void place_named(const Graph& graph);
  void* place_of(const Graph& graph, const GraphTensor& tensor, char* memory) const;

  MemoryPlan training_plan_, evaluation_plan_;
  Region arena_;
  std::map<std::string, Region> inputs_, constants_;
  std::int64_t bytes_ = 0;
};

}  // namespace swinscope
