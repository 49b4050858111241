#pragma once

#include <cstdint>

#include "kernels/cost.h"

namespace swinscope {

// Bilinear resize of NHWC maps, as torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
struct UpsampleShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;  // of the input
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t channels = 0;

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t out_pixels() const { return batch * out_height * out_width; }
};

OperationCost upsample_forward_cost(const UpsampleShape& shape, bool accumulates, std::int64_t element_bytes);
OperationCost upsample_backward_cost(const UpsampleShape& shape, bool accumulates, std::int64_t element_bytes);

namespace cpu {

// y = or, where `accumulate`, += the resized x.
template <typename T>
void upsample_forward(const UpsampleShape& shape, const T* x, bool accumulate, T* y);

// dx = or += the gradient, gathered: each input adds up what the outputs that read it give back, in their order.
template <typename T>
void upsample_backward(const UpsampleShape& shape, const T* dy, bool accumulate, T* dx);

}  // namespace cpu
}  // namespace swinscope
