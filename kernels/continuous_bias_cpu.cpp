#include <algorithm>
#include <cmath>

#include "kernels/bias.h"
#include "kernels/check.h"
#include "kernels/continuous_bias.h"
#include "kernels/gemm.h"

namespace swinscope {
namespace {

constexpr double kTableScale = 16.0;
constexpr double kCoordinateRange = 8.0;

double log_coordinate(std::int64_t offset, std::int64_t window, std::int64_t pretrained) {
  const std::int64_t extent = pretrained > 0 ? pretrained : window;
  const double scaled =
      kCoordinateRange * static_cast<double>(offset) / static_cast<double>(std::max<std::int64_t>(extent - 1, 1));
  return std::copysign(std::log2(1.0 + std::abs(scaled)) / std::log2(kCoordinateRange), scaled);
}

}  // namespace

OperationCost continuous_bias_forward_cost(const ContinuousBiasShape& shape, std::int64_t element_bytes) {
  const std::int64_t weights = shape.hidden * (2 + 1 + shape.heads);
  return {2 * shape.rows() * shape.hidden * (2 + shape.heads), weights * element_bytes,
          shape.rows() * (2 + shape.hidden + shape.heads) * element_bytes};
}

// The coordinates are constants, so the first layer has a weight gradient only.
OperationCost continuous_bias_backward_cost(const ContinuousBiasShape& shape, std::int64_t element_bytes) {
  const std::int64_t weights = shape.hidden * (2 + 1 + shape.heads);
  const std::int64_t saved = shape.rows() * (2 + shape.hidden + 2 * shape.heads);
  return {2 * shape.rows() * shape.hidden * (2 + 2 * shape.heads),
          (weights + shape.hidden * shape.heads + saved) * element_bytes, weights * element_bytes};
}

namespace cpu {

template <typename T>
void continuous_bias_coordinates(const ContinuousBiasShape& shape, T* coordinates) {
  require(shape.window.height > 0 && shape.window.width > 0, "continuous_bias", "empty window");
  for (std::int64_t dy = 1 - shape.window.height; dy < shape.window.height; ++dy) {
    for (std::int64_t dx = 1 - shape.window.width; dx < shape.window.width; ++dx) {
      *coordinates++ = static_cast<T>(log_coordinate(dy, shape.window.height, shape.pretrained_window.height));
      *coordinates++ = static_cast<T>(log_coordinate(dx, shape.window.width, shape.pretrained_window.width));
    }
  }
}

template <typename T>
void continuous_bias_forward(const ContinuousBiasShape& shape, const T* weight1, const T* bias1, const T* weight2,
                             T* coordinates, T* activations, T* table) {
  const std::int64_t rows = shape.rows();
  continuous_bias_coordinates(shape, coordinates);
  gemm({.m = rows, .n = shape.hidden, .k = 2, .transpose_b = Transpose::kYes}, T{1}, coordinates, weight1, T{0},
       activations);
  bias_forward<T>({rows, shape.hidden}, activations, bias1, activations);
  for (std::int64_t i = 0; i < rows * shape.hidden; ++i)
    activations[i] = std::max(activations[i], T{0});
  gemm({.m = rows, .n = shape.heads, .k = shape.hidden, .transpose_b = Transpose::kYes}, T{1}, activations, weight2,
       T{0}, table);
  for (std::int64_t i = 0; i < rows * shape.heads; ++i) {
    table[i] = static_cast<T>(kTableScale) / (T{1} + std::exp(-table[i]));
  }
}

template <typename T>
void continuous_bias_backward(const ContinuousBiasShape& shape, const T* weight2, const T* coordinates,
                              const T* activations, const T* table, const T* dtable, T* dweight1, T* dbias1,
                              T* dweight2, T* workspace) {
  const std::int64_t rows = shape.rows();
  T* const dhidden = workspace;
  T* const dlogits = workspace + rows * shape.hidden;
  for (std::int64_t i = 0; i < rows * shape.heads; ++i) {
    const T sigmoid = table[i] / static_cast<T>(kTableScale);
    dlogits[i] = dtable[i] * table[i] * (T{1} - sigmoid);
  }
  gemm({.m = shape.heads, .n = shape.hidden, .k = rows, .transpose_a = Transpose::kYes}, T{1}, dlogits, activations,
       T{1}, dweight2);
  gemm({.m = rows, .n = shape.hidden, .k = shape.heads}, T{1}, dlogits, weight2, T{0}, dhidden);
  for (std::int64_t i = 0; i < rows * shape.hidden; ++i) {
    if (!(activations[i] > T{0})) dhidden[i] = T{0};
  }
  gemm({.m = shape.hidden, .n = 2, .k = rows, .transpose_a = Transpose::kYes}, T{1}, dhidden, coordinates, T{1},
       dweight1);
  bias_backward<T>({rows, shape.hidden}, dhidden, dbias1);
}

template void continuous_bias_coordinates<float>(const ContinuousBiasShape&, float*);
template void continuous_bias_coordinates<double>(const ContinuousBiasShape&, double*);
template void continuous_bias_forward<float>(const ContinuousBiasShape&, const float*, const float*, const float*,
                                             float*, float*, float*);
template void continuous_bias_forward<double>(const ContinuousBiasShape&, const double*, const double*, const double*,
                                              double*, double*, double*);
template void continuous_bias_backward<float>(const ContinuousBiasShape&, const float*, const float*, const float*,
                                              const float*, const float*, float*, float*, float*, float*);
template void continuous_bias_backward<double>(const ContinuousBiasShape&, const double*, const double*, const double*,
                                               const double*, const double*, double*, double*, double*, double*);

}  // namespace cpu
}  // namespace swinscope
