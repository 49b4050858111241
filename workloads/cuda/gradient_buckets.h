// How the flat gradient buffer is cut for its all-reduce: pieces that become final together while the backward pass
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"
#include "workloads/parameters.h"

namespace swinscope {

// After the first `count` steps of the backward pass all gradients before `end` in the flat buffer are final.
struct GradientMark {
  std::size_t count = 0;
  std::int64_t end = 0;
};

// Elements [begin, end) of the flat buffer, final after so many steps of the backward pass.
struct GradientBucket {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t after = 0;
};

// Where ranks add up a part each: elements of a bucket come in multiples of this, so that all have as many vectors of
// 16 bytes.
constexpr std::int64_t gradients_together(std::int64_t ranks, ElementType type) {
  constexpr std::int64_t kVectorBytes = 16;
  return ranks * kVectorBytes / element_bytes(type);
}
constexpr std::int64_t padded_gradients(std::int64_t count, std::int64_t ranks, ElementType type) {
  const std::int64_t together = gradients_together(ranks, type);
  return (count + together - 1) / together * together;
}

// In backward order and without a gap. A bucket ends at the first mark at which it holds `least` elements or more; the
// last one holds the rest. All hold a multiple of `together` elements: what is final beyond it waits for the next
// bucket, and the last one goes beyond the last mark.
std::vector<GradientBucket> plan_buckets(std::span<const GradientMark> marks, std::int64_t least,
                                         std::int64_t together = 1);

}  // namespace swinscope
