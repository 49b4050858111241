#include "analyzer/timeline/timeline_lane.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

using test::Dice;
using test::random_lane;

// By looking at every event.
Occupancy occupancy_of_all(const TimelineLane& lane, std::int64_t begin_ns, std::int64_t end_ns) {
  Occupancy result;
  std::int64_t most = -1;
  for (LanePosition i = 0; i < lane.size(); ++i) {
    const LaneEvent event = lane.event(i);
    const std::int64_t part = std::min(event.end_ns(), end_ns) - std::max(event.start_ns, begin_ns);
    const bool starts_within = event.start_ns >= begin_ns && event.start_ns < end_ns;
    if (part <= 0 && !starts_within) continue;
    result.busy_ns += part;
    if (part > most) {
      most = part;
      result.event = i;
    }
  }
  return result;
}

class RandomLane : public testing::TestWithParam<int> {};

TEST_P(RandomLane, OccupancyIsThatOfAllEvents) {
  const int events = GetParam();
  for (unsigned seed = 0; seed < 8; ++seed) {
    const TimelineLane lane = random_lane(seed, events, 7);
    Dice dice(seed + 100);
    const std::int64_t span = lane.end_ns() - lane.begin_ns() + 20;
    for (int i = 0; i < 300; ++i) {
      const std::int64_t begin = lane.begin_ns() - 10 + dice.between(0, span);
      const std::int64_t end = begin + 1 + dice.between(0, dice.one_in(2) ? span : 200);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", [" << begin << ", " << end << ")");
      EXPECT_EQ(lane.occupancy(begin, end), occupancy_of_all(lane, begin, end));
    }
  }
}

TEST_P(RandomLane, FirstFromIsTheFirstThatStartsThere) {
  const TimelineLane lane = random_lane(3, GetParam(), 7);
  for (LanePosition i = 0; i < lane.size(); ++i) {
    for (const std::int64_t time : {lane.start_ns(i) - 1, lane.start_ns(i), lane.start_ns(i) + 1}) {
      LanePosition expected = 0;
      while (expected < lane.size() && lane.start_ns(expected) < time)
        ++expected;
      ASSERT_EQ(lane.first_from(time), expected) << "event " << i << ", time " << time;
    }
  }
}

TEST_P(RandomLane, FindsEveryEventByItsIndexInTheTrace) {
  const TimelineLane lane = random_lane(4, GetParam(), 7);
  for (LanePosition i = 0; i < lane.size(); ++i)
    ASSERT_EQ(lane.find(lane.refs()[i]), i);
  EXPECT_EQ(lane.find(lane.refs().back() + 1), kNoPosition);
}

TEST_P(RandomLane, NamesAreThoseOfTheEvents) {
  const TimelineLane lane = random_lane(5, GetParam(), 7);
  for (LanePosition i = 0; i < lane.size(); ++i)
    ASSERT_EQ(lane.name(i), lane.names()[i]);
}

// Around the block sizes of the indexes: 16, 256.
INSTANTIATE_TEST_SUITE_P(Sizes, RandomLane, testing::Values(1, 2, 15, 16, 17, 32, 255, 256, 257, 1000));

TEST(TimelineLane, KeepsDurationsThat32BitsCannotHold) {
  TimelineLane lane;
  const std::int64_t limit = std::numeric_limits<std::uint32_t>::max();
  std::int64_t start = 0;
  for (const std::int64_t duration : {limit - 1, limit, limit + 1, std::int64_t{1} << 60}) {
    lane.append({start, duration, 0, lane.size(), kNoEvent});
    start += duration;
  }
  lane.seal();
  EXPECT_EQ(lane.duration_ns(0), limit - 1);
  EXPECT_EQ(lane.duration_ns(1), limit);
  EXPECT_EQ(lane.duration_ns(2), limit + 1);
  EXPECT_EQ(lane.event_end_ns(3), start);
  EXPECT_EQ(lane.occupancy(0, start).event, 3U);
  EXPECT_EQ(lane.occupancy(0, start).busy_ns, start);
}

// The lane with all times this many times as long: starts and durations that 32 bits cannot hold, among others.
TimelineLane slowed_down(const TimelineLane& lane, std::int64_t factor) {
  TimelineLane slow;
  for (LanePosition i = 0; i < lane.size(); ++i) {
    LaneEvent event = lane.event(i);
    event.start_ns *= factor;
    event.duration_ns *= factor;
    slow.append(event);
  }
  slow.seal();
  return slow;
}

TEST(TimelineLane, AnswersAsExactlyForSecondsAndHoursAsForMicroseconds) {
  for (const std::int64_t factor : {100'000, 3'000'000, 50'000'000, 1'000'000'000}) {
    const TimelineLane fast = random_lane(11, 300, 7);
    const TimelineLane slow = slowed_down(fast, factor);
    Dice dice(12);
    const std::int64_t span = fast.end_ns() - fast.begin_ns() + 20;
    for (int i = 0; i < 300; ++i) {
      const std::int64_t begin = fast.begin_ns() - 10 + dice.between(0, span);
      const std::int64_t end = begin + 1 + dice.between(0, dice.one_in(2) ? span : 200);
      SCOPED_TRACE(testing::Message() << "factor " << factor << ", [" << begin << ", " << end << ")");
      const Occupancy expected = fast.occupancy(begin, end);
      const Occupancy occupancy = slow.occupancy(begin * factor, end * factor);
      EXPECT_EQ(occupancy.busy_ns, expected.busy_ns * factor);
      EXPECT_EQ(occupancy.event, expected.event);
    }
  }
}

TEST(TimelineLane, AnswersForAllTimeThereIs) {
  TimelineLane lane = random_lane(13, 100, 7);
  lane.shift(-1'000'000);
  std::int64_t sum = 0;
  for (LanePosition i = 0; i < lane.size(); ++i)
    sum += lane.duration_ns(i);
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(lane.busy_ns(Limits::min(), Limits::max()), sum);
  EXPECT_EQ(lane.events_in(Limits::min(), Limits::max()), std::pair(LanePosition{0}, lane.size()));
}

TEST(TimelineLane, OfEquallyLongEventsTheFirstStandsForAll) {
  TimelineLane lane;
  for (LanePosition i = 0; i < 100; ++i)
    lane.append({std::int64_t{i} * 10, 5, 0, i, kNoEvent});
  lane.seal();
  EXPECT_EQ(lane.occupancy(0, 1000).event, 0U);
  EXPECT_EQ(lane.occupancy(2, 1000).event, 1U);
}

TEST(TimelineLane, WithoutEventsHoldsNothing) {
  TimelineLane lane;
  lane.seal();
  EXPECT_EQ(lane.occupancy(0, 10), Occupancy{});
  EXPECT_EQ(lane.first_from(0), 0U);
}

TEST(TimelineLane, ShiftMovesAllButTheAnswers) {
  TimelineLane lane = random_lane(1, 300, 3);
  const Occupancy before = lane.occupancy(50, 5'000);
  lane.shift(1'000'000);
  EXPECT_EQ(lane.occupancy(1'000'050, 1'005'000), before);
}

TEST(TimelineLane, TakesAboutNineteenBytesAnEvent) {
  TimelineLane lane;
  lane.key.kind = LaneKind::kRanges;
  lane.reserve(100'000);
  for (LanePosition i = 0; i < 100'000; ++i)
    lane.append({std::int64_t{i} * 100, 50, 0, i, kNoEvent});
  lane.seal();
  EXPECT_LT(lane.memory_bytes(), 20U * 100'000);
}

}  // namespace
}  // namespace swinscope
