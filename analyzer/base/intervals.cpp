#include "analyzer/base/intervals.h"

#include <algorithm>

namespace swinscope {

IntervalSet unite(std::vector<Interval> intervals) {
  const auto by_begin = [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_begin)) {
    std::sort(intervals.begin(), intervals.end(), by_begin);
  }
  IntervalSet result;
  for (const Interval& interval : intervals) {
    if (interval.end_ns <= interval.begin_ns) continue;
    if (!result.empty() && interval.begin_ns <= result.back().end_ns) {
      result.back().end_ns = std::max(result.back().end_ns, interval.end_ns);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const Interval common{std::max(i->begin_ns, j->begin_ns), std::min(i->end_ns, j->end_ns)};
    if (common.begin_ns < common.end_ns) result.push_back(common);
    if (i->end_ns < j->end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  auto j = b.begin();
  for (Interval rest : a) {
    while (j != b.end() && j->end_ns <= rest.begin_ns)
      ++j;
    for (auto hole = j; hole != b.end() && hole->begin_ns < rest.end_ns; ++hole) {
      if (hole->begin_ns > rest.begin_ns) result.push_back({rest.begin_ns, hole->begin_ns});
      rest.begin_ns = std::max(rest.begin_ns, hole->end_ns);
    }
    if (rest.begin_ns < rest.end_ns) result.push_back(rest);
  }
  return result;
}

std::int64_t total_length(const IntervalSet& set) {
  std::int64_t sum = 0;
  for (const Interval& interval : set)
    sum += interval.length();
  return sum;
}

IntervalSet clip(const IntervalSet& set, Interval window) { return intersect(set, {window}); }

std::int64_t IntervalCover::of(Interval interval) {
  while (next_ < set_.size() && set_[next_].end_ns <= interval.begin_ns)
    ++next_;
  std::int64_t covered = 0;
  for (std::size_t i = next_; i < set_.size() && set_[i].begin_ns < interval.end_ns; ++i)
    covered += std::min(set_[i].end_ns, interval.end_ns) - std::max(set_[i].begin_ns, interval.begin_ns);
  return covered;
}

}  // namespace swinscope
