// What replays say of the parts of a loss, on the recordings of swin_large with one and two GPUs.
#include "advisor/loss_intervals.h"

#include <string>

#include <gtest/gtest.h>

#include "analyzer/importers/open.h"
#include "store/error.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

Trace recording(const std::string& name) { return open_trace(std::string(SWINSCOPE_SOURCE_DIR) + "/data/" + name); }

class LossIntervalsOfSwinLarge : public testing::Test {
 protected:
  const Trace one_ = recording("swinscope_swin_large_weak_2gpu/gpus1/tracing");
  const Trace two_ = recording("swinscope_swin_large_weak_2gpu/gpus2/tracing");
  const RunFacts base_{one_, {}};
  const RunFacts other_{two_, {}};
};

bool contains(const std::optional<LossInterval>& interval, std::int64_t ns) {
  return interval && interval->low_ns <= ns && ns <= interval->high_ns;
}

TEST_F(LossIntervalsOfSwinLarge, WhatKernelsAreSlowedByIsWhatTheStepGainsWithoutIt) {
  const WorkDifference difference = work_difference(step_work(base_), step_work(other_));
  const LossEffects effects = loss_effects(base_, other_, difference, 1);
  const LossIntervals& intervals = effects.intervals;
  for (const LossPart part : {LossPart::kBeside, LossPart::kSlowed, LossPart::kWork})
    EXPECT_TRUE(contains(intervals[static_cast<std::size_t>(part)], difference.part(part))) << loss_part_key(part);
  EXPECT_GT(effects.transfer_efficiency, 0.95);
  EXPECT_LE(effects.transfer_efficiency, 1);
  // A replay cannot tell waiting for data from the rest of the host's time.
  EXPECT_FALSE(intervals[static_cast<std::size_t>(LossPart::kInput)]);
}

TEST_F(LossIntervalsOfSwinLarge, ARunHasNoCauseAgainstItself) {
  const StepWork work = step_work(other_);
  for (const auto& interval : loss_effects(other_, other_, work_difference(work, work), 1).intervals) {
    if (!interval) continue;
    EXPECT_TRUE(contains(interval, 0)) << interval->low_ns << " " << interval->high_ns;
  }
}

TEST_F(LossIntervalsOfSwinLarge, ATraceWithoutLaunchesHasNone) {
  Trace bare = recording("swinscope_swin_large_weak_2gpu/gpus1/timing1");
  const RunFacts run(bare, {});
  EXPECT_THROW(loss_effects(run, other_, WorkDifference(), 1), Error);
}

// Steps of 5 + 300 + 1 + 100 + 8 = 414, of which 100 are an all-reduce: 314 / 414.
TEST(LossEffects, TransferIsTheStepOnANetworkThatTakesNoTime) {
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  for (std::int64_t step = 0; step < 6; ++step) {
    const std::int64_t begin = 414 * step;
    rank.launch("k", begin, begin + 5, begin + 305);
    rank.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", begin + 2, begin + 306, begin + 406);
    rank.call("cudaDeviceSynchronize", begin + 4, begin + 411);
    rank.step(begin, begin + 414);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  const StepWork work = step_work(run);
  EXPECT_NEAR(loss_effects(run, run, work_difference(work, work), 1).transfer_efficiency, 314.0 / 414, 1e-3);
}

// Twenty steps of twelve kernels that take what they take at random, one of them longer by so much.
Trace steps_with(unsigned seed, std::int64_t longer) {
  test::Dice dice(seed);
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  std::int64_t now = 10;
  for (int step = 0; step < 20; ++step) {
    const std::int64_t begin = now;
    std::int64_t end = 0;
    for (int kernel = 0; kernel < 12; ++kernel) {
      const std::int64_t start = std::max(now + 5, end + 1);
      end = start + dice.between(30, 50) + (kernel == 5 ? longer : 0);
      rank.launch(fmt::format("k{}", kernel), now, start, end);
      now += 2;
    }
    rank.call("cudaDeviceSynchronize", now, end + 5);
    now = end + 8;
    rank.step(begin, now);
  }
  return hand.build();
}

// Bounds of 95 %: at least nine of ten hold what was planted, none is so wide that it holds nothing, too.
TEST(LossIntervals, HoldWhatWasPlantedInNineOfTenDraws) {
  int held = 0;
  for (unsigned draw = 0; draw < 10; ++draw) {
    const std::int64_t planted = 50 + 30 * draw;
    const Trace one = steps_with(2 * draw, 0);
    const Trace two = steps_with(2 * draw + 1, planted);
    const RunFacts base(one, {});
    const RunFacts other(two, {});
    const auto intervals = loss_effects(base, other, work_difference(step_work(base), step_work(other)), 1).intervals;
    const auto& slowed = intervals[static_cast<std::size_t>(LossPart::kSlowed)];
    held += contains(slowed, 1'000 * planted) ? 1 : 0;
    EXPECT_FALSE(contains(slowed, 0)) << planted;
  }
  EXPECT_GE(held, 9);
}

}  // namespace
}  // namespace swinscope
