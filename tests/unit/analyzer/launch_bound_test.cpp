// Between which batches the GPU begins to decide, by hand.
#include "analyzer/experiment/launch_bound.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

ScalingRow point(const char* batch, double tklqt_ns, const char* gpus = "1") {
  ScalingRow row;
  row.point.factors = {{"gpus", gpus}, {"batch", batch}};
  row.launches = LaunchFigures{tklqt_ns, 1, 5'000};
  return row;
}

TEST(LaunchBound, IsCpuUntilTklqtLeavesItsLevel) {
  // 10 comes behind 2, whatever the order of the points; 1.9 times the level is flat yet.
  const std::vector<ScalingRow> rows = {point("10", 1'900'000), point("16", 9'000'000), point("2", 1'000'000),
                                        point("32", 30'000'000)};
  EXPECT_EQ(launch_bound_sentence(rows),
            "CPU-bound up to batch 10, GPU-bound from 16 on: total launch+queue time per step grows from 1.900 ms to "
            "9.000 ms");
}

TEST(LaunchBound, OnePeakIsNoTransition) {
  const std::vector<ScalingRow> rows = {point("1", 1'000'000), point("2", 5'000'000), point("4", 1'100'000)};
  EXPECT_EQ(
      launch_bound_sentence(rows),
      "CPU-bound at all batches from 1 to 4: total launch+queue time per step stays flat (1.000 ms and 1.100 ms)");
}

TEST(LaunchBound, IsOfPointsThatDifferInTheBatchAlone) {
  std::vector<ScalingRow> rows = {point("1", 1'000'000), point("2", 5'000'000, "2")};
  EXPECT_TRUE(batch_sweeps(rows).empty());
  EXPECT_EQ(launch_bound_sentence(rows), "");
  rows.push_back(point("4", 1'000'000));
  ASSERT_EQ(batch_sweeps(rows).size(), 1U);
  rows[2].launches.reset();  // it was not traced
  EXPECT_TRUE(batch_sweeps(rows).empty());
}

}  // namespace
}  // namespace swinscope
