// A walk of many stretches against walks of one, which timeline_lane_test compares with every event.
#include "analyzer/timeline/timeline_walk.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

using test::Dice;
using test::random_lane;

// Ascending, from before the lane to behind it, most of them `step_ns` apart, some much more.
std::vector<std::int64_t> random_times(const TimelineLane& lane, Dice& dice, std::int64_t step_ns) {
  std::vector<std::int64_t> times;
  const std::int64_t end_ns = lane.end_ns() + 3 * step_ns;
  for (std::int64_t time = lane.begin_ns() - 2 * step_ns; time < end_ns && times.size() < 3'000;) {
    times.push_back(time);
    time += dice.one_in(100) ? dice.between(1, end_ns - lane.begin_ns()) : dice.between(1, 2 * step_ns);
  }
  return times;
}

void expect_change(const LaneWalk& walk, const TimelineLane& lane, std::int64_t time_ns) {
  const LanePosition next = lane.first_from(time_ns);
  const bool covered = next > 0 && lane.event_end_ns(next - 1) > time_ns;
  ASSERT_EQ(walk.time_ns(), time_ns);
  ASSERT_EQ(walk.covering(), covered ? next - 1 : kNoPosition);
  const std::int64_t next_start_ns = next < lane.size() ? lane.start_ns(next) : LaneWalk::kNever;
  ASSERT_EQ(walk.change_ns(), covered ? lane.event_end_ns(next - 1) : next_start_ns);
}

class RandomWalk : public testing::TestWithParam<int> {};

TEST_P(RandomWalk, SeesWhatTheLaneAnswers) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const TimelineLane lane = random_lane(seed, GetParam(), 7);
    Dice dice(seed + 50);
    for (const std::int64_t step_ns : {1, 30, 1'000, 30'000, 3'000'000, 1'000'000'000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", steps of " << step_ns << " ns");
      const std::vector<std::int64_t> times = random_times(lane, dice, step_ns);
      LaneWalk walk(lane, times.front());
      for (std::size_t i = 1; i < times.size(); ++i) {
        ASSERT_EQ(walk.advance(times[i]), lane.occupancy(times[i - 1], times[i])) << "until " << times[i];
        expect_change(walk, lane, times[i]);
      }
    }
  }
}

TEST_P(RandomWalk, SeesTheSameInManyStretchesAtOnce) {
  const TimelineLane lane = random_lane(9, GetParam(), 7);
  Dice dice(10);
  const std::vector<std::int64_t> times = random_times(lane, dice, 2'000);
  LaneWalk walk(lane, times.front());
  for (std::size_t begin = 1; begin < times.size();) {
    const std::size_t count = std::min(static_cast<std::size_t>(dice.between(1, 100)), times.size() - begin);
    std::vector<Occupancy> seen(count);
    walk.advance(std::span(times).subspan(begin, count), seen);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(seen[i], lane.occupancy(times[begin + i - 1], times[begin + i])) << begin << " + " << i;
    begin += count;
    expect_change(walk, lane, times[begin - 1]);
  }
}

TEST_P(RandomWalk, GoesOnFromWhereverItIsSent) {
  const TimelineLane lane = random_lane(14, GetParam(), 7);
  Dice dice(15);
  const std::int64_t span = lane.end_ns() - lane.begin_ns() + 20;
  LaneWalk walk(lane, lane.end_ns());
  for (int i = 0; i < 500; ++i) {
    const std::int64_t begin = lane.begin_ns() - 10 + dice.between(0, span);
    const std::int64_t end = begin + dice.between(1, dice.one_in(3) ? span : 500);
    walk.seek(begin);
    expect_change(walk, lane, begin);
    ASSERT_EQ(walk.advance(end), lane.occupancy(begin, end)) << "[" << begin << ", " << end << ")";
  }
}

// Around 16, the events of a block, and 64 blocks, which a walk does not pass one by one.
INSTANTIATE_TEST_SUITE_P(Sizes, RandomWalk, testing::Values(1, 2, 15, 16, 17, 33, 257, 1000, 1025, 5000));

TEST(LaneWalk, OfALaneWithoutEventsSeesNothing) {
  TimelineLane lane;
  lane.seal();
  LaneWalk walk(lane, 5);
  EXPECT_EQ(walk.covering(), kNoPosition);
  EXPECT_EQ(walk.change_ns(), LaneWalk::kNever);
  EXPECT_EQ(walk.advance(7), Occupancy{});
}

TEST(LaneWalk, OfEquallyLongEventsTheFirstStandsForAll) {
  TimelineLane lane;
  for (LanePosition i = 0; i < 100; ++i)
    lane.append({std::int64_t{i} * 10, 5, 0, i, kNoEvent});
  lane.seal();
  LaneWalk walk(lane, 2);
  EXPECT_EQ(walk.advance(202).event, 1U);
  EXPECT_EQ(walk.advance(500).event, 21U);
  EXPECT_EQ(walk.advance(505).event, 50U);
}

}  // namespace
}  // namespace swinscope
