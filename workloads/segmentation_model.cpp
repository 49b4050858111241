#include "workloads/segmentation_model.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "workloads/error.h"

namespace swinscope {
void check_segmentation(const SwinConfig& config) {
  if (config.task != Task::kSegmentation) throw std::invalid_argument("check_segmentation: a model of another task");
  const auto refuse = [&config](const std::string& why) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{} cannot be built for segmentation", config.name), why,
                        {});
  };
  if (config.stages < 2) refuse("the head joins at least two stages");
  if (config.classes < 1 || config.classes > 255) refuse("masks of 8 bits tell 1 to 255 classes apart");
  if (config.head_channels < 2 || config.head_channels % 2 != 0) refuse("the head's channels must be even");
}

namespace {

const SwinConfig& checked(const SwinConfig& config) {
  check_segmentation(config);
  return config;
}

}  // namespace

template <typename T>
SegmentationModel<T>::SegmentationModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options,
                                        ParameterStore<T>& store, Communicator& communicator)
    : backbone_(checked(config), batch, options, store),
      head_binder_(store),
      head_(store, head_binder_, config, batch, {options.training, options.tap_fusion}, communicator) {
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    const LayerNormShape rows{batch * shape.resolution * shape.resolution, shape.width};
    norms_.emplace_back(head_binder_, fmt::format("norm{}", stage), fmt::format("head.norm{}", stage + 1), rows);
    features_.emplace_back(static_cast<std::size_t>(rows.rows * rows.channels));
    gradients_.emplace_back(options.training ? features_.back().size() : 0);
  }
}

template <typename T>
typename UperHead<T>::Logits SegmentationModel<T>::forward(const T* images) {
  backbone_.forward(images);
  std::vector<const T*> features;
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    norms_[i].forward(backbone_.stage_output(static_cast<int>(i)).data(), features_[i].data());
    features.push_back(features_[i].data());
  }
  return head_.forward(features);
}

template <typename T>
void SegmentationModel<T>::backward(const T* dlogits, const T* dauxiliary, const GradientsReady& ready) {
  std::vector<T*> gradients;
  for (std::vector<T>& gradient : gradients_)
    gradients.push_back(gradient.data());
  head_.backward(dlogits, dauxiliary, gradients);
  const std::size_t last = norms_.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    T* const out = i == last ? backbone_.last_gradient() : gradients[i];
    norms_[i].backward(backbone_.stage_output(static_cast<int>(i)).data(), gradients[i], out);
  }
  ready(head_binder_.gradient_end());
  gradients.back() = nullptr;  // it is where the backbone wants it
  backbone_.backward(std::vector<const T*>(gradients.begin(), gradients.end()), ready);
}

template class SegmentationModel<float>;
template class SegmentationModel<double>;

}  // namespace swinscope
