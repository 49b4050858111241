#include "gui/core/minimap.h"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::gui {
namespace {

TimelineLane lane(std::uint32_t process, LaneKind kind, const std::vector<Interval>& events) {
  TimelineLane result;
  result.key.process = process;
  result.key.kind = kind;
  for (const Interval& event : events)
    result.append({event.begin_ns, event.length(), 0, result.size(), kNoEvent});
  result.seal();
  return result;
}

TEST(Minimap, ShowsTheBusiestLaneAveragedOverProcesses) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.processes.resize(3);
  timeline.lanes.push_back(lane(0, LaneKind::kKernels, {{0, 50}, {100, 200}, {399, 400}}));
  timeline.lanes.push_back(lane(0, LaneKind::kCopies, {{25, 100}}));
  timeline.lanes.push_back(lane(1, LaneKind::kKernels, {{200, 300}}));
  timeline.lanes.push_back(lane(2, LaneKind::kCalls, {{0, 10}}));
  const Minimap minimap = make_minimap(timeline, 4);
  // Process 2 has no GPU: it does not lower the average.
  EXPECT_EQ(minimap.gpu, (std::vector<float>{0.375F, 0.5F, 0.5F, 0.005F}));
  EXPECT_EQ(minimap.host, (std::vector<float>{0.1F, 0, 0, 0}));
}

TEST(Minimap, SumsToTheBusyTimeOfALane) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.processes.resize(1);
  timeline.lanes.push_back(test::random_lane(1, 2'000, 1));
  const Interval span = timeline.span();
  const Minimap minimap = make_minimap(timeline, 100);
  double sum = 0;
  for (const float value : minimap.gpu)
    sum += value;
  const auto busy = static_cast<double>(timeline.lanes[0].busy_ns(span.begin_ns, span.end_ns));
  EXPECT_NEAR(sum / 100, busy / static_cast<double>(span.length()), 1e-3);
  EXPECT_TRUE(minimap.host.empty());
}

TEST(Minimap, HasTheStepsOfTheFirstProcessWithAny) {
  Timeline timeline;
  timeline.processes.resize(3);
  timeline.processes[1].steps = {{10, 20}, {25, 40}};
  timeline.processes[2].steps = {{11, 20}};
  EXPECT_EQ(make_minimap(timeline, 10).steps_ns, (std::vector<std::int64_t>{10, 25}));
}

TEST(Minimap, MayBeWiderThanTheTraceIsLong) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.processes.resize(1);
  timeline.lanes.push_back(lane(0, LaneKind::kKernels, {{0, 3}}));
  EXPECT_EQ(make_minimap(timeline, 10).gpu.size(), 10U);
  EXPECT_TRUE(make_minimap(timeline, 0).gpu.empty());
}

}  // namespace
}  // namespace swinscope::gui
