// The second stage of sums whose first stage left partial sums of many blocks: added up in their order, so that a
// result depends on the shape alone.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda {

// out[i][column] (+)= sum over p of partials[p * stride + i * columns + column], for the `columns` columns of each
// result that is wanted.
struct PartialSums {
  std::int64_t count = 0;
  std::int64_t stride = 0;
  std::int64_t columns = 0;
  const float* partials = nullptr;
  float* out[3] = {};  // those from the first null on are not wanted
  bool accumulate = false;
};

void add_partial_sums(const PartialSums& sums, Stream stream);

}  // namespace swinscope::cuda
