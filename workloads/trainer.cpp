#include "workloads/trainer.h"

#include <array>
#include <chrono>
#include <cmath>

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

template <typename T>
Operation loss_operation(const CrossEntropyShape& shape) {
  const ShapeExtents extents = {shape.rows, shape.classes};
  return {RangeName("loss"),
          make_payload(cross_entropy_forward_cost(shape, sizeof(T)), OperationClass::kLoss, precision_of<T>(), extents,
                       {shape.rows}),
          make_payload(cross_entropy_backward_cost(shape, sizeof(T)), OperationClass::kLoss, precision_of<T>(), extents,
                       extents)};
}

ModelOptions model_options(const TrainerOptions& options) {
  ModelOptions model;
  model.training = true;
  model.drop_path = options.drop_path;
  model.seed = options.seed;
  return model;
}

CrossEntropyResult add(const CrossEntropyResult& a, const CrossEntropyResult& b) {
  CrossEntropyResult sum;
  sum.count = a.count + b.count;
  sum.correct = a.correct + b.correct;
  if (sum.count > 0) {
    sum.mean_loss = (a.mean_loss * static_cast<double>(a.count) + b.mean_loss * static_cast<double>(b.count)) /
                    static_cast<double>(sum.count);
  }
  return sum;
}

}  // namespace

template <typename T>
Trainer<T>::Trainer(const SwinConfig& config, const TrainerOptions& options, TrainingData& data,
                    ParameterStore<T>& parameters, Communicator& communicator)
    : options_(options),
      data_(data),
      parameters_(parameters),
      communicator_(communicator),
      model_(config, options.batch_per_rank, model_options(options), parameters),
      optimizer_(parameters, options.optimizer),
      reducer_(parameters.gradients(), options.bucket_bytes, communicator),
      loss_shape_{options.batch_per_rank, config.classes, options.label_smoothing},
      loss_(loss_operation<T>(loss_shape_)),
      images_(
          static_cast<std::size_t>(options.batch_per_rank * kImageChannels * config.image_size * config.image_size)),
      labels_(static_cast<std::size_t>(options.batch_per_rank)),
      row_loss_(labels_.size()),
      lse_(labels_.size()),
      dlogits_(labels_.size() * static_cast<std::size_t>(config.classes)) {
  communicator.broadcast(std::as_writable_bytes(parameters.values()), 0);
}

template <typename T>
StepResult Trainer<T>::step(bool stop) {
  const StepRange range(
      {static_cast<std::uint64_t>(step_), static_cast<std::uint64_t>(options_.batch_per_rank * options_.accumulate)});
  CrossEntropyResult own;
  std::int64_t data_ns = 0;
  const std::int64_t waited_before_ns = data_.waited_ns();
  for (std::int64_t part = 0; part < options_.accumulate; ++part) {
    const auto begin = Clock::now();
    load_batch(part);
    data_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    own = add(own, run_forward());
    run_backward(part);
  }
  StepResult result = agree(own, stop);
  result.data_ns = data_ns;
  result.input_wait_ns = data_.waited_ns() - waited_before_ns;
  const PhaseRange phase(Phase::kOptimizer);
  result.learning_rate =
      scheduled_learning_rate(options_.learning_rate, step_, options_.warmup_steps, options_.total_steps);
  result.gradient_norm = optimizer_.step(result.learning_rate);
  result.skipped = !std::isfinite(result.gradient_norm);
  ++step_;
  return result;
}

template <typename T>
void Trainer<T>::load_batch(std::int64_t part) {
  const PhaseRange phase(Phase::kData);
  const std::int64_t in_step = (part * communicator_.size() + communicator_.rank()) * options_.batch_per_rank;
  data_.load(step_ * global_batch() + in_step, std::span<T>(images_), labels_);
  model_.begin_step(step_, in_step);
}

template <typename T>
CrossEntropyResult Trainer<T>::run_forward() {
  const PhaseRange phase(Phase::kForward);
  logits_ = model_.forward(images_.data()).main;
  const OperationRange range(loss_.name, loss_.forward);
  return cpu::cross_entropy_forward<T>(loss_shape_, logits_, labels_.data(), row_loss_.data(), lse_.data());
}

template <typename T>
void Trainer<T>::run_backward(std::int64_t part) {
  const PhaseRange phase(Phase::kBackward);
  if (part == 0) parameters_.clear_gradients();
  {
    const OperationRange range(loss_.name, loss_.backward);
    cpu::cross_entropy_backward<T>(loss_shape_, logits_, labels_.data(), lse_.data(),
                                   1.0 / static_cast<double>(global_batch()), dlogits_.data());
  }
  // Gradients are final, and can be summed over the ranks, in the last part only.
  const bool last = part + 1 == options_.accumulate;
  model_.backward(dlogits_.data(), nullptr, [this, last](std::int64_t end) {
    if (last) reducer_.ready(end);
  });
}

// The phase is what the backward pass did not hide.
template <typename T>
StepResult Trainer<T>::agree(const CrossEntropyResult& own, bool stop) {
  const PhaseRange phase(Phase::kAllReduce);
  reducer_.wait();
  std::array<double, 4> sums = {own.mean_loss * static_cast<double>(own.count), static_cast<double>(own.count),
                                static_cast<double>(own.correct), stop ? 1.0 : 0.0};
  communicator_.all_reduce_sum(std::span<double>(sums));
  StepResult result;
  result.loss = sums[0] / sums[1];
  result.accuracy = sums[2] / sums[1];
  result.stop = sums[3] > 0.0;
  return result;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace swinscope
