// Whose samples count, on whose clock, and what is said where the driver's reasons were not sampled.
#include "analyzer/analyses/gpu_power.h"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

MetricSeries series(const char* name, std::uint8_t gpu, std::vector<std::int64_t> time_ns,
                    std::vector<std::int64_t> value) {
  MetricSeries made;
  made.name = name;
  made.gpu = gpu;
  made.time_ns = std::move(time_ns);
  made.value = std::move(value);
  return made;
}

GpuInfo gpu(std::int32_t device, const char* uuid) {
  GpuInfo info;
  info.device = device;
  info.uuid = uuid;
  return info;
}

// Two ranks of one GPU each, 0 to 100 us, which the recorder numbers the other way round; its clock began 1 ms before.
Trace two_ranks() {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    rank.launch("gemm", 1, 10, 50);
    rank.step(0, 100);
  }
  Trace trace = hand.build();
  trace.ranks[0].run.gpus = {gpu(0, "GPU-a")};
  trace.ranks[1].run.gpus = {gpu(0, "GPU-b")};
  Launcher& launcher = trace.launchers.emplace_back();
  launcher.run.host = "host";
  launcher.run.utc_epoch_ns = trace.ranks[0].run.utc_epoch_ns - 1'000'000;
  launcher.run.gpus = {gpu(0, "GPU-b"), gpu(1, "GPU-a")};
  launcher.metrics = {series("Power [mW]", 0, {50'000, 1'050'000}, {1'000, 300'000}),
                      series("Power [mW]", 1, {50'000, 1'050'000}, {1'000, 500'000})};
  return trace;
}

TEST(GpuPower, IsOfTheGpuWithTheSameUuidOnTheRanksClock) {
  const Trace trace = two_ranks();
  const RunFacts run(trace, {});
  const std::vector<GpuPower> rows = gpu_power(run);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].watts.value_or(Sampled{}).mean, 500);
  EXPECT_DOUBLE_EQ(rows[1].watts.value_or(Sampled{}).mean, 300);
  EXPECT_DOUBLE_EQ(rows[0].joules().value_or(0), 500 * 100e-6);
  EXPECT_DOUBLE_EQ(gpu_power_w(run).value_or(0), 800);
}

TEST(GpuPower, OfAllIsNotKnownWhereOneWasNotSampled) {
  Trace trace = two_ranks();
  trace.launchers[0].metrics.pop_back();
  const RunFacts run(trace, {});
  EXPECT_EQ(gpu_power(run).size(), 2U);
  EXPECT_FALSE(gpu_power_w(run).has_value());
}

TEST(GpuPower, ALowClockIsSaidWhereReasonsWereNotSampled) {
  Trace trace = two_ranks();
  EXPECT_EQ(gpu_power(RunFacts(trace, {})).at(0).throttling, "not recorded");
  trace.launchers[0].metrics.push_back(
      series("SM clock [MHz]", 1, {1'010'000, 1'020'000, 1'030'000, 1'040'000}, {1980, 1782, 1781, 1200}));
  EXPECT_EQ(gpu_power(RunFacts(trace, {})).at(0).throttling, "not recorded") << "the highest clock is not known";
  trace.ranks[0].run.gpus[0].clock_hz = 1'980'000'000;
  const GpuPower row = gpu_power(RunFacts(trace, {})).at(0);
  EXPECT_EQ(row.throttling, "reasons not recorded; SM clock below 90 % of the highest in 50.0 % of the samples");
  EXPECT_FALSE(row.throttled_percent.has_value());
}

TEST(GpuPower, HasNoRowsWhereNothingWasSampled) {
  Trace trace = two_ranks();
  trace.launchers.clear();
  EXPECT_TRUE(gpu_power(RunFacts(trace, {})).empty());
}

}  // namespace
}  // namespace swinscope::test
