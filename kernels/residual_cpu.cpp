#include <algorithm>

#include "kernels/parallel.h"
#include "kernels/residual.h"

namespace swinscope {
namespace {

constexpr std::int64_t kGrain = 8192;

// Calls body(sample, begin, end) for ranges of elements that lie within one sample.
template <typename Body>
void for_ranges_of_samples(const ResidualShape& shape, const Body& body) {
  const std::int64_t ranges = (shape.sample_elements + kGrain - 1) / kGrain;
  cpu::parallel_for(shape.batch * ranges, [&](std::int64_t task) {
    const std::int64_t sample = task / ranges;
    const std::int64_t begin = task % ranges * kGrain;
    const std::int64_t end = std::min(begin + kGrain, shape.sample_elements);
    body(sample, sample * shape.sample_elements + begin, sample * shape.sample_elements + end);
  });
}

}  // namespace

OperationCost residual_forward_cost(const ResidualShape& shape, bool scaled, std::int64_t element_bytes) {
  const std::int64_t elements = shape.batch * shape.sample_elements;
  return {0, (2 * elements + (scaled ? shape.batch : 0)) * element_bytes, elements * element_bytes};
}

OperationCost residual_backward_cost(const ResidualShape& shape, bool scaled, std::int64_t element_bytes) {
  if (!scaled) return {};
  const std::int64_t elements = shape.batch * shape.sample_elements;
  return {0, (elements + shape.batch) * element_bytes, elements * element_bytes};
}

OperationCost add_into_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, 2 * count * element_bytes, count * element_bytes};
}

namespace cpu {

template <typename T>
void residual_forward(const ResidualShape& shape, const T* x, const T* branch, const std::type_identity_t<T>* scale,
                      T* y) {
  for_ranges_of_samples(shape, [&](std::int64_t sample, std::int64_t begin, std::int64_t end) {
    const T factor = scale == nullptr ? T{1} : scale[sample];
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = x[i] + factor * branch[i];
  });
}

template <typename T>
void residual_backward(const ResidualShape& shape, const std::type_identity_t<T>* scale, const T* dy, T* dbranch) {
  for_ranges_of_samples(shape, [&](std::int64_t sample, std::int64_t begin, std::int64_t end) {
    const T factor = scale == nullptr ? T{1} : scale[sample];
    for (std::int64_t i = begin; i < end; ++i)
      dbranch[i] = factor * dy[i];
  });
}

template <typename T>
void add_into(std::int64_t count, const T* x, T* y) {
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] += x[i];
  });
}

template void residual_forward<float>(const ResidualShape&, const float*, const float*, const float*, float*);
template void residual_forward<double>(const ResidualShape&, const double*, const double*, const double*, double*);
template void residual_backward<float>(const ResidualShape&, const float*, const float*, float*);
template void residual_backward<double>(const ResidualShape&, const double*, const double*, double*);
template void add_into<float>(std::int64_t, const float*, float*);
template void add_into<double>(std::int64_t, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
