#include "workloads/evaluator.h"

#include <array>
#include <span>

#include "workloads/annotate.h"

namespace swinscope {

template <typename T>
Evaluator<T>::Evaluator(const SwinConfig& config, std::int64_t batch_per_rank, const ModelOptions& options,
                        ParameterStore<T>& parameters, Communicator& communicator)
    : config_(config),
      batch_(batch_per_rank),
      communicator_(communicator),
      model_(config, batch_per_rank, options, parameters, &communicator),
      loss_(make_loss<T>(config, batch_per_rank, 0.0)),
      images_(static_cast<std::size_t>(batch_per_rank * kImageChannels * config.image_size * config.image_size)) {}

template <typename T>
Evaluation Evaluator<T>::evaluate(TrainingData& data, std::int64_t images) {
  model_.weights_changed();
  totals_ = {};
  if (config_.task == Task::kSegmentation) confusion_.emplace(config_.classes);
  for (std::int64_t first = 0; first < images; first += batch_ * communicator_.size())
    add_batch(data, first + communicator_.rank() * batch_, images);
  if (confusion_) communicator_.all_reduce_sum(confusion_->counts());
  std::array<double, 3> sums = {totals_.loss, static_cast<double>(totals_.correct), static_cast<double>(totals_.count)};
  communicator_.all_reduce_sum(std::span<double>(sums));
  Evaluation result;
  if (sums[2] > 0.0) result = {sums[0] / sums[2], sums[1] / sums[2], static_cast<std::int64_t>(sums[2])};
  if (!confusion_) return result;
  result.accuracy = confusion_->pixel_accuracy();
  result.images = images;
  result.mean_iou = confusion_->mean_iou();
  result.iou = confusion_->iou();
  return result;
}

template <typename T>
void Evaluator<T>::add_batch(TrainingData& data, std::int64_t first, std::int64_t images) {
  {
    const PhaseRange phase(Phase::kData);
    data.load(first, std::span<T>(images_), loss_->labels());
    loss_->ignore_from(images - first);
  }
  const PhaseRange phase(Phase::kForward);
  totals_ += loss_->forward(model_.forward(images_.data()));
  if (confusion_) loss_->count_answers(*confusion_);
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace swinscope
