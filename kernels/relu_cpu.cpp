#include "kernels/parallel.h"
#include "kernels/relu.h"

namespace swinscope {
namespace {
constexpr std::int64_t kGrain = 1 << 14;
}  // namespace

OperationCost relu_forward_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, count * element_bytes, count * element_bytes};
}

OperationCost relu_backward_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, 2 * count * element_bytes, count * element_bytes};
}

namespace cpu {

template <typename T>
void relu_forward(std::int64_t count, const T* x, T* y) {
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = x[i] < T{0} ? T{0} : x[i];
  });
}

template <typename T>
void relu_backward(std::int64_t count, const T* y, const T* dy, T* dx) {
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      dx[i] = y[i] <= T{0} ? T{0} : dy[i];
  });
}

template void relu_forward<float>(std::int64_t, const float*, float*);
template void relu_forward<double>(std::int64_t, const double*, double*);
template void relu_backward<float>(std::int64_t, const float*, const float*, float*);
template void relu_backward<double>(std::int64_t, const double*, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
