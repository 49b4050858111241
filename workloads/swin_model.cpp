#include "workloads/swin_model.h"

#include <stdexcept>

namespace swinscope {

template <typename T>
SwinModel<T>::SwinModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options,
                        ParameterStore<T>& store)
    : batch_(batch),
      training_(options.training),
      last_stage_(config.stages - 1),
      backbone_(config, batch, options, store),
      head_binder_(store),
      head_(std::make_unique<ClassifierHead<T>>(head_binder_, config, batch, training_)),
      logits_(static_cast<std::size_t>(batch * config.classes)) {}

template <typename T>
const T* SwinModel<T>::forward(const T* images) {
  head_->forward(backbone_.forward(images), logits_.data());
  return logits_.data();
}

template <typename T>
void SwinModel<T>::backward(const T* dlogits, const GradientsReady& ready) {
  if (!training_) throw std::logic_error("SwinModel: backward of an inference model");
  head_->backward(backbone_.stage_output(last_stage_).data(), dlogits, backbone_.last_gradient());
  ready(head_binder_.gradient_end());
  backbone_.backward({}, ready);
}

template class SwinModel<float>;
template class SwinModel<double>;

}  // namespace swinscope
