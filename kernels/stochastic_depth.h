// The scales of stochastic depth (Huang et al. 2016, arXiv:1603.09382) drawn on the device, so that a captured graph
// draws new ones each time. The numbers are those of workloads/stochastic_depth.h, to the bit.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda {

struct StochasticDepthShape {
  double rate = 0.0;  // of the last block, in [0, 1)
  int blocks = 0;     // of the whole model
  std::int64_t batch = 0;
  std::uint64_t seed = 0;
};

// Which samples a batch holds. In device memory.
struct SamplePlace {
  std::int64_t step = 0;
  std::int64_t first_sample = 0;  // global number of the batch's first image within the step
};

// scales: [blocks, 2, batch]: 0 with probability p = rate * block / (blocks - 1), else 1 / (1 - p).
void stochastic_depth_scales(const StochasticDepthShape& shape, const SamplePlace* place, float* scales, Stream stream);

}  // namespace swinscope::cuda
