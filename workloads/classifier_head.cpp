#include "workloads/classifier_head.h"

namespace swinscope {
namespace {

PoolShape pool_shape(const SwinConfig& config, std::int64_t batch) {
  const StageShape last = stage_shape(config, config.stages - 1);
  return {batch, std::int64_t{last.resolution} * last.resolution, last.width};
}

template <typename T>
Operation pool_operation(const PoolShape& shape) {
  const ShapeExtents input = {shape.batch, shape.tokens, shape.channels};
  const ShapeExtents output = {shape.batch, shape.channels};
  return {
      RangeName("head.pool"),
      make_payload(pool_forward_cost(shape, sizeof(T)), OperationClass::kElementwise, precision_of<T>(), input, output),
      make_payload(pool_backward_cost(shape, sizeof(T)), OperationClass::kElementwise, precision_of<T>(), output,
                   input)};
}

}  // namespace

template <typename T>
ClassifierHead<T>::ClassifierHead(ParameterBinder<T>& binder, const SwinConfig& config, std::int64_t batch,
                                  bool training)
    : shape_(pool_shape(config, batch)),
      norm_(binder, "norm", "norm", {shape_.batch * shape_.tokens, shape_.channels}),
      classifier_(binder, "head.fc", "head.fc", {shape_.batch, shape_.channels, config.classes}),
      normalized_(static_cast<std::size_t>(shape_.batch * shape_.tokens * shape_.channels)),
      pooled_(static_cast<std::size_t>(shape_.batch * shape_.channels)),
      pooled_gradient_(training ? pooled_.size() : 0),
      pool_(pool_operation<T>(shape_)) {}

template <typename T>
void ClassifierHead<T>::forward(const T* x, T* logits) {
  norm_.forward(x, normalized_.data());
  {
    const OperationRange range(pool_.name, pool_.forward);
    cpu::pool_forward<T>(shape_, normalized_.data(), pooled_.data());
  }
  classifier_.forward(pooled_.data(), logits);
}

template <typename T>
void ClassifierHead<T>::backward(const T* x, const T* dlogits, T* dx) {
  classifier_.backward(pooled_.data(), dlogits, pooled_gradient_.data());
  {
    const OperationRange range(pool_.name, pool_.backward);
    cpu::pool_backward<T>(shape_, pooled_gradient_.data(), dx);
  }
  norm_.backward(x, dx, dx);
}

template class ClassifierHead<float>;
template class ClassifierHead<double>;

}  // namespace swinscope
