#pragma once

#include <cstdint>

#include "kernels/cost.h"

namespace swinscope {

// Convolution with stride 1 and zero padding kernel / 2, so that the map keeps its size, without a bias (one follows in
// the normalization, or there is none). Maps are NHWC [batch, height, width, channels].
//
// The weight is [outputs, kernel, kernel, weight_inputs]: a torch.nn.Conv2d weight in memory format channels_last. With
// weight_inputs > inputs the convolution reads a slice of the input channels of a wider weight, whose first channel
// `weight` (and `dweight`) points to: a convolution of concatenated maps is the sum of those of its parts.
struct ConvolutionShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t kernel = 3;         // odd
  std::int64_t weight_inputs = 0;  // 0: inputs

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t taps() const { return kernel * kernel; }
  constexpr std::int64_t weight_stride() const { return weight_inputs == 0 ? inputs : weight_inputs; }
};

// Products with the padding are counted, as everyone does.
OperationCost convolution_forward_cost(const ConvolutionShape& shape, bool accumulates, std::int64_t element_bytes);
OperationCost convolution_backward_cost(const ConvolutionShape& shape, bool input_gradient, std::int64_t element_bytes);

namespace cpu {

// y = convolution, or y += where `accumulate`. Throws std::invalid_argument for an even kernel, an empty extent, or a
// weight narrower than its slice.
template <typename T>
void convolution_forward(const ConvolutionShape& shape, const T* x, const T* weight, bool accumulate, T* y);

// dx is overwritten.
template <typename T>
void convolution_backward_input(const ConvolutionShape& shape, const T* weight, const T* dy, T* dx);

// dweight += its gradient.
template <typename T>
void convolution_backward_weight(const ConvolutionShape& shape, const T* x, const T* dy, T* dweight);

}  // namespace cpu
}  // namespace swinscope
