// How well a model does on images that it has not been trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "workloads/communicator.h"
#include "workloads/confusion.h"
#include "workloads/execute/host_model.h"
#include "workloads/loss.h"
#include "workloads/training_data.h"

namespace swinscope {

struct Evaluation {
  double loss = 0.0;  // mean cross-entropy without smoothing
  double accuracy = 0.0;
  std::int64_t images = 0;                        // that counted: those with a label
  std::optional<double> mean_iou = std::nullopt;  // of segmentation, whose loss and accuracy are those of pixels
  std::vector<double> iou = {};                   // likewise, of each class; negative for one that does not occur
};

// T is float or double. `parameters` and `communicator` must outlive the evaluator.
template <typename T>
class Evaluator {
 public:
  // `options`: not for training.
  Evaluator(const SwinConfig& config, std::int64_t batch_per_rank, const ModelOptions& options,
            ParameterStore<T>& parameters, Communicator& communicator);

  // Over the samples 0 to `images` - 1 of `data`, shared among the ranks batch by batch; all ranks get the same result.
  // Data may end before.
  Evaluation evaluate(TrainingData& data, std::int64_t images);

 private:
  void add_batch(TrainingData& data, std::int64_t first, std::int64_t images);

  SwinConfig config_;
  std::int64_t batch_;
  Communicator& communicator_;
  HostModel<T> model_;
  std::unique_ptr<Loss<T>> loss_;
  std::vector<T> images_;
  LossTotals totals_;
  std::optional<Confusion> confusion_;  // of segmentation
};

}  // namespace swinscope
