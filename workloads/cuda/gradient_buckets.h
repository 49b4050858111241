// How the flat gradient buffer is cut for its all-reduce: pieces that become final together while the backward pass
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/cuda/training_builder.h"

namespace swinscope {

// Elements [begin, end) of the flat buffer, final after so many steps of the backward pass.
struct GradientBucket {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t after = 0;
};

// In backward order and without a gap. A bucket ends at the first mark at which it holds `least` elements or more; the
// last one holds the rest.
std::vector<GradientBucket> plan_buckets(std::span<const GradientMark> marks, std::int64_t least);

}  // namespace swinscope
