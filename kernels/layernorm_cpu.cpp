#include <cmath>

#include "kernels/check.h"
#include "kernels/lanes.h"
#include "kernels/layernorm.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kRowGrain = 32;
constexpr std::int64_t kColumnGrain = 32;
}  // namespace

OperationCost layernorm_forward_cost(const LayerNormShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.channels;
  return {0, (elements + 2 * shape.channels) * element_bytes, (elements + 2 * shape.rows) * element_bytes};
}

OperationCost layernorm_backward_cost(const LayerNormShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.channels;
  return {0, (2 * elements + 2 * shape.rows + 3 * shape.channels) * element_bytes,
          (elements + 2 * shape.channels) * element_bytes};
}

namespace cpu {
namespace {

template <typename T>
void input_gradient_row(std::int64_t channels, const T* x, const T* gamma, T mean, T rstd, const T* dy, T* dx) {
  const T g_mean = lane_sum<T>(channels, [&](std::int64_t c) { return dy[c] * gamma[c]; }) / static_cast<T>(channels);
  const T projection =
      lane_sum<T>(channels, [&](std::int64_t c) { return dy[c] * gamma[c] * ((x[c] - mean) * rstd); }) /
      static_cast<T>(channels);
  for (std::int64_t c = 0; c < channels; ++c) {
    dx[c] = rstd * (dy[c] * gamma[c] - g_mean - (x[c] - mean) * rstd * projection);
  }
}

// A task owns some columns and walks all rows, so that no partial sums are to be combined.
template <typename T>
void parameter_gradients(const LayerNormShape& shape, const T* x, const T* mean, const T* rstd, const T* dy, T* dgamma,
                         T* dbeta) {
  parallel_ranges(shape.channels, kColumnGrain, [&](std::int64_t begin, std::int64_t end) {
    double gamma_sum[kColumnGrain] = {};
    double beta_sum[kColumnGrain] = {};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const T* x_row = x + row * shape.channels + begin;
      const T* dy_row = dy + row * shape.channels + begin;
      for (std::int64_t c = 0; c < end - begin; ++c) {
        gamma_sum[c] += static_cast<double>(dy_row[c] * ((x_row[c] - mean[row]) * rstd[row]));
        beta_sum[c] += static_cast<double>(dy_row[c]);
      }
    }
    for (std::int64_t c = begin; c < end; ++c) {
      dgamma[c] += static_cast<T>(gamma_sum[c - begin]);
      dbeta[c] += static_cast<T>(beta_sum[c - begin]);
    }
  });
}

}  // namespace

template <typename T>
void layernorm_forward(const LayerNormShape& shape, const T* x, const T* gamma, const T* beta, T* y, T* mean, T* rstd) {
  require(shape.channels > 0 && shape.epsilon >= 0, "layernorm_forward", "channels or epsilon out of range");
  const std::int64_t channels = shape.channels;
  parallel_ranges(shape.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* x_row = x + row * channels;
      T* y_row = y + row * channels;
      const T center = lane_sum<T>(channels, [&](std::int64_t c) { return x_row[c]; }) / static_cast<T>(channels);
      const T variance =
          lane_sum<T>(channels, [&](std::int64_t c) { return (x_row[c] - center) * (x_row[c] - center); }) /
          static_cast<T>(channels);
      const T scale = T{1} / std::sqrt(variance + static_cast<T>(shape.epsilon));
      for (std::int64_t c = 0; c < channels; ++c)
        y_row[c] = (x_row[c] - center) * scale * gamma[c] + beta[c];
      mean[row] = center;
      rstd[row] = scale;
    }
  });
}

template <typename T>
void layernorm_backward(const LayerNormShape& shape, const T* x, const T* gamma, const T* mean, const T* rstd,
                        const T* dy, T* dx, T* dgamma, T* dbeta) {
  require(shape.channels > 0, "layernorm_backward", "channels out of range");
  parameter_gradients(shape, x, mean, rstd, dy, dgamma, dbeta);  // before dx, which may overwrite dy
  parallel_ranges(shape.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.channels;
      input_gradient_row(shape.channels, x + at, gamma, mean[row], rstd[row], dy + at, dx + at);
    }
  });
}

template void layernorm_forward<float>(const LayerNormShape&, const float*, const float*, const float*, float*, float*,
                                       float*);
template void layernorm_forward<double>(const LayerNormShape&, const double*, const double*, const double*, double*,
                                        double*, double*);
template void layernorm_backward<float>(const LayerNormShape&, const float*, const float*, const float*, const float*,
                                        const float*, float*, float*, float*);
template void layernorm_backward<double>(const LayerNormShape&, const double*, const double*, const double*,
                                         const double*, const double*, double*, double*, double*);

}  // namespace cpu
}  // namespace swinscope
