// Where a series changes its level: tests on the ranks of its values, applied again to the parts of what was split
// (binary segmentation).
//
// With R_i the rank of value i among all n (ties share the mean), U_t = 2 (R_1 + … + R_t) - t (n + 1) compares the
// first t values with the others, whatever their distribution; sqrt(3 / (n^3 + n^2)) U goes to a Brownian bridge. Two
// tests, each at half of alpha:
//   a change for good (Pettitt, Applied Statistics 28, 1979): K = max |U_t|, p = 2 exp(-2 x^2), x = sqrt(3 / (n^3 +
//   n^2)) K;
//            the split is behind the t of K
//   a change and back (the range of the bridge, as Kuiper 1960): V = max U - min U with U_0 = 0 among them,
//            p = 2 (4 x^2 - 1) exp(-2 x^2), x likewise of V; the splits are behind both t
// Single outliers have a rank like any other value, and move nothing.
//
// False alarms: at most a share alpha of series of independent values without a change is split at all. Values that
// depend on their neighbours (drift, periods) are split more often. A split into equal halves needs kFewestForChange
// values; one nearer to an end needs more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace swinscope {

inline constexpr double kChangeAlpha = 0.01;
inline constexpr std::size_t kFewestForChange = 18;

struct ChangePoint {
  std::size_t at = 0;  // the first value of the new level
  double p = 1;        // of the test that split there, twice: there are two
  bool operator==(const ChangePoint&) const = default;
};

// Ascending. Changes of the median by less than `smallest` of what it was are none. O(n log n) for each split.
std::vector<ChangePoint> find_changes(std::span<const std::int64_t> values, double smallest);

}  // namespace swinscope
