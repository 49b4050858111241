// Sets of time intervals: unions, intersections, differences. METRICS' U(x) and |.|.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace swinscope {

struct Interval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t length() const { return end_ns - begin_ns; }
  bool operator==(const Interval&) const = default;
};

// Sorted, disjoint, not touching, none empty.
using IntervalSet = std::vector<Interval>;

// The union of any intervals; empty ones vanish. O(n log n), O(n) when already sorted by begin.
IntervalSet unite(std::vector<Interval> intervals);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
// The parts of `a` outside of `b`.
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
std::int64_t total_length(const IntervalSet& set);
// Each interval cut to the window; what lies outside vanishes.
IntervalSet clip(const IntervalSet& set, Interval window);

// How much of intervals a set covers, where they are asked for by begin; O(n) for all of them together.
class IntervalCover {
 public:
  // `set` must outlive it.
  explicit IntervalCover(const IntervalSet& set) : set_(set) {}
  std::int64_t of(Interval interval);

 private:
  const IntervalSet& set_;
  std::size_t next_ = 0;  // the first that ends behind the begin of what was last asked for
};

}  // namespace swinscope
