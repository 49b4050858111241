// AdamW over all parameters of a model, with clipping by the global norm and the learning rate of a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/adamw.h"
#include "workloads/annotate.h"
#include "workloads/parameters.h"

namespace swinscope {

// Linear from 0 over the warm-up, then half a cosine down to 0 at `total_steps` (Loshchilov, Hutter 2017, arXiv
// 1608.03983). `step` counts from 0.
double scheduled_learning_rate(double peak, std::int64_t step, std::int64_t warmup_steps, std::int64_t total_steps);

struct OptimizerOptions {
  double weight_decay = 0.05;
  double clip_norm = 5.0;  // 0: no clipping
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

template <typename T>
class Optimizer {
 public:
  Optimizer(ParameterStore<T>& store, const OptimizerOptions& options);

  // What a checkpoint has to keep beside the parameters.
  struct Moments {
    std::span<T> first;  // each in the order of the store's values
    std::span<T> second;
  };
  Moments moments() { return {first_moment_, second_moment_}; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  // One update from the store's gradients. Returns their norm before clipping; if it is not finite, nothing is changed.
  double step(double learning_rate);

 private:
  double gradient_norm() const;

  ParameterStore<T>& store_;
  OptimizerOptions options_;
  std::int64_t steps_ = 0;
  std::vector<T> first_moment_;
  std::vector<T> second_moment_;
  std::vector<AdamWTensor<T>> tensors_;
  RangeName norm_name_;
  RangeName update_name_;
  OperationPayload norm_payload_;
  OperationPayload update_payload_;
};

}  // namespace swinscope
