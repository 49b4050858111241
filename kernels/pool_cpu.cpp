#include <algorithm>

#include "kernels/check.h"
#include "kernels/parallel.h"
#include "kernels/pool.h"

namespace swinscope {
namespace {
constexpr std::int64_t kColumnGrain = 32;
constexpr std::int64_t kRowGrain = 64;
}  // namespace

OperationCost pool_forward_cost(const PoolShape& shape, std::int64_t element_bytes) {
  const std::int64_t pooled = shape.batch * shape.channels;
  return {0, pooled * shape.tokens * element_bytes, pooled * element_bytes};
}

OperationCost pool_backward_cost(const PoolShape& shape, std::int64_t element_bytes) {
  const std::int64_t pooled = shape.batch * shape.channels;
  return {0, pooled * element_bytes, pooled * shape.tokens * element_bytes};
}

namespace cpu {

template <typename T>
void pool_forward(const PoolShape& shape, const T* x, T* y) {
  require(shape.tokens > 0, "pool_forward", "no tokens");
  const std::int64_t blocks = (shape.channels + kColumnGrain - 1) / kColumnGrain;
  parallel_for(shape.batch * blocks, [&](std::int64_t task) {
    const std::int64_t image = task / blocks;
    const std::int64_t begin = task % blocks * kColumnGrain;
    const std::int64_t width = std::min(kColumnGrain, shape.channels - begin);
    double sum[kColumnGrain] = {};
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const T* row = x + (image * shape.tokens + token) * shape.channels + begin;
      for (std::int64_t c = 0; c < width; ++c)
        sum[c] += static_cast<double>(row[c]);
    }
    T* pooled = y + image * shape.channels + begin;
    for (std::int64_t c = 0; c < width; ++c)
      pooled[c] = static_cast<T>(sum[c] / static_cast<double>(shape.tokens));
  });
}

template <typename T>
void pool_backward(const PoolShape& shape, const T* dy, T* dx) {
  require(shape.tokens > 0, "pool_backward", "no tokens");
  parallel_ranges(shape.batch * shape.tokens, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* pooled = dy + row / shape.tokens * shape.channels;
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        dx[row * shape.channels + c] = pooled[c] / static_cast<T>(shape.tokens);
      }
    }
  });
}

template void pool_forward<float>(const PoolShape&, const float*, float*);
template void pool_forward<double>(const PoolShape&, const double*, double*);
template void pool_backward<float>(const PoolShape&, const float*, float*);
template void pool_backward<double>(const PoolShape&, const double*, double*);

}  // namespace cpu
}  // namespace swinscope
