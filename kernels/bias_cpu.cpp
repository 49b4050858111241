#include "kernels/bias.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kRowGrain = 64;
constexpr std::int64_t kColumnGrain = 32;
}  // namespace

OperationCost bias_forward_cost(const BiasShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.columns;
  return {0, (elements + shape.columns) * element_bytes, elements * element_bytes};
}

OperationCost bias_backward_cost(const BiasShape& shape, std::int64_t element_bytes) {
  return {0, (shape.rows + 1) * shape.columns * element_bytes, shape.columns * element_bytes};
}

namespace cpu {

template <typename T>
void bias_forward(const BiasShape& shape, const T* x, const T* bias, T* y) {
  parallel_ranges(shape.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* x_row = x + row * shape.columns;
      T* y_row = y + row * shape.columns;
      for (std::int64_t c = 0; c < shape.columns; ++c)
        y_row[c] = x_row[c] + bias[c];
    }
  });
}

// A task owns some columns and walks all rows: no partial sums to combine, so nothing depends on how tasks
// are spread.
template <typename T>
void bias_backward(const BiasShape& shape, const T* dy, T* dbias) {
  parallel_ranges(shape.columns, kColumnGrain, [&](std::int64_t begin, std::int64_t end) {
    double sum[kColumnGrain] = {};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const T* dy_row = dy + row * shape.columns + begin;
      for (std::int64_t c = 0; c < end - begin; ++c)
        sum[c] += static_cast<double>(dy_row[c]);
    }
    for (std::int64_t c = begin; c < end; ++c)
      dbias[c] += static_cast<T>(sum[c - begin]);
  });
}

template void bias_forward<float>(const BiasShape&, const float*, const float*, float*);
template void bias_forward<double>(const BiasShape&, const double*, const double*, double*);
template void bias_backward<float>(const BiasShape&, const float*, float*);
template void bias_backward<double>(const BiasShape&, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
