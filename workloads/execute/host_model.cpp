#include "workloads/execute/host_model.h"

#include <stdexcept>

namespace swinscope {
namespace {

const SwinConfig& checked(const SwinConfig& config, std::int64_t batch) {
  check_config(config);
  if (config.task == Task::kSegmentation) check_segmentation(config);
  if (batch < 1) throw std::invalid_argument("HostModel: the batch must not be empty");
  return config;
}

}  // namespace

template <typename T>
HostModel<T>::HostModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options,
                        ParameterStore<T>& store, Communicator* communicator)
    : training_(options.training),
      depth_(training_ ? options.drop_path : 0.0, block_count(checked(config, batch)), batch, options.seed),
      backend_(build_model(config, batch, options, sizeof(T) == sizeof(double) ? DataType::kFp64 : DataType::kFp32,
                           communicator == nullptr ? 1 : communicator->size()),
               store, communicator) {
  for (int block = 0; block < block_count(config); ++block)
    for (const int half : {0, 1})
      bind(drop_path_name(block, half), depth_.scale(block, half));
}

template <typename T>
void HostModel<T>::bind(const std::string& input, const T* values) {
  const TensorId id = backend_.graph().find(input);
  if (id != kNoTensor) backend_.bind(id, values);
}

template <typename T>
const T* HostModel<T>::pointer(const std::string& name) const {
  const TensorId id = backend_.graph().find(name);
  return id == kNoTensor ? nullptr : backend_.values(id).data();
}

template <typename T>
void HostModel<T>::weights_changed() {
  backend_.make_constants();
  constants_made_ = true;
}

template <typename T>
Logits<T> HostModel<T>::forward(const T* images) {
  if (!constants_made_) weights_changed();
  bind("images", images);
  backend_.forward();
  return {pointer("logits"), pointer("auxiliary")};
}

template <typename T>
void HostModel<T>::backward(const T* dlogits, const T* dauxiliary, const GradientsReady& ready) {
  if (!training_) throw std::logic_error("HostModel: backward of an inference model");
  bind("gradient of logits", dlogits);
  bind("gradient of auxiliary", dauxiliary);
  backend_.backward(ready);
}

template <typename T>
std::span<const T> HostModel<T>::output(const std::string& name) const {
  const TensorId id = backend_.graph().find(name);
  if (id == kNoTensor) throw std::out_of_range("no output named " + name);
  return backend_.values(id);
}

template class HostModel<float>;
template class HostModel<double>;

}  // namespace swinscope
