#include "kernels/gelu.h"
#include "kernels/parallel.h"
#include "kernels/vector_math.h"

namespace swinscope {
namespace {
constexpr std::int64_t kGrain = 4096;
}  // namespace

OperationCost gelu_forward_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, count * element_bytes, count * element_bytes};
}

OperationCost gelu_backward_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, 2 * count * element_bytes, count * element_bytes};
}

namespace cpu {

template <typename T>
void gelu_forward(std::int64_t count, const T* x, T* y) {
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = x[i] * normal_distribution(x[i]).cumulative;
  });
}

template <typename T>
void gelu_backward(std::int64_t count, const T* x, const T* dy, T* dx) {
  parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Normal<T> normal = normal_distribution(x[i]);
      dx[i] = dy[i] * (normal.cumulative + x[i] * normal.density);
    }
  });
}

template void gelu_forward<float>(std::int64_t, const float*, float*);
template void gelu_forward<double>(std::int64_t, const double*, double*);
template void gelu_backward<float>(std::int64_t, const float*, const float*, float*);
template void gelu_backward<double>(std::int64_t, const double*, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
