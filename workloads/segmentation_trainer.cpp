#include "workloads/segmentation_trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "workloads/error.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t pixel_count(const SwinConfig& config, std::int64_t batch) {
  return static_cast<std::size_t>(batch * config.image_size * config.image_size);
}

const TrainerOptions& checked(const TrainerOptions& options) {
  const auto refuse = [](const char* what) {
    throw WorkloadError(WorkloadErrorKind::kUsage, what, "segmentation is trained without", {});
  };
  if (options.label_smoothing != 0.0) refuse("label smoothing");
  if (options.accumulate != 1) refuse("accumulation of gradients over batches");
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

Operation output_operation(const char* path, OperationClass operation_class, const OperationCost& cost,
                           const UpsampleShape& shape) {
  return {
      RangeName(path),
      make_payload(cost, operation_class, Precision::kFp32, {shape.batch, shape.height, shape.width, shape.channels},
                   {shape.batch, shape.out_height, shape.out_width}),
      {}};
}

}  // namespace

SegmentationTrainer::SegmentationTrainer(const SwinConfig& config, const TrainerOptions& options,
                                         SegmentationData& data, ParameterStore<float>& parameters,
                                         Communicator& communicator)
    : options_(checked(options)),
      data_(data),
      parameters_(parameters),
      communicator_(communicator),
      model_(config, options.batch_per_rank, model_options(options), parameters, &communicator),
      loss_(config, options.batch_per_rank),
      optimizer_(parameters, options.optimizer),
      reducer_(parameters.gradients(), options.bucket_bytes, communicator),
      images_(pixel_count(config, options.batch_per_rank) * kImageChannels),
      labels_(pixel_count(config, options.batch_per_rank)) {
  communicator.broadcast(std::as_writable_bytes(parameters.values()), 0);
  communicator.broadcast(std::as_writable_bytes(parameters.buffers()), 0);
}

StepResult SegmentationTrainer::step(bool stop) {
  const StepRange range({static_cast<std::uint64_t>(step_), static_cast<std::uint64_t>(options_.batch_per_rank)});
  const std::int64_t waited_before_ns = data_.waited_ns();
  const auto begin = Clock::now();
  load_batch();
  const std::int64_t data_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  SegmentationLoss<float>::Result own;
  {
    const PhaseRange phase(Phase::kForward);
    own = loss_.forward(model_.forward(images_.data()), labels_);
  }
  {
    const PhaseRange phase(Phase::kBackward);
    parameters_.clear_gradients();
    loss_.backward(pixels_ > 0.0 ? 1.0 / pixels_ : 0.0);
    model_.backward(loss_.main_gradient(), loss_.auxiliary_gradient(),
                    [this](std::int64_t end) { reducer_.ready(end); });
  }
  StepResult result = agree(own, stop);
  result.data_ns = data_ns;
  result.input_wait_ns = data_.waited_ns() - waited_before_ns;
  const PhaseRange phase(Phase::kOptimizer);
  result.learning_rate =
      scheduled_learning_rate(options_.learning_rate, step_, options_.warmup_steps, options_.total_steps);
  if (pixels_ > 0.0) {
    result.gradient_norm = optimizer_.step(result.learning_rate);
    result.skipped = !std::isfinite(result.gradient_norm);
  } else {
    result.skipped = true;
  }
  ++step_;
  return result;
}

// The number of pixels that count is known from the labels: the ranks agree on it before they compute.
void SegmentationTrainer::load_batch() {
  const PhaseRange phase(Phase::kData);
  const std::int64_t in_step = communicator_.rank() * options_.batch_per_rank;
  data_.load(step_ * global_batch() + in_step, images_, labels_);
  model_.begin_step(step_, in_step);
  pixels_ = static_cast<double>(labels_.size()) - static_cast<double>(std::ranges::count(labels_, kIgnoredLabel));
  communicator_.all_reduce_sum(std::span(&pixels_, 1));
}

StepResult SegmentationTrainer::agree(const SegmentationLoss<float>::Result& own, bool stop) {
  const PhaseRange phase(Phase::kAllReduce);
  reducer_.wait();
  std::array<double, 3> sums = {own.sum(), static_cast<double>(own.main.correct), stop ? 1.0 : 0.0};
  communicator_.all_reduce_sum(std::span<double>(sums));
  StepResult result;
  if (pixels_ > 0.0) {
    result.loss = sums[0] / pixels_;
    result.accuracy = sums[1] / pixels_;
  }
  result.stop = sums[2] > 0.0;
  return result;
}

SegmentationEvaluator::SegmentationEvaluator(const SwinConfig& config, std::int64_t batch_per_rank,
                                             const ModelOptions& options, ParameterStore<float>& parameters,
                                             Communicator& communicator)
    : config_(config),
      batch_(batch_per_rank),
      communicator_(communicator),
      model_(config, batch_per_rank, options, parameters, &communicator),
      logits_shape_{batch_per_rank,
                    stage_shape(config, 0).resolution,
                    stage_shape(config, 0).resolution,
                    config.image_size,
                    config.image_size,
                    config.classes},
      loss_(output_operation("loss", OperationClass::kLoss, upsample_loss_forward_cost(logits_shape_, sizeof(float)),
                             logits_shape_)),
      answer_(output_operation("answer", OperationClass::kOther, upsample_argmax_cost(logits_shape_, sizeof(float)),
                               logits_shape_)),
      images_(pixel_count(config, batch_per_rank) * kImageChannels),
      lse_(pixel_count(config, batch_per_rank)),
      labels_(lse_.size()),
      answers_(lse_.size()),
      rows_(static_cast<std::size_t>(batch_per_rank * config.image_size)) {}

Evaluation SegmentationEvaluator::evaluate(SegmentationData& data, std::int64_t images) {
  model_.weights_changed();
  Confusion confusion(config_.classes);
  PixelLoss loss;
  const std::int64_t together = batch_ * communicator_.size();
  const std::int64_t image_pixels = static_cast<std::int64_t>(labels_.size()) / batch_;
  for (std::int64_t first = 0; first < images; first += together) {
    const std::int64_t own = first + communicator_.rank() * batch_;
    {
      const PhaseRange phase(Phase::kData);
      data.load(own, images_, labels_);
      // Samples behind the last one that is wanted do not count, whatever the data say.
      const std::int64_t counted = std::clamp<std::int64_t>(images - own, 0, batch_) * image_pixels;
      std::fill(labels_.begin() + counted, labels_.end(), kIgnoredLabel);
    }
    const PhaseRange phase(Phase::kForward);
    const auto logits = model_.forward(images_.data());
    {
      const OperationRange range(loss_.name, loss_.forward);
      loss += cpu::upsample_loss_forward<float>(logits_shape_, logits.main, labels_.data(), lse_.data(), rows_.data());
    }
    const OperationRange range(answer_.name, answer_.forward);
    cpu::upsample_argmax<float>(logits_shape_, logits.main, answers_.data());
    confusion.add(labels_, answers_);
  }
  communicator_.all_reduce_sum(confusion.counts());
  std::array<double, 2> sums = {loss.sum, static_cast<double>(loss.count)};
  communicator_.all_reduce_sum(std::span<double>(sums));
  Evaluation result;
  if (sums[1] > 0.0) result.loss = sums[0] / sums[1];
  result.accuracy = confusion.pixel_accuracy();
  result.images = images;
  result.mean_iou = confusion.mean_iou();
  result.iou = confusion.iou();
  return result;
}

}  // namespace swinscope
