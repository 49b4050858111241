#include "workloads/evaluator.h"

#include <array>
#include <span>

#include "workloads/annotate.h"

namespace swinscope {

template <typename T>
Evaluator<T>::Evaluator(const SwinConfig& config, std::int64_t batch_per_rank, ParameterStore<T>& parameters,
                        Communicator& communicator)
    : batch_(batch_per_rank),
      communicator_(communicator),
      model_(config, batch_per_rank, {}, parameters),
      loss_shape_{batch_per_rank, config.classes, 0.0},
      images_(static_cast<std::size_t>(batch_per_rank * kImageChannels * config.image_size * config.image_size)),
      labels_(static_cast<std::size_t>(batch_per_rank)),
      row_loss_(labels_.size()),
      lse_(labels_.size()) {}

template <typename T>
Evaluation Evaluator<T>::evaluate(TrainingData& data, std::int64_t images) {
  model_.weights_changed();
  std::array<double, 3> sums = {};  // loss, right ones, images
  const std::int64_t together = batch_ * communicator_.size();
  for (std::int64_t first = 0; first < images; first += together) {
    {
      const PhaseRange phase(Phase::kData);
      data.load(first + communicator_.rank() * batch_, std::span<T>(images_), labels_);
    }
    const PhaseRange phase(Phase::kForward);
    const T* const logits = model_.forward(images_.data()).main;
    const CrossEntropyResult own =
        cpu::cross_entropy_forward<T>(loss_shape_, logits, labels_.data(), row_loss_.data(), lse_.data());
    sums[0] += own.mean_loss * static_cast<double>(own.count);
    sums[1] += static_cast<double>(own.correct);
    sums[2] += static_cast<double>(own.count);
  }
  communicator_.all_reduce_sum(std::span<double>(sums));
  if (sums[2] == 0.0) return {};
  return {sums[0] / sums[2], sums[1] / sums[2], static_cast<std::int64_t>(sums[2])};
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace swinscope
