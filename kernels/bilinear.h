// Sample positions and weights of a bilinear resize along one axis, in integers: the CPU's kernels and the tests of the
// device's take them from here. bilinear_axis.cuh is the version for device code.
#pragma once

#include <algorithm>
#include <cstdint>

namespace swinscope {

// One axis of a bilinear resize from `from` to `to` samples with align_corners = False: output o lies at the coordinate
// (o + 1/2) * from / to - 1/2 of the input, clamped to it. In integers, so that every program that computes a weight
// gets the same one: the coordinate is ((2 o + 1) * from - to) / (2 to).
struct BilinearSource {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double weight = 0.0;  // of high; low has the rest

  // Of input `index`. low and high are the same at the far border.
  constexpr double weight_of(std::int64_t index) const {
    return (low == index ? 1.0 - weight : 0.0) + (high == index ? weight : 0.0);
  }
};

constexpr BilinearSource bilinear_source(std::int64_t from, std::int64_t to, std::int64_t output) {
  const std::int64_t coordinate = std::max<std::int64_t>(0, (2 * output + 1) * from - to);
  const std::int64_t low = coordinate / (2 * to);
  return {low, std::min(low + 1, from - 1), static_cast<double>(coordinate % (2 * to)) / static_cast<double>(2 * to)};
}

// The outputs that read input `index`: those whose low is index - 1 or index, a run [begin, end).
struct BilinearReaders {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

constexpr BilinearReaders bilinear_readers(std::int64_t from, std::int64_t to, std::int64_t index) {
  // The first output whose coordinate reaches `edge`: (2 o + 1) * from >= (2 edge + 1) * to.
  const auto first_from = [&](std::int64_t edge) {
    const std::int64_t numerator = (2 * edge + 1) * to - from;
    return numerator <= 0 ? 0 : std::min(to, (numerator + 2 * from - 1) / (2 * from));
  };
  return {index == 0 ? 0 : first_from(index - 1), index == from - 1 ? to : first_from(index + 1)};
}

}  // namespace swinscope
