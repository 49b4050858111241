#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "kernels/cross_entropy.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kLabelBytes = sizeof(std::int32_t);
}  // namespace

OperationCost cross_entropy_forward_cost(const CrossEntropyShape& shape, std::int64_t element_bytes) {
  return {0, shape.rows * (shape.classes * element_bytes + kLabelBytes), shape.rows * 2 * element_bytes};
}

OperationCost cross_entropy_backward_cost(const CrossEntropyShape& shape, std::int64_t element_bytes) {
  return {0, shape.rows * ((shape.classes + 1) * element_bytes + kLabelBytes),
          shape.rows * shape.classes * element_bytes};
}

namespace cpu {
namespace {

template <typename T>
double log_sum_exp(const T* z, std::int64_t count) {
  const auto largest = static_cast<double>(*std::max_element(z, z + count));
  double sum = 0.0;
  for (std::int64_t k = 0; k < count; ++k)
    sum += std::exp(static_cast<double>(z[k]) - largest);
  return largest + std::log(sum);
}

// Written with lse - z, which is small where it matters, rather than with z itself.
template <typename T>
double smoothed_loss(const CrossEntropyShape& shape, const T* z, std::int32_t label, double lse) {
  double loss = (1.0 - shape.smoothing) * (lse - static_cast<double>(z[label]));
  if (shape.smoothing == 0.0) return loss;
  double sum = 0.0;
  for (std::int64_t k = 0; k < shape.classes; ++k)
    sum += lse - static_cast<double>(z[k]);
  return loss + shape.smoothing / static_cast<double>(shape.classes) * sum;
}

void check(const CrossEntropyShape& shape, const std::int32_t* labels) {
  require(shape.classes > 0, "cross_entropy", "no classes");
  require(shape.smoothing >= 0.0 && shape.smoothing <= 1.0, "cross_entropy", "smoothing outside [0, 1]");
  require(std::all_of(labels, labels + shape.rows, [&](std::int32_t label) { return label < shape.classes; }),
          "cross_entropy", "label not below the number of classes");
}

}  // namespace

template <typename T>
CrossEntropyResult cross_entropy_forward(const CrossEntropyShape& shape, const T* logits, const std::int32_t* labels,
                                         T* row_loss, T* lse) {
  check(shape, labels);
  parallel_for(shape.rows, [&](std::int64_t row) {
    const T* z = logits + row * shape.classes;
    const double row_lse = log_sum_exp(z, shape.classes);
    lse[row] = static_cast<T>(row_lse);
    row_loss[row] = labels[row] < 0 ? T{0} : static_cast<T>(smoothed_loss(shape, z, labels[row], row_lse));
  });
  CrossEntropyResult result;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] < 0) continue;
    const T* z = logits + row * shape.classes;
    ++result.count;
    result.mean_loss += static_cast<double>(row_loss[row]);
    if (std::max_element(z, z + shape.classes) - z == labels[row]) ++result.correct;
  }
  if (result.count > 0) result.mean_loss /= static_cast<double>(result.count);
  return result;
}

template <typename T>
void cross_entropy_backward(const CrossEntropyShape& shape, const T* logits, const std::int32_t* labels, const T* lse,
                            double row_scale, T* dlogits) {
  check(shape, labels);
  const double everywhere = shape.smoothing / static_cast<double>(shape.classes);
  parallel_for(shape.rows, [&](std::int64_t row) {
    const T* z = logits + row * shape.classes;
    T* dz = dlogits + row * shape.classes;
    if (labels[row] < 0) {
      std::fill_n(dz, shape.classes, T{0});
      return;
    }
    for (std::int64_t k = 0; k < shape.classes; ++k) {
      const double probability = std::exp(static_cast<double>(z[k]) - static_cast<double>(lse[row]));
      const double target = everywhere + (k == labels[row] ? 1.0 - shape.smoothing : 0.0);
      dz[k] = static_cast<T>(row_scale * (probability - target));
    }
  });
}

template CrossEntropyResult cross_entropy_forward<float>(const CrossEntropyShape&, const float*, const std::int32_t*,
                                                         float*, float*);
template CrossEntropyResult cross_entropy_forward<double>(const CrossEntropyShape&, const double*, const std::int32_t*,
                                                          double*, double*);
template void cross_entropy_backward<float>(const CrossEntropyShape&, const float*, const std::int32_t*, const float*,
                                            double, float*);
template void cross_entropy_backward<double>(const CrossEntropyShape&, const double*, const std::int32_t*,
                                             const double*, double, double*);

}  // namespace cpu
}  // namespace swinscope
