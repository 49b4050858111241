#include "workloads/cuda/gradient_buckets.h"

#include <algorithm>

namespace swinscope {
namespace {

std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

std::vector<GradientBucket> plan_buckets(std::span<const GradientMark> marks, std::int64_t least,
                                         std::int64_t together) {
  std::vector<GradientBucket> buckets;
  std::int64_t begin = 0;
  for (const GradientMark& mark : marks) {
    const bool last = &mark == &marks.back();
    // To where the next tensor may begin, so that sums work on whole vectors.
    const std::int64_t ready = std::min(rounded_up(mark.end, ParameterLayout::kAlignment), marks.back().end);
    const std::int64_t end = last ? rounded_up(ready, together) : ready / together * together;
    if (end <= begin || (end - begin < least && !last)) continue;
    buckets.push_back({begin, end, mark.count});
    begin = end;
  }
  return buckets;
}

}  // namespace swinscope
