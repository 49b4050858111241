#include "workloads/map_layers.h"

#include <span>

#include "kernels/relu.h"

namespace swinscope {
namespace {

ShapeExtents input_extents(const ConvolutionShape& s) { return {s.batch, s.height, s.width, s.inputs}; }
ShapeExtents output_extents(const ConvolutionShape& s) { return {s.batch, s.height, s.width, s.outputs}; }

OperationCost exchange_cost(const BatchNormShape& shape) {
  const std::int64_t bytes = shape.sum_elements() * static_cast<std::int64_t>(sizeof(double));
  return {0, bytes, bytes};
}

}  // namespace

template <typename T>
Operation map_operation(const std::string& path, OperationClass operation_class, const OperationCost& forward,
                        const OperationCost& backward, const ShapeExtents& input, const ShapeExtents& output) {
  return {RangeName(path), make_payload(forward, operation_class, precision_of<T>(), input, output),
          make_payload(backward, operation_class, precision_of<T>(), output, input)};
}

template <typename T>
NormReluLayer<T>::NormReluLayer(ParameterStore<T>& store, ParameterBinder<T>& binder, const ConvNormSetup& setup,
                                Communicator& communicator)
    : norm_{.rows = setup.shape.pixels(), .channels = setup.shape.outputs},
      training_(setup.training),
      communicator_(&communicator),
      gamma_(binder.bind(setup.parameters + ".1.weight")),
      beta_(binder.bind(setup.parameters + ".1.bias")),
      running_mean_(store.buffer(store.layout().find_buffer(setup.parameters + ".1.running_mean")).data()),
      running_variance_(store.buffer(store.layout().find_buffer(setup.parameters + ".1.running_var")).data()),
      input_(training_ ? static_cast<std::size_t>(norm_.rows * norm_.channels) : 0),
      output_(static_cast<std::size_t>(norm_.rows * norm_.channels)),
      mean_(static_cast<std::size_t>(norm_.channels)),
      rstd_(static_cast<std::size_t>(norm_.channels)),
      sums_(static_cast<std::size_t>(norm_.sum_elements())),
      sums_operation_(map_operation<T>(
          setup.path + ".sums", OperationClass::kNorm, batchnorm_sums_cost(norm_, sizeof(T)),
          batchnorm_backward_sums_cost(norm_, sizeof(T)), output_extents(setup.shape), {norm_.channels})),
      norm_operation_(map_operation<T>(
          setup.path + ".norm", OperationClass::kNorm, batchnorm_forward_cost(norm_, sizeof(T)),
          batchnorm_backward_cost(norm_, sizeof(T)), output_extents(setup.shape), output_extents(setup.shape))),
      relu_operation_(map_operation<T>(
          setup.path + ".relu", OperationClass::kElementwise, relu_forward_cost(output_count(), sizeof(T)),
          relu_backward_cost(output_count(), sizeof(T)), output_extents(setup.shape), output_extents(setup.shape))),
      allreduce_operation_(map_operation<double>(setup.path + ".allreduce", OperationClass::kCommunication,
                                                 exchange_cost(norm_), exchange_cost(norm_), {norm_.sum_elements()},
                                                 {norm_.sum_elements()})) {}

template <typename T>
const T* NormReluLayer<T>::forward() {
  if (training_) {
    normalize_batch();
  } else {
    cpu::batchnorm_running<T>(norm_, running_mean_, running_variance_, mean_.data(), rstd_.data());
  }
  {
    const OperationRange range(norm_operation_.name, norm_operation_.forward);
    cpu::batchnorm_forward<T>(norm_, input(), mean_.data(), rstd_.data(), gamma_.value, beta_.value, output_.data());
  }
  const OperationRange range(relu_operation_.name, relu_operation_.forward);
  cpu::relu_forward<T>(output_count(), output_.data(), output_.data());
  return output_.data();
}

template <typename T>
void NormReluLayer<T>::normalize_batch() {
  {
    const OperationRange range(sums_operation_.name, sums_operation_.forward);
    cpu::batchnorm_sums<T>(norm_, input_.data(), sums_.data());
  }
  add_over_ranks();
  cpu::batchnorm_statistics<T>(norm_, sums_.data(), mean_.data(), rstd_.data(), running_mean_, running_variance_);
}

template <typename T>
void NormReluLayer<T>::add_over_ranks() {
  if (communicator_->size() == 1) return;
  const OperationRange range(allreduce_operation_.name, allreduce_operation_.forward);
  communicator_->all_reduce_sum(std::span<double>(sums_));
}

template <typename T>
void NormReluLayer<T>::backward(T* dy) {
  {
    const OperationRange range(relu_operation_.name, relu_operation_.backward);
    cpu::relu_backward<T>(output_count(), output_.data(), dy, dy);
  }
  {
    const OperationRange range(sums_operation_.name, sums_operation_.backward);
    cpu::batchnorm_backward_sums<T>(norm_, input_.data(), mean_.data(), rstd_.data(), dy, sums_.data(), gamma_.gradient,
                                    beta_.gradient);
  }
  add_over_ranks();
  const OperationRange range(norm_operation_.name, norm_operation_.backward);
  cpu::batchnorm_backward<T>(norm_, input_.data(), mean_.data(), rstd_.data(), gamma_.value, sums_.data(), dy, dy);
}

template <typename T>
ConvNormLayer<T>::ConvNormLayer(ParameterStore<T>& store, ParameterBinder<T>& binder, const ConvNormSetup& setup,
                                Communicator& communicator)
    : shape_(setup.shape),
      weight_(binder.bind(setup.parameters + ".0.weight")),
      norm_(store, binder, setup, communicator),
      operation_(map_operation<T>(
          setup.path + ".conv", OperationClass::kConv, convolution_forward_cost(shape_, false, sizeof(T)),
          convolution_backward_cost(shape_, true, sizeof(T)), input_extents(shape_), output_extents(shape_))) {}

template <typename T>
const T* ConvNormLayer<T>::forward(const T* x) {
  {
    const OperationRange range(operation_.name, operation_.forward);
    cpu::convolution_forward<T>(shape_, x, weight_.value, false, norm_.input());
  }
  return norm_.forward();
}

template <typename T>
void ConvNormLayer<T>::backward(const T* x, T* dy, T* dx) {
  norm_.backward(dy);
  const OperationRange range(operation_.name, operation_.backward);
  cpu::convolution_backward_weight<T>(shape_, x, dy, weight_.gradient);
  cpu::convolution_backward_input<T>(shape_, weight_.value, dy, dx);
}

template <typename T>
ResizeLayer<T>::ResizeLayer(const std::string& path, const UpsampleShape& shape)
    : shape_(shape),
      operation_(map_operation<T>(path, OperationClass::kElementwise, upsample_forward_cost(shape, false, sizeof(T)),
                                  upsample_backward_cost(shape, false, sizeof(T)),
                                  {shape.batch, shape.height, shape.width, shape.channels},
                                  {shape.batch, shape.out_height, shape.out_width, shape.channels})) {}

template <typename T>
void ResizeLayer<T>::forward(const T* x, bool accumulate, T* y) const {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::upsample_forward<T>(shape_, x, accumulate, y);
}

template <typename T>
void ResizeLayer<T>::backward(const T* dy, bool accumulate, T* dx) const {
  const OperationRange range(operation_.name, operation_.backward);
  cpu::upsample_backward<T>(shape_, dy, accumulate, dx);
}

template <typename T>
GridPoolLayer<T>::GridPoolLayer(const std::string& path, const AdaptivePoolShape& shape)
    : shape_(shape),
      operation_(map_operation<T>(path, OperationClass::kElementwise, adaptive_pool_forward_cost(shape, sizeof(T)),
                                  adaptive_pool_backward_cost(shape, true, sizeof(T)),
                                  {shape.batch, shape.height, shape.width, shape.channels},
                                  {shape.batch, shape.side, shape.side, shape.channels})) {}

template <typename T>
void GridPoolLayer<T>::forward(const T* x, T* y) const {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::adaptive_pool_forward<T>(shape_, x, y);
}

template <typename T>
void GridPoolLayer<T>::backward(const T* dy, T* dx) const {
  const OperationRange range(operation_.name, operation_.backward);
  cpu::adaptive_pool_backward<T>(shape_, dy, true, dx);
}

template <typename T>
ConcatPart<T>::ConcatPart(const std::string& path, std::int64_t rows, std::int64_t channels, std::int64_t first,
                          std::int64_t together)
    : rows_(rows),
      channels_(channels),
      first_(first),
      together_(together),
      operation_(map_operation<T>(path, OperationClass::kLayout,
                                  copy_channels_cost({rows, channels, channels, together}, false, sizeof(T)),
                                  copy_channels_cost({rows, channels, together, channels}, false, sizeof(T)),
                                  {rows, channels}, {rows, together})) {}

template <typename T>
void ConcatPart<T>::forward(const T* part, T* whole) const {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::copy_channels<T>({rows_, channels_, channels_, together_}, part, false, whole + first_);
}

template <typename T>
void ConcatPart<T>::backward(const T* whole, T* part) const {
  const OperationRange range(operation_.name, operation_.backward);
  cpu::copy_channels<T>({rows_, channels_, together_, channels_}, whole + first_, false, part);
}

template Operation map_operation<float>(const std::string&, OperationClass, const OperationCost&, const OperationCost&,
                                        const ShapeExtents&, const ShapeExtents&);
template Operation map_operation<double>(const std::string&, OperationClass, const OperationCost&, const OperationCost&,
                                         const ShapeExtents&, const ShapeExtents&);
template class NormReluLayer<float>;
template class NormReluLayer<double>;
template class ConvNormLayer<float>;
template class ConvNormLayer<double>;
template class ResizeLayer<float>;
template class ResizeLayer<double>;
template class GridPoolLayer<float>;
template class GridPoolLayer<double>;
template class ConcatPart<float>;
template class ConcatPart<double>;

}  // namespace swinscope
