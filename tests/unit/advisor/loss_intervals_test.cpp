// What replays say of the parts of a loss, on the recordings of swin_large with one and two GPUs.
#include "advisor/loss_intervals.h"

#include <string>

#include <gtest/gtest.h>

#include "analyzer/importers/open.h"
#include "store/error.h"

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
  const LossIntervals intervals = loss_intervals(base_, other_, difference, 1);
  for (const LossPart part : {LossPart::kBeside, LossPart::kSlowed, LossPart::kWork})
    EXPECT_TRUE(contains(intervals[static_cast<std::size_t>(part)], difference.part(part))) << loss_part_key(part);
  // A replay cannot tell waiting for data from the rest of the host's time.
  EXPECT_FALSE(intervals[static_cast<std::size_t>(LossPart::kInput)]);
}

TEST_F(LossIntervalsOfSwinLarge, ARunHasNoCauseAgainstItself) {
  const StepWork work = step_work(other_);
  for (const auto& interval : loss_intervals(other_, other_, work_difference(work, work), 1)) {
    if (!interval) continue;
    EXPECT_TRUE(contains(interval, 0)) << interval->low_ns << " " << interval->high_ns;
  }
}

TEST_F(LossIntervalsOfSwinLarge, ATraceWithoutLaunchesHasNone) {
  Trace bare = recording("swinscope_swin_large_weak_2gpu/gpus1/timing1");
  const RunFacts run(bare, {});
  EXPECT_THROW(loss_intervals(run, other_, WorkDifference(), 1), Error);
}

}  // namespace
}  // namespace swinscope
