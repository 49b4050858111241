#include <algorithm>
#include <cmath>

#include "kernels/batchnorm.h"
#include "kernels/check.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kColumnGrain = 32;
constexpr std::int64_t kRowGrain = 32;
}  // namespace

OperationCost batchnorm_sums_cost(const BatchNormShape& shape, std::int64_t element_bytes) {
  return {0, shape.rows * shape.channels * element_bytes,
          shape.sum_elements() * static_cast<std::int64_t>(sizeof(double))};
}

OperationCost batchnorm_forward_cost(const BatchNormShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.channels;
  return {0, (elements + 4 * shape.channels) * element_bytes, elements * element_bytes};
}

OperationCost batchnorm_backward_sums_cost(const BatchNormShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.channels;
  return {0, (2 * elements + 4 * shape.channels) * element_bytes,
          2 * shape.channels * element_bytes + shape.sum_elements() * static_cast<std::int64_t>(sizeof(double))};
}

OperationCost batchnorm_backward_cost(const BatchNormShape& shape, std::int64_t element_bytes) {
  const std::int64_t elements = shape.rows * shape.channels;
  return {0,
          (2 * elements + 3 * shape.channels) * element_bytes +
              shape.sum_elements() * static_cast<std::int64_t>(sizeof(double)),
          elements * element_bytes};
}

namespace cpu {
namespace {

// first[c] = sum of a(row, c) and second[c] = sum of b(row, c) over all rows. A task owns some columns and walks all
// rows, so that no partial sums are to be combined.
template <typename Terms>
void column_sums(const BatchNormShape& shape, double* sums, const Terms& terms) {
  parallel_ranges(shape.channels, kColumnGrain, [&](std::int64_t begin, std::int64_t end) {
    double first[kColumnGrain] = {};
    double second[kColumnGrain] = {};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t c = begin; c < end; ++c)
        terms(row * shape.channels + c, c, first[c - begin], second[c - begin]);
    }
    std::copy_n(first, end - begin, sums + begin);
    std::copy_n(second, end - begin, sums + shape.channels + begin);
  });
  sums[2 * shape.channels] = static_cast<double>(shape.rows);
}

void check(const BatchNormShape& shape) {
  require(shape.rows >= 0 && shape.channels > 0 && shape.epsilon >= 0, "batchnorm",
          "rows, channels or epsilon out of range");
}

}  // namespace

template <typename T>
void batchnorm_sums(const BatchNormShape& shape, const T* x, double* sums) {
  check(shape);
  column_sums(shape, sums, [x](std::int64_t at, std::int64_t /*channel*/, double& sum, double& squares) {
    const auto value = static_cast<double>(x[at]);
    sum += value;
    squares += value * value;
  });
}

template <typename T>
void batchnorm_statistics(const BatchNormShape& shape, const double* sums, T* mean, T* rstd, T* running_mean,
                          T* running_variance) {
  check(shape);
  const double rows = sums[2 * shape.channels];
  require(rows > 0.0, "batchnorm_statistics", "no rows");
  const double unbiased = rows > 1.0 ? rows / (rows - 1.0) : 1.0;
  const auto moved = [&](T running, double now) {
    return static_cast<T>((1.0 - shape.momentum) * static_cast<double>(running) + shape.momentum * now);
  };
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const double center = sums[c] / rows;
    const double variance = std::max(0.0, sums[shape.channels + c] / rows - center * center);
    mean[c] = static_cast<T>(center);
    rstd[c] = static_cast<T>(1.0 / std::sqrt(variance + shape.epsilon));
    if (running_mean != nullptr) running_mean[c] = moved(running_mean[c], center);
    if (running_variance != nullptr) running_variance[c] = moved(running_variance[c], variance * unbiased);
  }
}

template <typename T>
void batchnorm_running(const BatchNormShape& shape, const T* running_mean, const T* running_variance, T* mean,
                       T* rstd) {
  check(shape);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    mean[c] = running_mean[c];
    rstd[c] = static_cast<T>(1.0 / std::sqrt(static_cast<double>(running_variance[c]) + shape.epsilon));
  }
}

template <typename T>
void batchnorm_forward(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* gamma,
                       const T* beta, T* y) {
  check(shape);
  parallel_ranges(shape.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* x_row = x + row * shape.channels;
      T* y_row = y + row * shape.channels;
      for (std::int64_t c = 0; c < shape.channels; ++c)
        y_row[c] = (x_row[c] - mean[c]) * rstd[c] * gamma[c] + beta[c];
    }
  });
}

template <typename T>
void batchnorm_backward_sums(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* dy,
                             double* sums, T* dgamma, T* dbeta) {
  check(shape);
  column_sums(shape, sums, [&](std::int64_t at, std::int64_t c, double& sum, double& projection) {
    sum += static_cast<double>(dy[at]);
    projection += static_cast<double>(dy[at] * ((x[at] - mean[c]) * rstd[c]));
  });
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    dbeta[c] += static_cast<T>(sums[c]);
    dgamma[c] += static_cast<T>(sums[shape.channels + c]);
  }
}

template <typename T>
void batchnorm_backward(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* gamma,
                        const double* sums, const T* dy, T* dx) {
  check(shape);
  const double rows = sums[2 * shape.channels];
  require(rows > 0.0, "batchnorm_backward", "no rows");
  parallel_ranges(shape.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.channels;
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const T normalized = (x[at + c] - mean[c]) * rstd[c];
        const T center = static_cast<T>(sums[c] / rows);
        const T projection = static_cast<T>(sums[shape.channels + c] / rows);
        dx[at + c] = gamma[c] * rstd[c] * (dy[at + c] - center - normalized * projection);
      }
    }
  });
}

template void batchnorm_sums<float>(const BatchNormShape&, const float*, double*);
template void batchnorm_sums<double>(const BatchNormShape&, const double*, double*);
template void batchnorm_statistics<float>(const BatchNormShape&, const double*, float*, float*, float*, float*);
template void batchnorm_statistics<double>(const BatchNormShape&, const double*, double*, double*, double*, double*);
template void batchnorm_running<float>(const BatchNormShape&, const float*, const float*, float*, float*);
template void batchnorm_running<double>(const BatchNormShape&, const double*, const double*, double*, double*);
template void batchnorm_forward<float>(const BatchNormShape&, const float*, const float*, const float*, const float*,
                                       const float*, float*);
template void batchnorm_forward<double>(const BatchNormShape&, const double*, const double*, const double*,
                                        const double*, const double*, double*);
template void batchnorm_backward_sums<float>(const BatchNormShape&, const float*, const float*, const float*,
                                             const float*, double*, float*, float*);
template void batchnorm_backward_sums<double>(const BatchNormShape&, const double*, const double*, const double*,
                                              const double*, double*, double*, double*);
template void batchnorm_backward<float>(const BatchNormShape&, const float*, const float*, const float*, const float*,
                                        const double*, const float*, float*);
template void batchnorm_backward<double>(const BatchNormShape&, const double*, const double*, const double*,
                                         const double*, const double*, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
