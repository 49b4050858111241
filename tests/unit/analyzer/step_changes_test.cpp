// What is said of steps that take longer from some step on.
#include "analyzer/analyses/step_changes.h"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

// `before` steps of 100 us, `after` of 150 us.
void add_steps(HandRank& rank, int before, int after) {
  std::int64_t now = 0;
  for (int i = 0; i < before + after; ++i) {
    const std::int64_t length = i < before ? 100 : 150;
    rank.launch("gemm", now + 1, now + 10, now + 50);
    rank.step(now, now + length);
    now += length;
  }
}

TEST(StepChanges, AreANote) {
  HandTrace hand;
  add_steps(hand.add_rank(), 12, 12);
  const Trace trace = hand.build();
  EXPECT_EQ(step_change_note(RunFacts(trace, {})),
            "rank 0: from step 13 on, steps take 150.0 us instead of 100.0 us (+50.0 %)");
  // Steps are counted from the first of the run, whatever is measured of them.
  Selection later;
  later.warmup_steps = 2;
  EXPECT_EQ(step_stretches(RunFacts(trace, later)).at(1).first, 12U);
}

TEST(StepChanges, AreOfSeveralRanks) {
  HandTrace hand;
  add_steps(hand.add_rank(), 12, 12);
  add_steps(hand.add_rank(), 24, 0);
  add_steps(hand.add_rank(), 14, 12);
  const Trace trace = hand.build();
  EXPECT_EQ(step_change_note(RunFacts(trace, {})),
            "rank 0: from step 13 on, steps take 150.0 us instead of 100.0 us (+50.0 %); in all, the steps of 2 ranks "
            "change");
}

TEST(StepChanges, MayEnd) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0, now = 0; i < 60; ++i) {
    const std::int64_t length = i < 20 || i >= 40 ? 100 : 150;
    rank.launch("gemm", now + 1, now + 10, now + 50);
    rank.step(now, now + length);
    now += length;
  }
  const Trace trace = hand.build();
  EXPECT_EQ(step_change_note(RunFacts(trace, {})),
            "rank 0: steps 21 to 40 take 150.0 us instead of 100.0 us (+50.0 %)");
}

TEST(StepChanges, AreNotSaidOfSteadySteps) {
  HandTrace hand;
  add_steps(hand.add_rank(), 30, 0);
  const Trace trace = hand.build();
  EXPECT_EQ(step_change_note(RunFacts(trace, {})), "");
  EXPECT_EQ(step_stretches(RunFacts(trace, {})).size(), 1U);
}

// 1980 MHz for twelve steps, then 1200 MHz.
TEST(StepChanges, SayTheClockOfEachStretch) {
  HandTrace hand;
  add_steps(hand.add_rank(), 12, 12);
  Trace trace = hand.build();
  MetricSeries clock;
  clock.name = "SM clock [MHz]";
  clock.time_ns = {500'000, 1'000'000, 2'000'000, 2'500'000};
  clock.value = {1980, 1980, 1200, 1200};
  trace.ranks.front().metrics = {clock};
  const std::vector<StepStretch> stretches = step_stretches(RunFacts(trace, {}));
  ASSERT_EQ(stretches.size(), 2U);
  EXPECT_DOUBLE_EQ(stretches[0].sm_mhz.value_or(0), 1980);
  EXPECT_DOUBLE_EQ(stretches[1].sm_mhz.value_or(0), 1200);
}

}  // namespace
}  // namespace swinscope::test
