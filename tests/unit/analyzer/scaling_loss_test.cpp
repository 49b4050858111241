// The loss of an experiment is the sum of what it is taken apart into, on recordings of real programs, and its figures
// are those of the scaling table.
#include "analyzer/experiment/scaling_loss.h"

#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/importers/opened_traces.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/report.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

class ScalingLossOfRecording : public testing::TestWithParam<const char*> {
 protected:
  const Experiment experiment_ = read_experiment(std::string(SWINSCOPE_SOURCE_DIR) + "/data/" + GetParam());
  const std::vector<ScalingRow> rows_ = scaling_table(experiment_);
};

TEST_P(ScalingLossOfRecording, PartsAndDistortionSumToTheTimedLoss) {
  const std::vector<ScalingLoss> losses = scaling_losses(rows_);
  ASSERT_EQ(losses.size(), 1U);
  const ScalingLoss& loss = losses.front();
  const auto& parts = loss.traced.part_ns;
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) + loss.distortion_ns(),
            rows_[1].step_ns - rows_[0].step_ns);
  EXPECT_FALSE(loss.is_indicative());
  // METRICS: what is unexplained stays below 15 % of the loss.
  EXPECT_LE(std::abs(loss.traced.part(LossPart::kUnexplained)), 0.15 * static_cast<double>(loss.loss_ns()));
}

TEST_P(ScalingLossOfRecording, TheSentenceStandsBehindTheVerdict) {
  const Document document = experiment_document(experiment_, rows_);
  ASSERT_GE(document.headline.size(), 2U);
  EXPECT_THAT(document.headline[1], HasSubstr("2 GPUs lose"));
  EXPECT_THAT(document.headline[1], HasSubstr("transfer of collectives"));
}

// Where the output's lines were timed, a whole trace or a period of its kernels is another thing.
TEST_P(ScalingLossOfRecording, OtherStepsThanTheTimedOnesAreNotTakenApart) {
  std::vector<ScalingRow> rows = rows_;
  rows[1].traced_step_ns = *rows[1].traced_step_ns * 3;
  EXPECT_TRUE(scaling_losses(rows).empty());
  rows = rows_;
  StepWork whole = *rows[0].work;
  whole.is_of_steps = false;
  rows[0].work = std::make_shared<const StepWork>(whole);
  EXPECT_TRUE(scaling_losses(rows).empty());
}

// What else is asked of the recordings finds them open.
TEST_P(ScalingLossOfRecording, EachRunIsReadOnce) {
  OpenedTraces traces;
  const std::vector<ScalingRow> rows = scaling_table(experiment_, traces);
  std::size_t runs = 0;
  for (const ExperimentPoint& point : experiment_.points)
    runs += point.timing.size() + (point.tracing.empty() ? 0 : 1);
  EXPECT_EQ(traces.reads(), runs);
  what_was_run(experiment_, rows, traces);
  for (const ExperimentPoint& point : experiment_.points)
    traces.open(point.folder / point.tracing);
  EXPECT_EQ(traces.reads(), runs);
}

INSTANTIATE_TEST_SUITE_P(All, ScalingLossOfRecording,
                         testing::Values("swinscope_swin_large_weak_2gpu", "swinscope_swinv2b_upernet_traced_2gpu"));

}  // namespace
}  // namespace swinscope
