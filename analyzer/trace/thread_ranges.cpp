#include "analyzer/trace/thread_ranges.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace swinscope {
namespace {

// Of two ranges that start together the longer is the outer one.
void put_in_order(const Ranges& ranges, std::vector<EventIndex>& events) {
  const auto key = [&](EventIndex i) { return std::tuple(ranges.start_ns[i], -ranges.end_ns[i], i); };
  if (!std::ranges::is_sorted(events, {}, key)) std::ranges::sort(events, {}, key);
}

void find_parents(const Ranges& ranges, ThreadRanges& thread) {
  std::vector<std::uint32_t> open;
  thread.parent.reserve(thread.nested.size());
  for (std::uint32_t i = 0; i < thread.nested.size(); ++i) {
    const std::int64_t start = ranges.start_ns[thread.nested[i]];
    while (!open.empty() && ranges.end_ns[thread.nested[open.back()]] <= start)
      open.pop_back();
    thread.parent.push_back(open.empty() ? ThreadRanges::kNone : open.back());
    open.push_back(i);
  }
}

}  // namespace

std::uint32_t ThreadRanges::innermost(const Ranges& ranges, std::int64_t time_ns) const {
  const auto after = std::upper_bound(nested.begin(), nested.end(), time_ns,
                                      [&](std::int64_t t, EventIndex i) { return t < ranges.start_ns[i]; });
  auto place = after == nested.begin() ? kNone : static_cast<std::uint32_t>(after - nested.begin() - 1);
  while (place != kNone && ranges.end_ns[nested[place]] <= time_ns)
    place = parent[place];
  return place;
}

IntervalSet ThreadRanges::covered(const Ranges& ranges) const {
  std::vector<Interval> outermost;
  const auto add = [&](EventIndex i) { outermost.push_back({ranges.start_ns[i], ranges.end_ns[i]}); };
  for (std::uint32_t i = 0; i < nested.size(); ++i) {
    // A range of another domain may be popped after the one around it.
    if (parent[i] == kNone || ranges.end_ns[nested[i]] > ranges.end_ns[nested[parent[i]]]) add(nested[i]);
  }
  std::ranges::for_each(start_end, add);
  return unite(std::move(outermost));
}

std::vector<ThreadRanges> thread_ranges(const Rank& rank, const std::function<bool(std::uint32_t domain)>& is_wanted) {
  std::map<std::uint64_t, ThreadRanges> threads;
  for (const RangeLane& lane : rank.range_lanes) {
    if (!is_wanted(lane.domain)) continue;
    ThreadRanges& thread = threads[lane.global_tid];
    auto start_end = std::ranges::lower_bound(rank.start_end_ranges, lane.events.begin);
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const bool nests = start_end == rank.start_end_ranges.end() || *start_end != i;
      (nests ? thread.nested : thread.start_end).push_back(i);
      if (!nests) ++start_end;
    }
  }
  std::vector<ThreadRanges> result;
  for (auto& [global_tid, thread] : threads) {
    thread.global_tid = global_tid;
    put_in_order(rank.ranges, thread.nested);
    put_in_order(rank.ranges, thread.start_end);
    find_parents(rank.ranges, thread);
    result.push_back(std::move(thread));
  }
  return result;
}

}  // namespace swinscope
