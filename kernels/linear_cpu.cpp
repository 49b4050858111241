#include "kernels/bias.h"
#include "kernels/gemm.h"
#include "kernels/linear.h"

namespace swinscope {

OperationCost linear_forward_cost(const LinearShape& shape, std::int64_t element_bytes) {
  OperationCost cost = gemm_cost({.m = shape.rows, .n = shape.outputs, .k = shape.inputs}, false, element_bytes);
  if (shape.bias) cost.bytes_read += shape.outputs * element_bytes;
  return cost;
}

OperationCost linear_backward_cost(const LinearShape& shape, bool input_gradient, std::int64_t element_bytes) {
  const std::int64_t x = shape.rows * shape.inputs;
  const std::int64_t dy = shape.rows * shape.outputs;
  const std::int64_t weight = shape.inputs * shape.outputs;
  const std::int64_t dbias = shape.bias ? shape.outputs : 0;
  const std::int64_t product = 2 * shape.rows * weight;
  OperationCost cost{product, (x + dy + weight + dbias) * element_bytes, (weight + dbias) * element_bytes};
  if (input_gradient) cost += {product, weight * element_bytes, x * element_bytes};
  return cost;
}

namespace cpu {

template <typename T>
void linear_forward(const LinearShape& shape, const T* x, const T* weight, const std::type_identity_t<T>* bias, T* y) {
  const GemmShape product{.m = shape.rows, .n = shape.outputs, .k = shape.inputs, .transpose_b = Transpose::kYes};
  gemm(product, T{1}, x, weight, T{0}, y);
  if (bias != nullptr) bias_forward<T>({shape.rows, shape.outputs}, y, bias, y);
}

template <typename T>
void linear_backward(const LinearShape& shape, const T* x, const T* weight, const T* dy, std::type_identity_t<T>* dx,
                     std::type_identity_t<T>* dweight, std::type_identity_t<T>* dbias) {
  if (dx != nullptr) {
    gemm({.m = shape.rows, .n = shape.inputs, .k = shape.outputs}, T{1}, dy, weight, T{0}, dx);
  }
  if (dweight != nullptr) {
    const GemmShape product{.m = shape.outputs, .n = shape.inputs, .k = shape.rows, .transpose_a = Transpose::kYes};
    gemm(product, T{1}, dy, x, T{1}, dweight);
  }
  if (dbias != nullptr) bias_backward<T>({shape.rows, shape.outputs}, dy, dbias);
}

template void linear_forward<float>(const LinearShape&, const float*, const float*, const float*, float*);
template void linear_forward<double>(const LinearShape&, const double*, const double*, const double*, double*);
template void linear_backward<float>(const LinearShape&, const float*, const float*, const float*, float*, float*,
                                     float*);
template void linear_backward<double>(const LinearShape&, const double*, const double*, const double*, double*, double*,
                                      double*);

}  // namespace cpu
}  // namespace swinscope
