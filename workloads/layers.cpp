#include "workloads/layers.h"

namespace swinscope {
namespace {

template <typename T>
Operation linear_operation(const std::string& path, const LinearShape& shape) {
  const ShapeExtents input = {shape.rows, shape.inputs};
  const ShapeExtents output = {shape.rows, shape.outputs};
  return {RangeName(path),
          make_payload(linear_forward_cost(shape, sizeof(T)), OperationClass::kGemm, precision_of<T>(), input, output),
          make_payload(linear_backward_cost(shape, true, sizeof(T)), OperationClass::kGemm, precision_of<T>(), output,
                       input)};
}

}  // namespace

template <typename T>
LinearLayer<T>::LinearLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path,
                            const LinearShape& shape)
    : LinearLayer(binder, name, path, shape, shape.bias ? binder.bind(name + ".bias") : BoundParameter<T>{}) {}

template <typename T>
LinearLayer<T>::LinearLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path,
                            const LinearShape& shape, const BoundParameter<T>& bias)
    : shape_(shape),
      weight_(binder.bind(name + ".weight")),
      bias_(bias),
      operation_(linear_operation<T>(path, shape)) {}

template <typename T>
void LinearLayer<T>::forward(const T* x, T* y) const {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::linear_forward<T>(shape_, x, weight_.value, bias_.value, y);
}

template <typename T>
void LinearLayer<T>::backward(const T* x, const T* dy, T* dx) const {
  const OperationRange range(operation_.name, operation_.backward);
  cpu::linear_backward<T>(shape_, x, weight_.value, dy, dx, weight_.gradient, bias_.gradient);
}

template <typename T>
LayerNormLayer<T>::LayerNormLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path,
                                  const LayerNormShape& shape)
    : shape_(shape),
      gamma_(binder.bind(name + ".weight")),
      beta_(binder.bind(name + ".bias")),
      mean_(static_cast<std::size_t>(shape.rows)),
      rstd_(static_cast<std::size_t>(shape.rows)),
      operation_{RangeName(path),
                 make_payload(layernorm_forward_cost(shape, sizeof(T)), OperationClass::kNorm, precision_of<T>(),
                              {shape.rows, shape.channels}, {shape.rows, shape.channels}),
                 make_payload(layernorm_backward_cost(shape, sizeof(T)), OperationClass::kNorm, precision_of<T>(),
                              {shape.rows, shape.channels}, {shape.rows, shape.channels})} {}

template <typename T>
void LayerNormLayer<T>::forward(const T* x, T* y) {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::layernorm_forward<T>(shape_, x, gamma_.value, beta_.value, y, mean_.data(), rstd_.data());
}

template <typename T>
void LayerNormLayer<T>::backward(const T* x, const T* dy, T* dx) const {
  const OperationRange range(operation_.name, operation_.backward);
  cpu::layernorm_backward<T>(shape_, x, gamma_.value, mean_.data(), rstd_.data(), dy, dx, gamma_.gradient,
                             beta_.gradient);
}

template <typename T>
ResidualLayer<T>::ResidualLayer(const std::string& path, const ResidualShape& shape) : shape_(shape), name_(path) {
  const ShapeExtents extents = {shape.batch, shape.sample_elements};
  const auto payload = [&extents](const OperationCost& cost) {
    return make_payload(cost, OperationClass::kElementwise, precision_of<T>(), extents, extents);
  };
  forward_ = payload(residual_forward_cost(shape, false, sizeof(T)));
  scaled_forward_ = payload(residual_forward_cost(shape, true, sizeof(T)));
  scale_backward_ = payload(residual_backward_cost(shape, true, sizeof(T)));
  join_backward_ = payload(add_into_cost(shape.batch * shape.sample_elements, sizeof(T)));
}

template <typename T>
void ResidualLayer<T>::forward(const T* x, const T* branch, const std::type_identity_t<T>* scale, T* y) const {
  const OperationRange range(name_, scale == nullptr ? forward_ : scaled_forward_);
  cpu::residual_forward<T>(shape_, x, branch, scale, y);
}

template <typename T>
const T* ResidualLayer<T>::branch_gradient(const std::type_identity_t<T>* scale, const T* dy, T* scratch) const {
  if (scale == nullptr) return dy;
  const OperationRange range(name_, scale_backward_);
  cpu::residual_backward<T>(shape_, scale, dy, scratch);
  return scratch;
}

template <typename T>
void ResidualLayer<T>::join_gradient(const T* dy, T* dx) const {
  const OperationRange range(name_, join_backward_);
  cpu::add_into<T>(shape_.batch * shape_.sample_elements, dy, dx);
}

template class LinearLayer<float>;
template class LinearLayer<double>;
template class LayerNormLayer<float>;
template class LayerNormLayer<double>;
template class ResidualLayer<float>;
template class ResidualLayer<double>;

}  // namespace swinscope
