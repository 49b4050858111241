#include "gui/core/area_statistics.h"

#include <algorithm>
#include <atomic>

#include "analyzer/base/parallel.h"

namespace swinscope::gui {
namespace {

struct Total {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
};

// Sums over lanes, of one thread.
class Summer {
 public:
  Summer(const Timeline& timeline, Interval window, const std::vector<bool>& keep)
      : window_(window), keep_(keep), totals_(timeline.names.size()) {}

  // Returns the busy time.
  std::int64_t add(const TimelineLane& lane) {
    const auto [first, last] = lane.events_in(window_.begin_ns, window_.end_ns);
    if (first == last) return 0;
    // Only the first and the last event can reach beyond the window.
    std::int64_t busy = add_event(lane, first, part_ns(lane, first));
    const std::span<const NameId> names = lane.names();
    if (keep_.empty()) {
      for (LanePosition i = first + 1; i + 1 < last; ++i)
        busy += add_to(names[i], lane.duration_ns(i));
    } else {
      for (LanePosition i = first + 1; i + 1 < last; ++i)
        busy += add_event(lane, i, lane.duration_ns(i));
    }
    if (last - first > 1) busy += add_event(lane, last - 1, part_ns(lane, last - 1));
    return busy;
  }

  const std::vector<Total>& totals() const { return totals_; }

 private:
  std::int64_t part_ns(const TimelineLane& lane, LanePosition i) const {
    return std::min(lane.event_end_ns(i), window_.end_ns) - std::max(lane.start_ns(i), window_.begin_ns);
  }
  std::int64_t add_event(const TimelineLane& lane, LanePosition i, std::int64_t part_ns) {
    const NameId name = lane.names()[i];
    return keep_.empty() || keep_[name] ? add_to(name, part_ns) : 0;
  }
  std::int64_t add_to(NameId name, std::int64_t part_ns) {
    Total& total = totals_[name];
    ++total.count;
    total.total_ns += part_ns;
    return part_ns;
  }

  Interval window_;
  const std::vector<bool>& keep_;
  std::vector<Total> totals_;  // by NameId
};

}  // namespace

AreaStatistics area_statistics(const Timeline& timeline, std::span<const LaneId> lanes, Interval window,
                               const std::vector<bool>& keep, int threads) {
  AreaStatistics statistics;
  statistics.lane_busy_ns.resize(lanes.size());
  std::vector<Summer> summers(static_cast<std::size_t>(std::max(threads, 1)), Summer(timeline, window, keep));
  std::atomic<std::size_t> next = 0;
  parallel_for(summers.size(), threads, [&](std::size_t thread) {
    for (std::size_t i = next++; i < lanes.size(); i = next++)
      statistics.lane_busy_ns[i] = summers[thread].add(timeline.lanes[lanes[i]]);
  });
  for (NameId name = 0; name < timeline.names.size(); ++name) {
    NameTotal total{name, 0, 0};
    for (const Summer& summer : summers) {
      total.count += summer.totals()[name].count;
      total.total_ns += summer.totals()[name].total_ns;
    }
    if (total.count == 0) continue;
    statistics.count += total.count;
    statistics.sum_ns += total.total_ns;
    statistics.names.push_back(total);
  }
  std::ranges::sort(statistics.names, [](const NameTotal& a, const NameTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return statistics;
}

}  // namespace swinscope::gui
