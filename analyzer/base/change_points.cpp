#include "analyzer/base/change_points.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

// Twice the ranks, 1 to n: ties have the mean of theirs.
std::vector<std::int64_t> doubled_ranks(std::span<const std::int64_t> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto value = [&](std::size_t i) { return values[i]; };
  std::ranges::sort(order, {}, value);
  std::vector<std::int64_t> ranks(values.size());
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::ranges::upper_bound(first, order.end(), values[*first], {}, value);
    const auto sum = (first - order.begin()) + (last - order.begin()) + 1;
    for (; first != last; ++first)
      ranks[*first] = sum;
  }
  return ranks;
}

std::int64_t median(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return quantile(sorted, 0.5);
}

// Where U is largest and smallest; 0 at either end.
struct Extremes {
  std::int64_t largest = 0;
  std::int64_t smallest = 0;
  std::size_t at_largest = 0;
  std::size_t at_smallest = 0;
};

Extremes extremes(std::span<const std::int64_t> values) {
  const std::vector<std::int64_t> ranks = doubled_ranks(values);
  Extremes found;
  std::int64_t u = 0;
  for (std::size_t t = 1; t < values.size(); ++t) {
    u += ranks[t - 1] - std::ssize(values) - 1;
    if (u > found.largest) found.largest = u, found.at_largest = t;
    if (u < found.smallest) found.smallest = u, found.at_smallest = t;
  }
  return found;
}

// The ends of the parts into which the values are to be split, by the test that says so; none where neither does.
std::vector<ChangePoint> splits(std::span<const std::int64_t> values) {
  if (values.size() < kFewestForChange) return {};
  const Extremes u = extremes(values);
  const auto n = static_cast<double>(values.size());
  const auto squared = [&](std::int64_t of) { return 3 * std::pow(static_cast<double>(of), 2) / (n * n * (n + 1)); };
  const double for_good = squared(std::max(u.largest, -u.smallest));
  const double and_back = squared(u.largest - u.smallest);
  const double p_for_good = 2 * 2 * std::exp(-2 * for_good);
  const double p_and_back = 2 * 2 * (4 * and_back - 1) * std::exp(-2 * and_back);
  if (p_for_good < kChangeAlpha) return {{u.largest > -u.smallest ? u.at_largest : u.at_smallest, p_for_good}};
  // The formula holds for what is rare.
  if (and_back < 1 || p_and_back >= kChangeAlpha) return {};
  const auto [first, second] = std::minmax(u.at_largest, u.at_smallest);
  return {{first, p_and_back}, {second, p_and_back}};
}

// Where what follows is at the level of what was before, within `smallest` of it, there is no split.
void split(std::span<const std::int64_t> values, std::size_t offset, double smallest, std::vector<ChangePoint>& found) {
  const std::vector<ChangePoint> parts = splits(values);
  if (parts.empty()) return;
  const std::size_t until = parts.size() > 1 ? parts[1].at : values.size();
  const auto before = static_cast<double>(median(values.first(parts[0].at)));
  const auto after = static_cast<double>(median(values.subspan(parts[0].at, until - parts[0].at)));
  if (std::abs(after - before) < smallest * before) return;
  std::size_t begin = 0;
  for (const ChangePoint& part : parts) {
    split(values.subspan(begin, part.at - begin), offset + begin, smallest, found);
    found.push_back({offset + part.at, part.p});
    begin = part.at;
  }
  split(values.subspan(begin), offset + begin, smallest, found);
}

}  // namespace

std::vector<ChangePoint> find_changes(std::span<const std::int64_t> values, double smallest) {
  std::vector<ChangePoint> found;
  split(values, 0, smallest, found);
  return found;
}

}  // namespace swinscope
