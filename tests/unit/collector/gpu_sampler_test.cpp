#include "collector/sampling/gpu_sampler.h"

#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/sampling/nvml.h"
#include "collector/sampling/process_log.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

// Two GPUs; each reading says how often it was asked.
class FakeNvml : public Nvml {
 public:
  std::vector<GpuIdentity> gpus() override { return {{"first", "GPU-a", 100, 0, {}}, {"second", "GPU-b", 200, 0, {}}}; }
  std::vector<GpuReading> read(std::size_t gpu) override {
    return {{1, static_cast<std::int64_t>(1000 * gpu) + ++count_}, {11, 9900}};
  }

 private:
  int count_ = 0;
};

std::vector<GpuSample> collect(std::size_t count) {
  GpuSampler sampler(std::make_unique<FakeNvml>(), 1'000'000);
  std::vector<GpuSample> samples;
  while (samples.size() < count) {
    for (GpuSample& sample : sampler.take())
      samples.push_back(std::move(sample));
    std::this_thread::yield();
  }
  EXPECT_EQ(sampler.dropped(), 0);
  return samples;
}

TEST(GpuSampler, EachGpuIsReadInTurn) {
  const auto samples = collect(6);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(samples[i].gpu, i % 2);
    EXPECT_EQ(samples[i].readings[0].value, static_cast<std::int64_t>(1000 * (i % 2) + i + 1));
    EXPECT_GE(samples[i].time_ns, samples[i == 0 ? 0 : i - 1].time_ns);
  }
}

TEST(GpuSampler, ItStopsWithoutHavingBeenAsked) { GpuSampler sampler(std::make_unique<FakeNvml>(), 3'600'000'000'000); }

// Readings of one metric, in turn; "-" where there is none.
std::string readings_of(Nvml& nvml, const char* metric, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    std::string value = "-";
    for (const GpuReading& reading : nvml.read(0)) {
      for (const GpuMetric& known : gpu_metrics()) {
        if (known.id == reading.metric && std::string(known.name) == metric) value = std::to_string(reading.value);
      }
    }
    text += value + " ";
  }
  return text;
}

TEST(Nvml, CountersThatHaveNotMovedOnGiveNoReading) {
  std::string problem;
  const auto nvml = open_nvml(problem, SWINSCOPE_FAKE_NVML);
  ASSERT_NE(nvml, nullptr) << problem;
  EXPECT_EQ(nvml->gpus().at(0).name, "fake GPU");
  EXPECT_EQ(readings_of(*nvml, "SM active [0.01 %]", 7), "- - 9100 - 9100 - 9100 ");
  EXPECT_EQ(readings_of(*nvml, "SM clock [MHz]", 1), "1980 ");
  EXPECT_EQ(readings_of(*nvml, "Tensor active [0.01 %]", 3), "- - - ") << "not supported here";
  EXPECT_EQ(readings_of(*nvml, "Power [mW]", 1), "- ");
}

TEST(Nvml, ConnectionsBetweenGpus) {
  std::string problem;
  const auto nvml = open_nvml(problem, SWINSCOPE_FAKE_NVML);
  ASSERT_NE(nvml, nullptr) << problem;
  std::string text;
  for (const GpuLink& link : nvml->links())
    text += std::to_string(link.first) + "-" + std::to_string(link.second) + " " + link.kind + "; ";
  EXPECT_EQ(text, "0-1 NV4; 0-2 PHB; 1-2 NV6; ");
  EXPECT_EQ(nvml->gpus().at(0).nvlinks, 4);
  EXPECT_EQ(nvml->gpus().at(1).nvlinks, 10);
  EXPECT_EQ(nvml->gpus().at(2).nvlinks, 0);
  EXPECT_EQ(nvml->gpus().at(2).pcie, "gen5 x16");
}

TEST(ProcessLog, ConnectionsAreFactsOfTheRun) {
  std::string problem;
  const auto nvml = open_nvml(problem, SWINSCOPE_FAKE_NVML);
  ASSERT_NE(nvml, nullptr) << problem;
  test::TempFolder folder;
  ProcessLog log(folder.path(), RunInfo{}, 0, [](const std::string& line) { ADD_FAILURE() << line; });
  log.add_facts(describe_connections(*nvml));
  log.finish(ProcessTree());
  test::Sqlite db(folder / log.file_name());
  EXPECT_THAT(
      db.values("SELECT name, value FROM SWINSCOPE_ENVIRONMENT WHERE name LIKE 'gpu.%' ORDER BY name"),
      ElementsAre("gpu.0-1.link", "NV4", "gpu.0-2.link", "PHB", "gpu.0.nvlinks", "4", "gpu.0.pcie", "gen5 x16",
                  "gpu.1-2.link", "NV6", "gpu.1.nvlinks", "10", "gpu.1.pcie", "gen5 x16", "gpu.2.pcie", "gen5 x16"));
}

TEST(Nvml, WithoutADriverTheReasonIsSaid) {
  std::string problem;
  EXPECT_EQ(open_nvml(problem, "libno-such-driver.so.1"), nullptr);
  EXPECT_EQ(problem, "libno-such-driver.so.1 was not found: there is no NVIDIA driver here");
}

TEST(GpuSampler, SamplesBecomeRowsWithNames) {
  test::TempFolder folder;
  ProcessLog log(folder.path(), RunInfo{}, 1'000'000, [](const std::string& line) { ADD_FAILURE() << line; });
  log.describe_gpus(FakeNvml().gpus());
  log.add_gpus({{3'000'000, 1, {{1, 1980}, {11, 9950}}}});
  log.finish(ProcessTree());
  test::Sqlite db(folder / log.file_name());
  EXPECT_THAT(
      db.values("SELECT timestamp, typeId & 255, metricName, value FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING "
                "(typeId, metricId) ORDER BY metricId"),
      ElementsAre("2000000", "1", "SM clock [MHz]", "1980", "2000000", "1", "SM active [0.01 %]", "9950"));
  EXPECT_THAT(db.values("SELECT id, name, uuid FROM TARGET_INFO_GPU ORDER BY id"),
              ElementsAre("0", "first", "GPU-a", "1", "second", "GPU-b"));
}

}  // namespace
}  // namespace swinscope
