#include "workloads/parameters.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/models/model.h"

namespace swinscope {

ParameterLayout::ParameterLayout(const SwinConfig& config) {
  const Graph graph = build_model(config, 1, {.training = true}, DataType::kFp32);  // which has all of them
  for (const GraphTensor& tensor : graph.tensors) {
    const ParameterInfo info{tensor.name, tensor.shape, tensor.count(), 0, tensor.decays};
    if (tensor.role == TensorRole::kParameter) {
      index_.emplace(info.name, tensors_.size());
      tensors_.push_back(info);
    } else if (tensor.role == TensorRole::kBuffer) {
      buffers_.push_back(info);
      buffers_.back().offset = buffer_count_;
      buffer_count_ += info.count;
    }
  }
  place();
}

void ParameterLayout::place() {
  std::for_each(tensors_.rbegin(), tensors_.rend(), [this](ParameterInfo& tensor) {
    tensor.offset = flat_count_;
    flat_count_ += (tensor.count + kAlignment - 1) / kAlignment * kAlignment;
  });
}

const ParameterInfo& ParameterLayout::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) throw std::out_of_range("no parameter named " + std::string(name));
  return tensors_[found->second];
}

const ParameterInfo& ParameterLayout::find_buffer(std::string_view name) const {
  const auto found = std::ranges::find(buffers_, name, &ParameterInfo::name);
  if (found == buffers_.end()) throw std::out_of_range("no buffer named " + std::string(name));
  return *found;
}

template <typename T>
ParameterStore<T>::ParameterStore(const SwinConfig& config, bool with_gradients)
    : layout_(config),
      values_(static_cast<std::size_t>(layout_.flat_count())),
      gradients_(with_gradients ? static_cast<std::size_t>(layout_.flat_count()) : 0),
      buffers_(static_cast<std::size_t>(layout_.buffer_count())) {}

template <typename T>
void ParameterStore<T>::clear_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), T{0});
}

template class ParameterStore<float>;
template class ParameterStore<double>;

}  // namespace swinscope
