// What host and device tell each other about a step, in one piece of device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cross_entropy.h"
#include "kernels/multi_tensor_adamw.h"
#include "kernels/stochastic_depth.h"

namespace swinscope {

struct DeviceControl {
  cuda::LossSums sums;
  std::int64_t stop = 0;  // whether this rank wants to end; then how many do, as the sums are those of all ranks
  // It and what follows on, up to and including the learning rate, the host writes before a pass.
  cuda::SamplePlace place;
  cuda::OptimizerState state;
  // Segmentation only: the auxiliary head's part of the loss, and what a pixel's gradient is multiplied with: the loss
  // scale / pixels that count on all ranks.
  cuda::LossSums auxiliary;
  float pixel_scale = 0.0F;
};

struct PassOrders {
  std::int64_t stop = 0;
  cuda::SamplePlace place;
  double learning_rate = 0.0;
};
static_assert(offsetof(DeviceControl, state) - offsetof(DeviceControl, stop) == offsetof(PassOrders, learning_rate));
static_assert(offsetof(DeviceControl, stop) == offsetof(cuda::LossSums, count) + 2 * sizeof(std::int64_t));
static_assert(offsetof(cuda::OptimizerState, learning_rate) == 0);

}  // namespace swinscope
