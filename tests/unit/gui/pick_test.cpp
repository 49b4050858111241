#include "gui/core/pick.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::gui {
namespace {

using test::random_trace;

class Pick : public testing::Test {
 protected:
  const Trace trace_ = random_trace(1, 800);
  const Timeline timeline_ = build_timeline(trace_);
};

TEST_F(Pick, EveryEventIsHitAtFullZoom) {
  const Viewport whole = fit(timeline_.span(), 500);
  for (LaneId lane = 0; lane < timeline_.lanes.size(); ++lane) {
    for (LanePosition i = 0; i < timeline_.lanes[lane].size(); ++i) {
      const LaneEvent event = timeline_.event({lane, i});
      Viewport view = zoomed(whole, 1e30, 0);
      const std::int64_t middle = event.start_ns + event.duration_ns / 2;
      view.first_column = view.column_of(middle) - 250;
      const auto hit = hit_test(timeline_, lane, view, 250);
      ASSERT_TRUE(hit);
      // Events without duration may share a nanosecond with others.
      const LaneEvent found = timeline_.event(*hit);
      EXPECT_TRUE(hit->position == i || (found.start_ns <= middle && found.end_ns() >= middle)) << i;
      if (event.duration_ns > 1) {
        EXPECT_EQ(hit->position, i);
      }
    }
  }
}

TEST_F(Pick, HitsTheNearestWithinReach) {
  Timeline timeline;
  timeline.names.add("a");
  TimelineLane& lane = timeline.lanes.emplace_back();
  lane.append({0, 100, 0, 0, kNoEvent});
  lane.append({1'000, 100, 0, 1, kNoEvent});
  lane.seal();
  const Viewport view{0, 10, 0, 200};
  EXPECT_EQ(hit_test(timeline, 0, view, 5)->position, 0U);
  EXPECT_EQ(hit_test(timeline, 0, view, 11)->position, 0U);
  EXPECT_EQ(hit_test(timeline, 0, view, 98)->position, 1U);
  EXPECT_FALSE(hit_test(timeline, 0, view, 50));
  EXPECT_FALSE(hit_test(timeline, 0, view, 12, 1));
  EXPECT_FALSE(hit_test(timeline, 7, view, 5));
}

TEST_F(Pick, NeighboursEndAtTheEndsOfTheLane) {
  const LanePosition last = timeline_.lanes[0].size() - 1;
  EXPECT_EQ(next_in_lane(timeline_, {0, 0}, true)->position, 1U);
  EXPECT_EQ(next_in_lane(timeline_, {0, 1}, false)->position, 0U);
  EXPECT_FALSE(next_in_lane(timeline_, {0, 0}, false));
  EXPECT_FALSE(next_in_lane(timeline_, {0, last}, true));
}

TEST_F(Pick, ParentsEncloseTheirRanges) {
  const Ranges& ranges = trace_.ranks[0].ranges;
  int with_parent = 0;
  for (EventIndex ref = 0; ref < ranges.size(); ++ref) {
    const TimelineEventId id = timeline_.find(0, LaneKind::kRanges, ref);
    const auto parent = parent_range(timeline_, id);
    if (ranges.depth[ref] == 0) {
      EXPECT_FALSE(parent);
      continue;
    }
    ASSERT_TRUE(parent);
    ++with_parent;
    EXPECT_EQ(timeline_.lanes[parent->lane].key.depth + 1, ranges.depth[ref]);
    EXPECT_LE(timeline_.event(*parent).start_ns, ranges.start_ns[ref]);
    EXPECT_GE(timeline_.event(*parent).end_ns(), ranges.start_ns[ref]);
  }
  EXPECT_GT(with_parent, 100);
}

TEST_F(Pick, LinksAreThoseOfTheTrace) {
  const Rank& rank = trace_.ranks[0];
  std::map<EventIndex, std::size_t> launched;
  for (EventIndex work = 0; work < rank.gpu.size(); ++work) {
    const auto links = links_of(timeline_, timeline_.find(0, LaneKind::kKernels, work));
    const EventIndex launch = rank.gpu.launch[work];
    ASSERT_EQ(links.size(), launch == kNoEvent ? 0U : 1U);
    if (links.empty()) continue;
    ++launched[launch];
    EXPECT_EQ(timeline_.event(links[0].call).ref, launch);
    EXPECT_EQ(links[0].launch_delay_ns, rank.gpu.start_ns[work] - rank.api.start_ns[launch]);
    EXPECT_EQ(links[0].queue_ns, std::max<std::int64_t>(rank.gpu.start_ns[work] - rank.api.end_ns[launch], 0));
  }
  EXPECT_GT(launched.size(), 500U);
  for (EventIndex call = 0; call < rank.api.size(); ++call) {
    const auto links = links_of(timeline_, timeline_.find(0, LaneKind::kCalls, call));
    EXPECT_EQ(links.size(), launched.contains(call) ? launched[call] : 0U);
  }
}

TEST(Links, OfACallWithMuchWorkAreCutAtTheLimit) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.processes.emplace_back();
  TimelineLane& gpu = timeline.lanes.emplace_back();
  for (LanePosition i = 0; i < 10; ++i)
    gpu.append({1'000 + i * 10, 5, 0, i, 0});
  gpu.seal();
  TimelineLane& calls = timeline.lanes.emplace_back();
  calls.key.kind = LaneKind::kCalls;
  calls.append({0, 50, 0, 0, kNoEvent});
  calls.seal();
  const auto links = links_of(timeline, {1, 0}, 3);
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[2].work.position, 2U);
  EXPECT_EQ(links[2].launch_delay_ns, 1'020);
  EXPECT_EQ(links[2].queue_ns, 970);
  timeline.preview = true;
  EXPECT_TRUE(links_of(timeline, {1, 0}).empty());
}

}  // namespace
}  // namespace swinscope::gui
