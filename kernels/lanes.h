// Sums on the CPU with a fixed number of interleaved partial sums: vectorized, and the same bits on every machine.
#pragma once

#include <cstdint>

namespace swinscope::cpu {

// Sum of term(i) over [0, count) in kSumLanes interleaved partial sums: an order that vector units follow,
// that is the same on every machine, and whose rounding error grows with count / kSumLanes.
inline constexpr std::int64_t kSumLanes = 16;

template <typename T, typename Term>
T lane_sum(std::int64_t count, const Term& term) {
  T lane[kSumLanes] = {};
  std::int64_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes) {
    for (std::int64_t l = 0; l < kSumLanes; ++l)
      lane[l] += term(i + l);
  }
  for (; i < count; ++i)
    lane[i % kSumLanes] += term(i);
  for (std::int64_t width = kSumLanes / 2; width > 0; width /= 2) {
    for (std::int64_t l = 0; l < width; ++l)
      lane[l] += lane[l + width];
  }
  return lane[0];
}

}  // namespace swinscope::cpu
