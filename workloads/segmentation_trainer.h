// Data-parallel training of a segmentation model, and how well it does on images that it has not been trained on. As
// Trainer and Evaluator: with the same global batch every number of ranks computes the same gradients up to the order
// of summation, because the batch normalizations and the mean of the loss are over the pixels of all ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/confusion.h"
#include "workloads/evaluator.h"
#include "workloads/execute/host_model.h"
#include "workloads/gradient_reducer.h"
#include "workloads/segmentation_data.h"
#include "workloads/segmentation_loss.h"
#include "workloads/trainer.h"

namespace swinscope {

// fp32. `parameters` (with gradients), `data` and `communicator` must outlive the trainer.
class SegmentationTrainer {
 public:
  // Copies rank 0's parameters and running statistics to all ranks. Throws WorkloadError (kUsage) for options that only
  // classification has: label smoothing, accumulation over batches.
  SegmentationTrainer(const SwinConfig& config, const TrainerOptions& options, SegmentationData& data,
                      ParameterStore<float>& parameters, Communicator& communicator);

  // The result's accuracy is that of the pixels that count. A batch without any changes nothing but the step's number.
  StepResult step(bool stop = false);
  std::int64_t steps_done() const { return step_; }
  std::int64_t global_batch() const { return options_.batch_per_rank * communicator_.size(); }
  Optimizer<float>& optimizer() { return optimizer_; }
  void set_steps_done(std::int64_t steps) { step_ = steps; }
  // Of this rank's last step: [batch, 3, size, size] and [batch, size, size].
  std::span<const float> images() const { return images_; }
  std::span<const std::uint8_t> labels() const { return labels_; }

 private:
  void load_batch();
  StepResult agree(const SegmentationLoss<float>::Result& own, bool stop);

  TrainerOptions options_;
  SegmentationData& data_;
  ParameterStore<float>& parameters_;
  Communicator& communicator_;
  HostModel<float> model_;
  SegmentationLoss<float> loss_;
  Optimizer<float> optimizer_;
  GradientReducer<float> reducer_;
  std::int64_t step_ = 0;
  std::vector<float> images_;
  std::vector<std::uint8_t> labels_;
  double pixels_ = 0.0;  // that count, of all ranks
};

// fp32. `parameters` and `communicator` must outlive the evaluator.
class SegmentationEvaluator {
 public:
  // `options`: not for training.
  SegmentationEvaluator(const SwinConfig& config, std::int64_t batch_per_rank, const ModelOptions& options,
                        ParameterStore<float>& parameters, Communicator& communicator);

  // Over the samples 0 to `images` - 1 of `data`, shared among the ranks batch by batch; all ranks get the same result.
  Evaluation evaluate(SegmentationData& data, std::int64_t images);

 private:
  SwinConfig config_;
  std::int64_t batch_;
  Communicator& communicator_;
  HostModel<float> model_;
  UpsampleShape logits_shape_;
  Operation loss_;
  Operation answer_;
  std::vector<float> images_, lse_;
  std::vector<std::uint8_t> labels_, answers_;
  std::vector<PixelLoss> rows_;
};

}  // namespace swinscope
