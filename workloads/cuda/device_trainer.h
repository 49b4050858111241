// Training on one GPU: a step is data, forward, backward and update as lists of kernels, made once, then launched one
// by one or as one CUDA graph. What decides about a step (learning rate, loss scale, clipping, stochastic depth) is
// read from device memory, and nothing of a step waits for the host: its loss comes back while the next ones run.
//
// With several ranks each takes its part of every batch; gradients are summed over the GPUs while the backward pass
// runs (device_reducer.h), and the update, which every rank makes from the same sums, is the same on all.
//
// Parameters are kept in fp32; with 16-bit precision the products read rounded copies. Gradients are fp32 in one flat
// buffer, in backward order. The same start, data and number of images in a batch give the same bits on the same GPU
// with the same choices of algorithms, launched either way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/delayed_scale.h"
#include "kernels/matmul.h"
#include "workloads/cuda/device_step.h"
#include "workloads/cuda/features.h"
#include "workloads/cuda/training_feed.h"
#include "workloads/device_communicator.h"
#include "workloads/evaluator.h"
#include "workloads/trainer.h"

namespace swinscope {

struct DeviceTrainerOptions {
  TrainerOptions trainer;
  // kFp32, kTf32, kFp16 or kBf16; or kFp8 or kInt8: blocks' products in 8 bits, all else as in fp16.
  Precision precision = Precision::kFp16;
  // In 8 bits: gradients of products' inputs, too, in e4m3; else the backward pass has 16 bits (quantization-aware
  // training).
  bool byte_gradients = true;
  std::int64_t least_byte_width = 0;  // channels of what has 8 bits; 0: from where on it is worth it
  Features features;
  ElementType reduce_type = ElementType::kFp32;  // of gradients between ranks: as they are, or rounded
  bool reduce_by_copies = false;                 // of them, see ReducedGradients
  int spare_multiprocessors = 0;  // that the backward pass leaves to all-reduces, where there are several ranks
  bool recompute = false;         // forward passes of blocks once more instead of keeping their activations
  std::filesystem::path algorithm_folder;  // as for DeviceModel
  std::string algorithms;                  // choices of a checkpoint, which come first
};

// What a training has beside parameters and moments.
struct DeviceTrainingState {
  std::int64_t steps_done = 0;
  std::int64_t updates = 0;
  std::int64_t good_steps = 0;  // since the loss scale changed
  double loss_scale = 1.0;
  std::vector<DelayedScale> byte_scales = {};  // of this rank; empty: the first ones
};

// Features that training has: all but the position bias made before, since its parameters change with each step.
Features training_features(Features features);

// Bytes that a trainer takes at most, with what it needs to choose algorithms.
std::int64_t training_memory_need(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t batch);
// Throws WorkloadError (kUsage) where it does not fit into `free_bytes`, naming a batch that would.
void check_training_memory(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t free_bytes);

class DeviceTrainer {
 public:
  // Starts from the store's values (rank 0's), which are not needed afterwards. `ranks`, null for one alone, must
  // outlive the trainer. All its ranks then make the same calls of step(), finished(), evaluate() and upload(); all
  // these throw WorkloadError (kFailure), naming a rank that has failed.
  DeviceTrainer(const SwinConfig& config, const DeviceTrainerOptions& options, const ParameterStore<float>& start,
                DeviceCommunicator* ranks = nullptr);
  ~DeviceTrainer();
  DeviceTrainer(const DeviceTrainer&) = delete;
  DeviceTrainer& operator=(const DeviceTrainer&) = delete;
  DeviceTrainer(DeviceTrainer&&) = delete;
  DeviceTrainer& operator=(DeviceTrainer&&) = delete;

  // Enqueues a step and waits for the one before it. `stop`: this rank wants to end; the result of a
  // step says after which one all do: this one or, with several ranks, of which some may have begun another, the next.
  void step(BatchFeed& feed, bool stop = false);
  // The steps that have ended since the last call, in order; all that were enqueued if `wait`. Times are the device's,
  // from the end of the step before.
  std::vector<FinishedStep> finished(bool wait);
  std::int64_t global_batch() const;

  // When no step is under way. As Evaluator::evaluate: without stochastic depth and label smoothing, on samples 0 to
  // images - 1.
  Evaluation evaluate(BatchFeed& feed, std::int64_t images);

  // Both wait for all steps. Spans are flat, in the order of ParameterLayout.
  DeviceTrainingState download(std::span<float> values, std::span<float> first_moments,
                               std::span<float> second_moments) const;
  void upload(const DeviceTrainingState& state, std::span<const float> values, std::span<const float> first_moments,
              std::span<const float> second_moments);
  // What is not trained: running statistics, in the order of ParameterLayout::buffers().
  void download_buffers(std::span<float> buffers) const;
  void upload_buffers(std::span<const float> buffers);
  // Of the last step, which must have ended (finished()), without the loss scale and before clipping.
  std::vector<float> gradients() const;

  ElementType element_type() const;
  cuda::Stream stream() const;
  std::int64_t memory_bytes() const;
  std::size_t graph_nodes() const;  // 0 without a graph
  cuda::MatmulStatistics matmul_statistics() const;
  std::string algorithms() const;
  // Forward, backward and update of one batch, in this order, the latter two with "backward." and "update." before
  // their names. To run them changes the parameters.
  std::vector<DeviceStep> all_steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope
