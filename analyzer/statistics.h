// Order statistics of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace swinscope {

// The q-quantile (0..1) of sorted values with linear interpolation between neighbours (type 7 of Hyndman and Fan, 1996:
// what numpy and R do by default), rounded to the nearest integer. 0 for no values.
inline std::int64_t quantile(const std::vector<std::int64_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double step = static_cast<double>(sorted[above] - sorted[below]) * (position - static_cast<double>(below));
  return sorted[below] + std::llround(step);
}

struct Summary {
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t min = 0;
  std::int64_t median = 0;
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  double mean() const { return count == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(count); }
};

inline Summary summarize(std::vector<std::int64_t> values) {
  Summary s;
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  s.count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t v : values)
    s.total += v;
  s.min = values.front();
  s.median = quantile(values, 0.5);
  s.p95 = quantile(values, 0.95);
  s.p99 = quantile(values, 0.99);
  s.max = values.back();
  return s;
}

}  // namespace swinscope
