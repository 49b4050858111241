// Average pooling of an NHWC map to side x side bins, forward and backward, on the CPU and on the device. UPerNet's
// pyramid pooling uses it with sides of 1, 2, 3 and 6.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Average over a grid of side x side bins, as torch.nn.AdaptiveAvgPool2d(side) on an NHWC map: bin i of n over `extent`
// pixels is [floor(i * extent / n), ceil((i + 1) * extent / n)), so that bins share pixels where n does not divide.
struct AdaptivePoolShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t side = 1;

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t bins() const { return batch * side * side; }
};

OperationCost adaptive_pool_forward_cost(const AdaptivePoolShape& shape, std::int64_t element_bytes);
OperationCost adaptive_pool_backward_cost(const AdaptivePoolShape& shape, bool accumulates, std::int64_t element_bytes);

namespace cpu {

// y: [batch, side, side, channels].
template <typename T>
void adaptive_pool_forward(const AdaptivePoolShape& shape, const T* x, T* y);

// dx = or, where `accumulate`, += the gradient: a pixel takes dy / (pixels of the bin) of each bin that holds it.
template <typename T>
void adaptive_pool_backward(const AdaptivePoolShape& shape, const T* dy, bool accumulate, T* dx);

}  // namespace cpu
namespace cuda {

// As the CPU's, in an order that depends on the shape alone; sums in fp32.
void adaptive_pool_forward(const AdaptivePoolShape& shape, ElementType type, const void* x, void* y, Stream stream);
void adaptive_pool_backward(const AdaptivePoolShape& shape, ElementType type, const void* dy, bool accumulate, void* dx,
                            Stream stream);

}  // namespace cuda
}  // namespace swinscope
