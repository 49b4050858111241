// What runs are compared by: figures worked out by hand of two runs of one kernel and gaps.
#include "analyzer/experiment/normalization.h"

#include <gmock/gmock.h>

#include "analyzer/analyses/gpu_power.h"
#include "analyzer/experiment/run_comparison.h"
#include "analyzer/experiment/work_difference.h"
#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Two steps, each of one kernel and 2,000 ns of gaps.
ComparedRun run_of(const std::string& name, std::int64_t kernel_ns, double images) {
  ComparedRun run;
  run.name = name;
  run.steps = 2;
  run.step_ns = kernel_ns + 2000;
  run.images_per_step = images;
  run.gpus = 1;
  StepWork& work = run.work;
  work.is_of_steps = true;
  work.device_steps = 2;
  work.step_ns = *run.step_ns;
  work.window_ns = 2 * work.step_ns;
  work.single_ns = {work.step_ns, work.step_ns};
  work.rows = {{{"", "", "gemm", "1x1"},
                "gemm",
                GpuClass::kCompute,
                OperationKind::kUnknown,
                {2, 2 * kernel_ns},
                {},
                2.0 * static_cast<double>(kernel_ns * kernel_ns)}};
  work.no_work_ns[static_cast<std::size_t>(NoWork::kGaps)] = 4000;
  work.devices = {{2 * kernel_ns, 2 * kernel_ns, work.window_ns, 2}};
  return run;
}

// 10,000 ns for 10 images, and 12,000 for 20 of them on two GPUs.
std::vector<ComparedRun> two_runs() {
  std::vector<ComparedRun> runs = {run_of("a", 8000, 10), run_of("b", 10000, 20)};
  runs[1].gpus = 2;
  return runs;
}

// The values of the waterfall, in the order of its rows.
std::vector<double> waterfall(const std::vector<ComparedRun>& runs, Normalization by) {
  const Document document = runs_document(runs, {.order = RunOrder::kAsGiven, .by = by});
  const auto table = std::ranges::find(document.tables, "difference", &Table::key);
  std::vector<double> values;
  for (const std::vector<Cell>& row : table->rows) {
    const auto* ns = std::get_if<std::int64_t>(&row[3]);
    values.push_back(ns != nullptr ? static_cast<double>(*ns) : std::get<double>(row[3]));
  }
  return values;
}

void expect_sum(const std::vector<double>& values, double first, double last) {
  EXPECT_DOUBLE_EQ(values.front(), first);
  EXPECT_DOUBLE_EQ(values.back(), last);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i)
    sum += values[i];
  EXPECT_NEAR(sum, last, 1e-9);
}

TEST(Normalization, PerImageAStepIsDividedByItsImages) {
  expect_sum(waterfall(two_runs(), Normalization::kStep), 10000, 12000);
  expect_sum(waterfall(two_runs(), Normalization::kImage), 1000, 600);
  const Document document = runs_document(two_runs(), {.order = RunOrder::kAsGiven, .by = Normalization::kImage});
  EXPECT_THAT(document.headline.back(), StartsWith("b: 400 ns less per image than a (-40.0 %)"));
}

TEST(Normalization, GpuTimeCountsEachGpu) { expect_sum(waterfall(two_runs(), Normalization::kGpu), 1000, 1200); }

// 300 W x 10 us / 10 images = 300 uJ; 600 W x 12 us / 20 = 360 uJ.
TEST(Normalization, EnergyIsPowerTimesTime) {
  std::vector<ComparedRun> runs = two_runs();
  EXPECT_EQ(why_not(runs, Normalization::kJoule),
            "energy: power was not sampled (record --gpu-metrics) of each GPU of a, b");
  runs[0].watts = 300;
  EXPECT_THAT(why_not(runs, Normalization::kJoule), HasSubstr("of each GPU of b"));
  runs[1].watts = 600;
  EXPECT_EQ(why_not(runs, Normalization::kJoule), "");
  expect_sum(waterfall(runs, Normalization::kJoule), 0.3, 0.36);
  const Document document = runs_document(runs, {.order = RunOrder::kAsGiven, .by = Normalization::kJoule});
  EXPECT_THAT(document.headline.back(), StartsWith("b: 0.06 mJ more energy per image than a (+20.0 %)"));
}

// 3.6 $ an hour is 0.001 $ a second: 10 us / 10 images x a million = 0.001 $; 12 us x 2 GPUs / 20 = 0.0012 $.
TEST(Normalization, PriceIsOfAMillionImages) {
  std::vector<ComparedRun> runs = two_runs();
  runs[0].price_per_hour = runs[1].price_per_hour = 3.6;
  expect_sum(waterfall(runs, Normalization::kPrice), 0.001, 0.0012);
}

TEST(Normalization, WithoutImagesTheRestIsPerStep) {
  std::vector<ComparedRun> runs = two_runs();
  runs[1].images_per_step.reset();
  EXPECT_EQ(why_not(runs, Normalization::kImage), "per image: images per step are not known of b");
  expect_sum(waterfall(runs, Normalization::kGpu), 10000, 24000);
}

// A third of 10, 10 and -5 is 3, 3 and -2, but the difference of 20 and 35 is 12 - 7 = 5: one more in the largest.
TEST(Normalization, PartsSumAfterRounding) {
  WorkDifference work;
  work.is_split = true;
  work.base_step_ns = 20;
  work.other_step_ns = 35;
  work.part_ns[0] = 10;
  work.part_ns[1] = 10;
  work.part_ns[2] = -5;
  scale(work, 1.0 / 3);
  EXPECT_EQ(work.change_ns(), 5);
  EXPECT_EQ(work.part_ns[0] + work.part_ns[1] + work.part_ns[2], 5);
  EXPECT_EQ(work.part_ns[0], 4);
}

TEST(GpuPower, IsTheMeanWithinTheWindowOfAllGpus) {
  test::HandTrace hand;
  hand.add_rank().launch("gemm", 0, 5, 10);  // 5 to 10 us
  Trace trace = hand.build();
  EXPECT_FALSE(gpu_power_w(RunFacts(trace, {})).has_value());
  MetricSeries power;
  power.name = "Power [mW]";
  power.time_ns = {1000, 6000, 8000, 50000};
  power.value = {90000, 300000, 500000, 90000};
  trace.ranks.front().metrics = {power};
  EXPECT_DOUBLE_EQ(gpu_power_w(RunFacts(trace, {})).value_or(0), 400);
  MetricSeries other = power;
  other.gpu = 1;
  trace.ranks.front().metrics = {power, other};  // which of the two the run's is, is not known
  EXPECT_FALSE(gpu_power_w(RunFacts(trace, {})).has_value());
}

}  // namespace
}  // namespace swinscope
