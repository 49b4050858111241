// What a grid knows beforehand against what the lane answers, which timeline_lane_test compares with every event.
#include "analyzer/timeline/timeline_grid.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

using test::Dice;
using test::random_lane;

constexpr int kNoShift = 62;

int lowest_shift(const LaneGrid& grid) {
  int shift = 0;
  while (shift < kNoShift && !grid.has(shift))
    ++shift;
  return shift;
}

// Ascending, from before the lane to behind it, up to four cells apart.
std::vector<std::int64_t> random_borders(const TimelineLane& lane, Dice& dice, int shift) {
  std::vector<std::int64_t> borders;
  const std::int64_t last = (lane.end_ns() >> shift) + 6;
  for (std::int64_t cell = (lane.begin_ns() >> shift) - 6; cell <= last; cell += dice.between(1, LaneGrid::kMostCells))
    borders.push_back(cell * (std::int64_t{1} << shift));
  return borders;
}

void expect_answers(const TimelineLane& lane, Dice& dice, int shift) {
  const std::vector<std::int64_t> borders = random_borders(lane, dice, shift);
  std::vector<Occupancy> seen(borders.size() - 1);
  lane.grid().occupancies(shift, borders, seen);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], lane.occupancy(borders[i], borders[i + 1]))
        << "shift " << shift << ", [" << borders[i] << ", " << borders[i + 1] << ")";
  }
}

TimelineLane regular_lane(LanePosition events, std::int64_t distance_ns) {
  TimelineLane lane;
  for (LanePosition i = 0; i < events; ++i)
    lane.append({i * distance_ns, distance_ns / 2, 0, i, kNoEvent});
  lane.seal();
  return lane;
}

class RandomGrid : public testing::TestWithParam<int> {};

TEST_P(RandomGrid, SeesWhatTheLaneAnswersAtEveryLevel) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TimelineLane lane = random_lane(seed, GetParam(), 7);
    Dice dice(seed + 70);
    // At an even and at an odd cell, before and behind 0.
    for (const std::int64_t offset_ns : {0, 12'345'678, -987'654'321}) {
      lane.shift(offset_ns);
      lane.index_grid(static_cast<std::size_t>(dice.between(64, 60'000)));
      ASSERT_LT(lowest_shift(lane.grid()), kNoShift);
      for (int shift = lowest_shift(lane.grid()); lane.grid().has(shift); ++shift)
        expect_answers(lane, dice, shift);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomGrid, testing::Values(1, 2, 17, 300, 3000));

// Events that begin or end where cells do, fill them, or have no duration there.
TEST(LaneGrid, CountsWhatTouchesABorderOnce) {
  TimelineLane lane;
  LanePosition i = 0;
  for (const auto& [start_ns, duration_ns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {0, 64}, {64, 0}, {64, 64}, {128, 1}, {191, 1}, {192, 0}, {192, 640}, {1024, 3072}, {4096, 0}})
    lane.append({start_ns, duration_ns, 0, i++, kNoEvent});
  lane.seal();
  lane.index_grid(64);
  Dice dice(1);
  ASSERT_EQ(lowest_shift(lane.grid()), 6);
  for (int round = 0; round < 50; ++round)
    expect_answers(lane, dice, 6);
}

TEST(LaneGrid, IsNoFinerThanAskedForAndEndsWhereFewCellsAreLeft) {
  TimelineLane lane = regular_lane(5'000, 200);
  EXPECT_EQ(lowest_shift(lane.grid()), kNoShift);  // nobody asked
  lane.index_grid(1'000);
  const int shift = lowest_shift(lane.grid());
  const std::int64_t span_ns = lane.end_ns() - lane.begin_ns();
  EXPECT_LE(span_ns >> shift, 1'000);
  EXPECT_GT(span_ns >> (shift - 1), 999);
  EXPECT_TRUE(lane.grid().has(shift + 3));
  EXPECT_FALSE(lane.grid().has(shift + 10));
  EXPECT_GT(lane.grid().memory_bytes(), 500U * 24);
  EXPECT_LT(lane.grid().memory_bytes(), 2'500U * 24);
}

TEST(LaneGrid, OfALaneThatLastsForDaysIsNotThere) {
  TimelineLane lane = regular_lane(1'000, 200'000'000'000);
  lane.index_grid(1'000);
  EXPECT_EQ(lowest_shift(lane.grid()), kNoShift);
}

TEST(LaneGrid, IsNotKeptWhenTheLaneMoves) {
  TimelineLane lane = random_lane(4, 5'000, 7);
  lane.index_grid(1'000);
  lane.shift(1);
  EXPECT_EQ(lowest_shift(lane.grid()), kNoShift);
}

}  // namespace
}  // namespace swinscope
