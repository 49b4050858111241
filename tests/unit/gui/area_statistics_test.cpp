#include "gui/core/area_statistics.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::gui {
namespace {

using test::Dice;
using test::random_trace;

// By looking at every event.
AreaStatistics oracle(const Timeline& timeline, const std::vector<LaneId>& lanes, Interval window,
                      const std::vector<bool>& keep) {
  AreaStatistics statistics;
  std::map<NameId, NameTotal> names;
  for (const LaneId lane : lanes) {
    std::int64_t busy = 0;
    for (LanePosition i = 0; i < timeline.lanes[lane].size(); ++i) {
      const LaneEvent event = timeline.event({lane, i});
      const std::int64_t part = std::min(event.end_ns(), window.end_ns) - std::max(event.start_ns, window.begin_ns);
      const bool starts_within = event.start_ns >= window.begin_ns && event.start_ns < window.end_ns;
      if ((part <= 0 && !starts_within) || (!keep.empty() && !keep[event.name])) continue;
      NameTotal& total = names[event.name];
      total.name = event.name;
      ++total.count;
      total.total_ns += part;
      ++statistics.count;
      busy += part;
    }
    statistics.sum_ns += busy;
    statistics.lane_busy_ns.push_back(busy);
  }
  for (const auto& [name, total] : names)
    statistics.names.push_back(total);
  std::ranges::stable_sort(statistics.names, std::greater<>(), &NameTotal::total_ns);
  return statistics;
}

void expect_equal(const AreaStatistics& a, const AreaStatistics& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.sum_ns, b.sum_ns);
  EXPECT_EQ(a.lane_busy_ns, b.lane_busy_ns);
  EXPECT_EQ(a.names, b.names);
}

class Area : public testing::Test {
 protected:
  const Timeline timeline_ = build_timeline(random_trace(1, 1'500));
};

TEST_F(Area, EqualsTheSumOverAllEvents) {
  Dice dice(5);
  const Interval span = timeline_.span();
  for (int i = 0; i < 100; ++i) {
    std::vector<LaneId> lanes;
    for (LaneId lane = 0; lane < timeline_.lanes.size(); ++lane) {
      if (dice.one_in(2)) lanes.push_back(lane);
    }
    const std::int64_t begin = span.begin_ns - 100 + dice.between(0, 10'000'000);
    const Interval window{begin, begin + dice.between(1, dice.one_in(2) ? span.length() : 5'000)};
    std::vector<bool> keep;
    if (dice.one_in(2)) {
      for (NameId name = 0; name < timeline_.names.size(); ++name)
        keep.push_back(dice.one_in(2));
    }
    SCOPED_TRACE(i);
    expect_equal(area_statistics(timeline_, lanes, window, keep, static_cast<int>(dice.between(1, 3))),
                 oracle(timeline_, lanes, window, keep));
  }
}

TEST_F(Area, OfNoLaneIsEmpty) {
  const AreaStatistics statistics = area_statistics(timeline_, {}, timeline_.span());
  EXPECT_EQ(statistics.count, 0U);
  EXPECT_TRUE(statistics.names.empty());
}

}  // namespace
}  // namespace swinscope::gui
