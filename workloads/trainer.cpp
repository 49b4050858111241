#include "workloads/trainer.h"

#include <array>
#include <chrono>
#include <cmath>

#include "workloads/error.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

const TrainerOptions& checked(const SwinConfig& config, const TrainerOptions& options) {
  const auto refuse = [](const char* what) {
    throw WorkloadError(WorkloadErrorKind::kUsage, what, "segmentation is trained without", {});
  };
  if (config.task == Task::kSegmentation && options.label_smoothing != 0.0) refuse("label smoothing");
  if (config.task == Task::kSegmentation && options.accumulate != 1) refuse("accumulation of gradients over batches");
  return options;
}

ModelOptions model_options(const TrainerOptions& options) {
  ModelOptions model;
  model.training = true;
  model.drop_path = options.drop_path;
  model.seed = options.seed;
  model.tap_fusion = options.tap_fusion;
  return model;
}

}  // namespace

template <typename T>
Trainer<T>::Trainer(const SwinConfig& config, const TrainerOptions& options, TrainingData& data,
                    ParameterStore<T>& parameters, Communicator& communicator)
    : options_(checked(config, options)),
      data_(data),
      parameters_(parameters),
      communicator_(communicator),
      model_(config, options.batch_per_rank, model_options(options), parameters, &communicator),
      optimizer_(parameters, options.optimizer),
      reducer_(parameters.gradients(), options.bucket_bytes, communicator),
      loss_(make_loss<T>(config, options.batch_per_rank, options.label_smoothing)),
      images_(
          static_cast<std::size_t>(options.batch_per_rank * kImageChannels * config.image_size * config.image_size)) {
  communicator.broadcast(std::as_writable_bytes(parameters.values()), 0);
  if (!parameters.buffers().empty()) communicator.broadcast(std::as_writable_bytes(parameters.buffers()), 0);
}

template <typename T>
StepResult Trainer<T>::step(bool stop) {
  const StepRange range(
      {static_cast<std::uint64_t>(step_), static_cast<std::uint64_t>(options_.batch_per_rank * options_.accumulate)});
  LossTotals own;
  std::int64_t data_ns = 0;
  const std::int64_t waited_before_ns = data_.waited_ns();
  for (std::int64_t part = 0; part < options_.accumulate; ++part) {
    const auto begin = Clock::now();
    load_batch(part);
    data_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    own += run_forward();
    run_backward(part);
  }
  StepResult result = agree(own, stop);
  result.data_ns = data_ns;
  result.input_wait_ns = data_.waited_ns() - waited_before_ns;
  const PhaseRange phase(Phase::kOptimizer);
  result.learning_rate =
      scheduled_learning_rate(options_.learning_rate, step_, options_.warmup_steps, options_.total_steps);
  if (counted_ > 0.0) result.gradient_norm = optimizer_.step(result.learning_rate);
  result.skipped = counted_ == 0.0 || !std::isfinite(result.gradient_norm);
  ++step_;
  return result;
}

// Where their number is not the same in each batch, the labels say how many count, before anything is computed: the
// ranks agree on it.
template <typename T>
void Trainer<T>::load_batch(std::int64_t part) {
  const PhaseRange phase(Phase::kData);
  const std::int64_t in_step = (part * communicator_.size() + communicator_.rank()) * options_.batch_per_rank;
  data_.load(step_ * global_batch() + in_step, std::span<T>(images_), loss_->labels());
  model_.begin_step(step_, in_step);
  counted_ = static_cast<double>(global_batch());
  if (loss_->counted() < 0) return;
  counted_ = static_cast<double>(loss_->counted());
  communicator_.all_reduce_sum(std::span(&counted_, 1));
}

template <typename T>
LossTotals Trainer<T>::run_forward() {
  const PhaseRange phase(Phase::kForward);
  return loss_->forward(model_.forward(images_.data()));
}

template <typename T>
void Trainer<T>::run_backward(std::int64_t part) {
  const PhaseRange phase(Phase::kBackward);
  if (part == 0) parameters_.clear_gradients();
  loss_->backward(counted_ > 0.0 ? 1.0 / counted_ : 0.0);
  // Gradients are final, and can be summed over the ranks, in the last part only.
  const bool last = part + 1 == options_.accumulate;
  model_.backward(loss_->gradient(), loss_->auxiliary_gradient(), [this, last](std::int64_t end) {
    if (last) reducer_.ready(end);
  });
}

// The phase is what the backward pass did not hide.
template <typename T>
StepResult Trainer<T>::agree(const LossTotals& own, bool stop) {
  const PhaseRange phase(Phase::kAllReduce);
  reducer_.wait();
  std::array<double, 4> sums = {own.loss, static_cast<double>(own.count), static_cast<double>(own.correct),
                                stop ? 1.0 : 0.0};
  communicator_.all_reduce_sum(std::span<double>(sums));
  StepResult result;
  result.stop = sums[3] > 0.0;
  if (sums[1] == 0.0) return result;
  result.loss = sums[0] / sums[1];
  result.accuracy = sums[2] / sums[1];
  return result;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace swinscope
