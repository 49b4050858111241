#include "workloads/cuda/gradient_buckets.h"

#include <algorithm>

namespace swinscope {
namespace {

// To where the next tensor may begin, so that sums work on whole vectors.
std::int64_t aligned(std::int64_t end) {
  constexpr std::int64_t kTogether = ParameterLayout::kAlignment;
  return (end + kTogether - 1) / kTogether * kTogether;
}

}  // namespace

std::vector<GradientBucket> plan_buckets(std::span<const GradientMark> marks, std::int64_t least) {
  std::vector<GradientBucket> buckets;
  std::int64_t begin = 0;
  for (const GradientMark& mark : marks) {
    const bool last = &mark == &marks.back();
    const std::int64_t end = std::min(aligned(mark.end), marks.back().end);
    if (end <= begin || (end - begin < least && !last)) continue;
    buckets.push_back({begin, end, mark.count});
    begin = end;
  }
  return buckets;
}

}  // namespace swinscope
