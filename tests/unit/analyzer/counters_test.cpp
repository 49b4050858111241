#include "analyzer/trace/counters.h"

#include <gtest/gtest.h>

#include "analyzer/timeline/timeline_open.h"
#include "store/database.h"
#include "store/error.h"
#include "store/writer.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

class Counters : public testing::Test {
 protected:
  // A file with a kernel, so that it has a timeline, and what `fill` adds.
  template <typename Fill>
  fs::path write(const std::string& name, std::int32_t rank, std::int64_t epoch_ns, Fill fill) const {
    fs::path file = folder_ / name;
    TraceWriter writer(file, WriteMode::kImport);
    RunInfo run;
    run.rank = rank;
    run.world_size = 2;
    run.utc_epoch_ns = epoch_ns;
    run.global_pid = make_global_pid(100 + static_cast<std::uint64_t>(rank));
    writer.set_run(run);
    KernelRecord kernel;
    kernel.start_ns = 1'000;
    kernel.end_ns = 90'000;
    kernel.global_pid = run.global_pid;
    kernel.demangled_name = writer.intern("gemm");
    writer.add(kernel);
    fill(writer);
    writer.finish();
    return file;
  }

  TempFolder folder_;
};

TEST_F(Counters, OfAFileWithoutSamplesAreNone) {
  EXPECT_TRUE(read_counters(write("rank0.db", 0, 1, [](TraceWriter&) {})).empty());
}

TEST_F(Counters, HaveTheirUnitAndTheirPeriods) {
  const auto series = read_counters(write("rank0.db", 0, 1, [](TraceWriter& writer) {
    writer.add(MetricNameRecord{MetricSource{3}, 1, 7, "SM active [0.01 %]"});
    writer.add(MetricNameRecord{MetricSource{1}, 0, 2, "Power [mW]"});
    // Not in the order of time, and one time twice.
    for (const auto& [time, value] :
         {std::pair(30'000, 5'000), std::pair(20'000, 2'500), std::pair(50'000, 10'000), std::pair(50'000, 1)})
      writer.add(MetricRecord{time, MetricSource{3}, 1, 7, value});
    writer.add(MetricRecord{10'000, MetricSource{1}, 0, 2, 350'000});
    writer.add(MetricRecord{20'000, MetricSource{1}, 0, 2, 700'000});
    writer.add(MetricRecord{20'000, MetricSource{1}, 0, 9, 1});  // a single sample has no period
  }));
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].name, "GPU 0 · Power");
  EXPECT_EQ(series[0].unit, "W");
  EXPECT_EQ(series[0].edges_ns, (std::vector<std::int64_t>{0, 10'000, 20'000}));
  EXPECT_EQ(series[0].values, (std::vector<double>{350, 700}));
  EXPECT_EQ(series[0].top, 700);
  EXPECT_EQ(series[1].name, "GPU 1 · SM active");
  EXPECT_EQ(series[1].unit, "%");
  EXPECT_EQ(series[1].edges_ns, (std::vector<std::int64_t>{10'000, 20'000, 30'000, 50'000}));
  EXPECT_EQ(series[1].values, (std::vector<double>{25, 50, 100}));
  EXPECT_EQ(series[1].top, 100);
}

TEST_F(Counters, CpuTimeIsThatOfTheWholeProcess) {
  const auto series = read_counters(write("rank0.db", 0, 1, [](TraceWriter& writer) {
    const std::uint64_t process = make_global_tid(100, 0);
    for (const auto& [time, cpu] : {std::pair(0, 500), std::pair(1'000, 2'500), std::pair(3'000, 3'500)}) {
      writer.add(ThreadCpuRecord{time, process, cpu});
      writer.add(ThreadCpuRecord{time, process + 101, 17});
    }
  }));
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].edges_ns, (std::vector<std::int64_t>{0, 1'000, 3'000}));
  EXPECT_EQ(series[0].values, (std::vector<double>{200, 50}));
}

// As any other table of a file that somebody else wrote.
TEST_F(Counters, WithoutAColumnOrFarBeyondAllTimesAreNone) {
  const fs::path file = write("rank0.db", 0, 1, [](TraceWriter& writer) {
    for (const std::int64_t time : {10'000, 20'000, 30'000, 40'000}) {
      writer.add(MetricRecord{time, MetricSource{1}, 0, 2, 350'000});
      writer.add(ThreadCpuRecord{time, make_global_tid(100, 0), 500});
    }
  });
  for (const char* table : {"GPU_METRICS", "SWINSCOPE_THREAD_CPU"}) {
    Database::open_writable(file).exec(
        fmt::format("UPDATE {0} SET timestamp = 9223372036854775807 WHERE timestamp = 30000;"
                    "UPDATE {0} SET timestamp = -9223372036854775808 WHERE timestamp = 40000",
                    table));
  }
  for (const CounterSeries& series : read_counters(file)) {
    EXPECT_EQ(series.edges_ns.back(), 20'000) << series.name;
    EXPECT_GE(series.edges_ns.front(), 0) << series.name;
  }
  EXPECT_EQ(read_counters(file).size(), 2U);
  Database::open_writable(file).exec("ALTER TABLE GPU_METRICS RENAME COLUMN timestamp TO gone");
  ASSERT_EQ(read_counters(file).size(), 1U);
  EXPECT_EQ(read_counters(file).front().name, "CPU, of one core");
}

TEST_F(Counters, ManySamplesBecomeMeans) {
  const auto series = read_counters(write("rank0.db", 0, 1,
                                          [](TraceWriter& writer) {
                                            writer.add(MetricNameRecord{MetricSource{1}, 0, 1, "SM clock [MHz]"});
                                            for (std::int64_t i = 1; i <= 1'000; ++i)
                                              writer.add(MetricRecord{10 * i, MetricSource{1}, 0, 1, i});
                                          }),
                                    nullptr, 100);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_LE(series[0].values.size(), 100U);
  EXPECT_GE(series[0].values.size(), 50U);
  EXPECT_EQ(series[0].edges_ns.back(), 10'000);
  double sum = 0;
  for (std::size_t i = 0; i < series[0].values.size(); ++i)
    sum += series[0].values[i] * static_cast<double>(series[0].edges_ns[i + 1] - series[0].edges_ns[i]);
  EXPECT_NEAR(sum / 10'000, 500.5, 5);  // the mean over the time stays
}

TEST(CounterSeries, AnswersForMomentsAndWindows) {
  CounterSeries series;
  series.edges_ns = {10, 20, 30, 50};
  series.values = {1, 5, 3};
  EXPECT_EQ(series.at(9), std::nullopt);
  EXPECT_EQ(series.at(10), 1);
  EXPECT_EQ(series.at(19), 1);
  EXPECT_EQ(series.at(20), 5);
  EXPECT_EQ(series.at(49), 3);
  EXPECT_EQ(series.at(50), std::nullopt);
  EXPECT_EQ(series.largest_in({0, 10}), std::nullopt);
  EXPECT_EQ(series.largest_in({0, 11}), 1);
  EXPECT_EQ(series.largest_in({0, 1'000}), 5);
  EXPECT_EQ(series.largest_in({30, 31}), 3);
  EXPECT_EQ(series.largest_in({49, 1'000}), 3);
  EXPECT_EQ(CounterSeries().at(0), std::nullopt);
}

// Rank 1 began 5,000 ns later: its samples move with its events.
TEST_F(Counters, StandOnTheAxisOfAllRanks) {
  const auto fill = [](TraceWriter& writer) {
    writer.add(MetricNameRecord{MetricSource{1}, 0, 1, "SM clock [MHz]"});
    writer.add(MetricRecord{10'000, MetricSource{1}, 0, 1, 100});
    writer.add(MetricRecord{20'000, MetricSource{1}, 0, 1, 200});
  };
  write("rank0.db", 0, 1'000'000, fill);
  write("rank1.db", 1, 1'005'000, fill);
  LoadControl control;
  control.cache_folder.clear();
  const auto timeline = open_timeline(folder_.path(), control);
  ASSERT_EQ(timeline->counters.size(), 2U);
  EXPECT_EQ(timeline->counters[0].process, 0U);
  EXPECT_EQ(timeline->counters[0].edges_ns, (std::vector<std::int64_t>{0, 10'000, 20'000}));
  EXPECT_EQ(timeline->counters[1].process, 1U);
  EXPECT_EQ(timeline->counters[1].edges_ns, (std::vector<std::int64_t>{5'000, 15'000, 25'000}));
}

TEST_F(Counters, OfAFinishedRecordingAreThereWithItsStoredTimeline) {
  const fs::path file = write("rank0.db", 0, 1, [](TraceWriter& writer) {
    writer.add(MetricRecord{10'000, MetricSource{1}, 0, 1, 100});
    writer.add(MetricRecord{20'000, MetricSource{1}, 0, 1, 200});
  });
  store_timeline(file);
  LoadControl control;
  control.cache_folder.clear();
  const auto timeline = open_timeline(file, control);
  ASSERT_EQ(timeline->counters.size(), 1U);
  EXPECT_EQ(timeline->counters[0].name, "GPU 0 · metric 1");
}

}  // namespace
}  // namespace swinscope
