#include "gui/core/search.h"

#include <numeric>

#include <gtest/gtest.h>

#include "store/error.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::gui {
namespace {

using test::random_trace;

class Search : public testing::Test {
 protected:
  // By looking at every event.
  std::uint64_t count(LaneId lane, std::string_view part) const {
    std::uint64_t hits = 0;
    for (const NameId name : timeline_.lanes[lane].names())
      hits += timeline_.names.text(name).find(part) != std::string_view::npos ? 1U : 0U;
    return hits;
  }

  const Timeline timeline_ = build_timeline(random_trace(1, 1'000));
};

TEST_F(Search, CountsHitsOfEveryLane) {
  const SearchResult result = search(timeline_, "gemm<3>", SearchMode::kSubstring, 100);
  EXPECT_GT(result.total, 20U);
  for (LaneId lane = 0; lane < timeline_.lanes.size(); ++lane)
    EXPECT_EQ(result.hits[lane], count(lane, "gemm<3>"));
  EXPECT_EQ(result.total, std::accumulate(result.hits.begin(), result.hits.end(), std::uint64_t{0}));
}

TEST_F(Search, TicksAreWhereTheHitsAre) {
  constexpr std::size_t kColumns = 64;
  const SearchResult result = search(timeline_, "layer 1", SearchMode::kSubstring, kColumns);
  EXPECT_EQ(std::accumulate(result.ticks.begin(), result.ticks.end(), std::uint64_t{0}), result.total);
  const Interval span = timeline_.span();
  std::vector<bool> expected(kColumns);
  for (const TimelineLane& lane : timeline_.lanes) {
    for (LanePosition i = 0; i < lane.size(); ++i) {
      if (!result.names[lane.names()[i]]) continue;
      const double part = static_cast<double>(lane.start_ns(i) - span.begin_ns) / static_cast<double>(span.length());
      expected[static_cast<std::size_t>(part * kColumns)] = true;
    }
  }
  for (std::size_t i = 0; i < kColumns; ++i)
    EXPECT_EQ(result.ticks[i] > 0, bool{expected[i]}) << i;
}

TEST_F(Search, IgnoresTheCaseOfLetters) {
  const auto hits = [&](const char* pattern, SearchMode mode) { return search(timeline_, pattern, mode, 1).total; };
  EXPECT_EQ(hits("GEMM", SearchMode::kSubstring), hits("gemm", SearchMode::kSubstring));
  EXPECT_EQ(hits("^GEMM<[0-4]>", SearchMode::kRegex), hits("^gemm<[0-4]>", SearchMode::kRegex));
  EXPECT_GT(hits("^gemm<[0-4]>", SearchMode::kRegex), 0U);
  EXPECT_LT(hits("^gemm<[0-4]>", SearchMode::kRegex), hits("gemm", SearchMode::kRegex));
}

TEST_F(Search, FindsNothingForNothing) {
  EXPECT_EQ(search(timeline_, "", SearchMode::kSubstring, 10).total, 0U);
  EXPECT_EQ(search(timeline_, "", SearchMode::kRegex, 10).total, 0U);
  const SearchResult none = search(timeline_, "not there", SearchMode::kSubstring, 10);
  EXPECT_EQ(none.total, 0U);
  EXPECT_EQ(none.ticks.size(), 10U);
  EXPECT_FALSE(next_hit(timeline_, none, {0, 0}, true));
  EXPECT_FALSE(first_hit(timeline_, none, 0));
}

TEST_F(Search, SaysWhatIsWrongWithAnExpression) {
  try {
    search(timeline_, "(", SearchMode::kRegex, 10);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_FALSE(error.cause().empty());
  }
}

TEST_F(Search, GoesThroughAllHitsInOrderAndRound) {
  const SearchResult result = search(timeline_, "layer 7", SearchMode::kSubstring, 1);
  ASSERT_GT(result.total, 3U);
  const auto first = first_hit(timeline_, result, timeline_.span().begin_ns);
  ASSERT_TRUE(first);
  TimelineEventId at = *first;
  for (std::uint64_t i = 1; i < result.total; ++i) {
    const auto next = next_hit(timeline_, result, at, true);
    ASSERT_TRUE(next);
    EXPECT_LE(timeline_.event(at).start_ns, timeline_.event(*next).start_ns);
    EXPECT_EQ(next_hit(timeline_, result, *next, false), at);
    at = *next;
  }
  EXPECT_EQ(next_hit(timeline_, result, at, true), first);
  EXPECT_EQ(next_hit(timeline_, result, *first, false), at);
  EXPECT_EQ(first_hit(timeline_, result, timeline_.span().end_ns + 1), first);
}

TEST_F(Search, NumbersAndListsHitsInOrder) {
  const SearchResult result = search(timeline_, "e", SearchMode::kSubstring, 10);
  ASSERT_GT(result.total, 3U);
  std::vector<LaneId> all;
  for (LaneId id = 0; id < timeline_.lanes.size(); ++id)
    all.push_back(id);
  const std::vector<TimelineEventId> hits = first_hits(timeline_, result, all, 1'000'000);
  ASSERT_EQ(hits.size(), result.total);
  TimelineEventId at = *first_hit(timeline_, result, timeline_.span().begin_ns);
  for (std::size_t i = 0; i < std::min<std::size_t>(hits.size(), 50); ++i) {
    EXPECT_EQ(hits[i], at);
    EXPECT_EQ(hit_number(timeline_, result, at, all), i + 1);
    at = *next_hit(timeline_, result, at, true);
  }
  EXPECT_EQ(first_hits(timeline_, result, all, 3), std::vector<TimelineEventId>(hits.begin(), hits.begin() + 3));
}

TEST_F(Search, StaysInTheGivenLanes) {
  const SearchResult result = search(timeline_, "layer", SearchMode::kSubstring, 1);
  LaneId lane = 0;
  while (result.hits[lane] == 0)
    ++lane;
  const std::vector<LaneId> lanes{lane};
  auto at = first_hit(timeline_, result, timeline_.span().begin_ns, lanes);
  for (std::uint64_t i = 0; i < result.hits[lane]; ++i) {
    ASSERT_TRUE(at);
    EXPECT_EQ(at->lane, lane);
    EXPECT_EQ(at->position, i);
    at = next_hit(timeline_, result, *at, true, lanes);
  }
  EXPECT_EQ(at->position, 0U);
}

}  // namespace
}  // namespace swinscope::gui
