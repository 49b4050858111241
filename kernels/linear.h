// A fully connected layer with its bias. On the CPU forward and backward by gemm.h; on the device only a kernel with
// short sums for the classifier, since other layers are matmul.h's GEMMs with an epilogue.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// y[rows, outputs] = x[rows, inputs] * weight[outputs, inputs]^T + bias[outputs]: the layout of
// torch.nn.Linear.
struct LinearShape {
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool bias = true;
};

OperationCost linear_forward_cost(const LinearShape& shape, std::int64_t element_bytes);
// `input_gradient` says whether dx is asked for.
OperationCost linear_backward_cost(const LinearShape& shape, bool input_gradient, std::int64_t element_bytes);

namespace cpu {

// `bias` may be null, also where the shape says there is one. y must not overlap x.
template <typename T>
void linear_forward(const LinearShape& shape, const T* x, const T* weight, const std::type_identity_t<T>* bias, T* y);

// dx = dy * weight (overwritten), dweight += dy^T * x, dbias += column sums of dy.
// Each of dx, dweight and dbias may be null and is then not computed. No output may overlap an input.
template <typename T>
void linear_backward(const LinearShape& shape, const T* x, const T* weight, const T* dy, std::type_identity_t<T>* dx,
                     std::type_identity_t<T>* dweight, std::type_identity_t<T>* dbias);

}  // namespace cpu
namespace cuda {

// As the CPU's, with sums in fp32; inputs must be a multiple of 8, `bias` may be null. A warp has an output to itself,
// so that no sum is long: for the classifier in fp32, where the rounding of a product's long sums was a large part
// of the error of the logits. For few rows and outputs: the weight is read again for every eight rows. Other products
// are matmul.h's.
void linear_forward(const LinearShape& shape, ElementType type, const void* x, const void* weight, const void* bias,
                    void* y, Stream stream);

}  // namespace cuda
}  // namespace swinscope
