// Data-parallel training of a model for either task: one step is data, forward, backward overlapped with the gradient
// all-reduce, optimizer. With the same global batch every number of ranks computes the same gradients up to the order
// of summation: batch normalizations and the mean of the loss are over all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/communicator.h"
#include "workloads/execute/host_model.h"
#include "workloads/gradient_reducer.h"
#include "workloads/loss.h"
#include "workloads/optimizer.h"
#include "workloads/training_data.h"

namespace swinscope {

struct TrainerOptions {
  std::int64_t batch_per_rank = 1;
  std::int64_t accumulate = 1;    // batches whose gradients are added up for one update
  std::int64_t total_steps = 1;   // of the learning rate's schedule
  std::int64_t warmup_steps = 0;  // of the learning rate
  double learning_rate = 1e-3;
  OptimizerOptions optimizer;
  double label_smoothing = 0.1;
  double drop_path = 0.0;
  std::int64_t bucket_bytes = std::int64_t{4} << 20;
  std::uint64_t seed = 0;   // of stochastic depth
  bool tap_fusion = false;  // segmentation: see ModelOptions
};

struct StepResult {
  double loss = 0.0;      // mean over the global batch, before the update
  double accuracy = 0.0;  // share of the global batch whose largest logit is the label's
  double gradient_norm = 0.0;
  double learning_rate = 0.0;
  std::int64_t data_ns = 0;  // this rank's host's time for its images: waiting, copying, making synthetic ones
  // What its images cost the step: on a CPU the time until others had made them ready (waited_ns() of the data), on a
  // device its time from being done with all before until they are in their place. What a host waits while its device
  // works is not in it.
  std::int64_t input_wait_ns = 0;
  bool skipped = false;  // the gradient was not finite, and nothing was updated
  bool stop = false;     // some rank asked to stop
};

// A step that has ended, and the time it took.
struct FinishedStep {
  StepResult result;
  std::int64_t duration_ns = 0;
};

// T is float or double. `parameters` (with gradients), `data` and `communicator` must outlive the trainer.
template <typename T>
class Trainer {
 public:
  // Copies rank 0's parameters and running statistics to all ranks. Throws WorkloadError (kUsage) for options that
  // segmentation lacks: label smoothing, accumulation over batches.
  Trainer(const SwinConfig& config, const TrainerOptions& options, TrainingData& data, ParameterStore<T>& parameters,
          Communicator& communicator);

  // `stop`: this rank wants to end; the result tells all ranks, so that they end after the same step. A batch in which
  // nothing counts changes nothing but the step's number.
  StepResult step(bool stop = false);
  std::int64_t steps_done() const { return step_; }
  // Images that all ranks together take in a step.
  std::int64_t global_batch() const { return options_.batch_per_rank * communicator_.size() * options_.accumulate; }

  // To go on where another trainer stopped: all that it has beside the parameters. Steps are those done, and the
  // moments belong to the caller to fill. Every rank must set the same.
  Optimizer<T>& optimizer() { return optimizer_; }
  void set_steps_done(std::int64_t steps) { step_ = steps; }

  // Of this rank's last batch.
  std::span<const T> images() const { return images_; }
  Labels labels() const { return loss_->labels(); }

 private:
  void load_batch(std::int64_t part);
  LossTotals run_forward();
  void run_backward(std::int64_t part);
  StepResult agree(const LossTotals& own, bool stop);

  TrainerOptions options_;
  TrainingData& data_;
  ParameterStore<T>& parameters_;
  Communicator& communicator_;
  HostModel<T> model_;
  Optimizer<T> optimizer_;
  GradientReducer<T> reducer_;
  std::unique_ptr<Loss<T>> loss_;
  std::int64_t step_ = 0;
  std::vector<T> images_;
  double counted_ = 0.0;  // images or pixels of the step, of all ranks
};

}  // namespace swinscope
