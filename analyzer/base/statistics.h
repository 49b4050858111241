// Order statistics of samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace swinscope {

// Between two neighbours, rounded to the nearest integer.
inline std::int64_t interpolate(std::int64_t below, std::int64_t above, double fraction) {
  return below + std::llround(static_cast<double>(above - below) * fraction);
}

// The q-quantile (0..1) of sorted values with linear interpolation between neighbours (type 7 of Hyndman and Fan, 1996:
// what numpy and R do by default), rounded to the nearest integer. 0 for no values.
inline std::int64_t quantile(const std::vector<std::int64_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return interpolate(sorted[below], sorted[above], position - static_cast<double>(below));
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

// Quantiles of values in any order, each larger than the one before: puts only those in order that it needs.
class GrowingQuantiles {
 public:
  explicit GrowingQuantiles(std::vector<std::int64_t>& values) : values_(values), rest_(values.begin()) {}

  std::int64_t quantile(double q) {
    const double position = q * static_cast<double>(values_.size() - 1);
    const auto below = values_.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(rest_, below, values_.end());
    rest_ = below;
    const auto above = std::next(below) == values_.end() ? below : std::min_element(std::next(below), values_.end());
    return interpolate(*below, *above, position - std::floor(position));
  }

 private:
  std::vector<std::int64_t>& values_;
  std::vector<std::int64_t>::iterator rest_;  // what lies before is smaller
};

inline Summary summarize(std::vector<std::int64_t> values) {
  Summary s;
  if (values.empty()) return s;
  s.count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t v : values)
    s.total += v;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  s.min = *min;
  s.max = *max;
  GrowingQuantiles quantiles(values);
  s.median = quantiles.quantile(0.5);
  s.p95 = quantiles.quantile(0.95);
  s.p99 = quantiles.quantile(0.99);
  return s;
}

// Of values in any order, which it changes; 0 for no values.
inline std::int64_t quantile_of(std::vector<std::int64_t>& values, double q) {
  return values.empty() ? 0 : GrowingQuantiles(values).quantile(q);
}

// Two-sided 95 % quantile of Student's t with `freedom` degrees of freedom.
inline double student_t95(std::size_t freedom) {
  constexpr std::array<double, 10> kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom <= kTable.size()) return kTable[freedom - 1];
  return 1.96 + 2.4 / static_cast<double>(freedom);  // within 0.5 % from 10 on
}

// Of a sample, over n - 1; there must be two values.
inline double variance(const std::vector<std::int64_t>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const std::int64_t v : values)
    mean += static_cast<double>(v) / n;
  double squares = 0;
  for (const std::int64_t v : values)
    squares += std::pow(static_cast<double>(v) - mean, 2);
  return squares / (n - 1);
}

// Half the 95 % confidence interval of the mean; nothing for fewer than two values.
inline std::optional<std::int64_t> ci95_half_width(const std::vector<std::int64_t>& values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  return static_cast<std::int64_t>(student_t95(values.size() - 1) * std::sqrt(variance(values) / n));
}

}  // namespace swinscope
