// PyTorch's allocator events: series of what is allocated and reserved, in the trace and in the file that an import
// makes.
#include "analyzer/importers/kineto_memory.h"

#include <gmock/gmock.h>

#include "analyzer/analyses/memory.h"
#include "analyzer/importers/import.h"
#include "analyzer/importers/open.h"
#include "analyzer/trace/counters.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;

// As PyTorch writes it; times in microseconds.
std::string memory_event(double ts, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved, int device = 0,
                         int type = 1) {
  return fmt::format(R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 10, "tid": 11, )"
                     R"("ts": {:.3f}, "args": {{"Total Reserved": {}, "Total Allocated": {}, "Bytes": {}, )"
                     R"("Addr": 139812, "Device Id": {}, "Device Type": {}, "Ev Idx": 3}}}})",
                     ts, reserved, allocated, bytes, device, type);
}

class KinetoMemoryTest : public testing::Test {
 protected:
  fs::path write(const std::string& events) {
    write_file(folder_.path() / "trace.json", kineto_document(events));
    return folder_.path() / "trace.json";
  }
  const TempFolder folder_;
};

TEST_F(KinetoMemoryTest, IsSeriesOfEachDevice) {
  const Trace trace =
      open_trace(write(launch_event(1, 10, 2) + "," + kernel_event(1, 15, 30) + "," +
                       memory_event(11, 512, 1'512, 4'096) + "," + memory_event(13, -512, 1'000, 4'096) + "," +
                       memory_event(14, 64, 64, 2'048, 1) + "," + memory_event(16, 8, 8, 0, -1, 0)));  // of the host
  ASSERT_EQ(trace.ranks.size(), 1U);
  const Rank& rank = trace.ranks[0];
  ASSERT_EQ(rank.metrics.size(), 4U);
  for (const MetricSeries& series : rank.metrics)
    EXPECT_EQ(series.source, MetricSource::kAllocator);
  EXPECT_EQ(rank.metrics[0].name, "PyTorch allocated [bytes]");
  EXPECT_EQ(rank.metrics[0].gpu, 0);
  EXPECT_THAT(rank.metrics[0].time_ns, ElementsAre(11'000, 13'000));
  EXPECT_THAT(rank.metrics[0].value, ElementsAre(1'512, 1'000));
  EXPECT_EQ(rank.metrics[1].name, "PyTorch reserved [bytes]");
  EXPECT_THAT(rank.metrics[1].value, ElementsAre(4'096, 4'096));
  EXPECT_EQ(rank.metrics[2].gpu, 1);
  EXPECT_THAT(rank.metrics[2].value, ElementsAre(64));
  EXPECT_EQ(rank.marks.size(), 1U) << "the host's";

  const std::vector<MemoryLevel> levels = memory_levels(RunFacts(trace, {}));
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_EQ(levels[0].what, "PyTorch allocated");
  EXPECT_EQ(levels[0].peak_bytes, 1'512);
  EXPECT_EQ(levels[0].peak_at_ns, 11'000);
  EXPECT_EQ(levels[0].end_bytes, 1'000);
}

// A level holds from the event on.
TEST_F(KinetoMemoryTest, IsACounterOfTheImportedFile) {
  const fs::path file =
      write(launch_event(1, 10, 2) + "," + kernel_event(1, 15, 30) + "," +
            memory_event(11, 512, std::int64_t{1} << 30, 0) + "," + memory_event(13, -512, std::int64_t{1} << 29, 0));
  const ImportResult imported = import_traces({file}, folder_.path() / "out", false);
  const std::vector<CounterSeries> counters = read_counters(imported.files.at(0).path);
  ASSERT_FALSE(counters.empty());
  EXPECT_EQ(counters[0].name, "GPU 0 · PyTorch allocated");
  EXPECT_EQ(counters[0].unit, "GiB");
  EXPECT_EQ(counters[0].at(11'000), 1.0);
  EXPECT_EQ(counters[0].at(12'999), 1.0);
  EXPECT_EQ(counters[0].at(13'000), 0.5);
  EXPECT_FALSE(counters[0].at(10'999).has_value());
}

TEST(MetricSeriesBuilder, AppendsALaterWindow) {
  MetricSeriesBuilder first;
  MetricSeriesBuilder second;
  first.add(MetricRecord{10, MetricSource::kAllocator, 0, 1, 100});
  second.add(MetricRecord{5, MetricSource::kAllocator, 0, 1, 200});
  second.add(MetricNameRecord{MetricSource::kAllocator, 0, 1, "PyTorch allocated [bytes]"});
  first.append(second, 1'000);
  const std::vector<MetricSeries> all = first.take();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "PyTorch allocated [bytes]");
  EXPECT_THAT(all[0].time_ns, ElementsAre(10, 1'005));
  EXPECT_THAT(all[0].value, ElementsAre(100, 200));
}

}  // namespace
}  // namespace swinscope::test
