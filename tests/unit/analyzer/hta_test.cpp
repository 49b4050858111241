#include "analyzer/analyses/hta.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analyses/hta_rows.h"
#include "analyzer/importers/open.h"
#include "analyzer/trace/trace_builder.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint64_t kThread = make_global_tid(100, 1);

// A trace of ranks 0, 1, ... from records; times in ns.
class Maker {
 public:
  Maker() { next_rank(); }

  Maker& next_rank() {
    sink_ = &builder_.add_process();
    RunInfo run;
    run.rank = ranks_++;
    sink_->set_run(run);
    return *this;
  }
  Maker& kernel(const std::string& name, std::int64_t start, std::int64_t end, std::uint32_t stream = 7,
                std::uint32_t correlation = 0, std::int32_t device = 0) {
    auto r = gpu<KernelRecord>(start, end, stream, correlation);
    r.device = device;
    r.demangled_name = sink_->intern(name);
    sink_->add(r);
    return *this;
  }
  Maker& copy(std::int64_t start, std::int64_t end, std::uint32_t stream = 7) {
    auto r = gpu<MemcpyRecord>(start, end, stream, 0);
    r.kind = CopyKind::kHostToDevice;
    sink_->add(r);
    return *this;
  }
  Maker& sync(SyncType type, std::int64_t start, std::int64_t end, std::uint32_t stream) {
    auto r = gpu<SyncRecord>(start, end, stream, 0);
    r.type = type;
    sink_->add(r);
    return *this;
  }
  Maker& call(std::uint32_t correlation, std::int64_t start) {
    ApiRecord r;
    r.start_ns = start;
    r.end_ns = start + 500;
    r.global_tid = kThread;
    r.correlation = correlation;
    r.name = sink_->intern("cudaLaunchKernel");
    sink_->add(r);
    return *this;
  }
  Maker& range(const std::string& name, std::int64_t start, std::int64_t end) {
    NvtxRecord r;
    r.start_ns = start;
    r.end_ns = end;
    r.global_tid = kThread;
    r.text = sink_->intern(name);
    sink_->add(r);
    return *this;
  }
  Trace trace() {
    Trace trace;
    builder_.move_into(trace);
    return trace;
  }

 private:
  template <typename Record>
  static Record gpu(std::int64_t start, std::int64_t end, std::uint32_t stream, std::uint32_t correlation) {
    Record r;
    r.start_ns = start;
    r.end_ns = end;
    r.stream = stream;
    r.correlation = correlation;
    return r;
  }

  TraceBuilder builder_;
  RecordSink* sink_ = nullptr;
  std::int32_t ranks_ = 0;
};

// The tables by name, their cells by column.
class Result {
 public:
  explicit Result(const Trace& trace) : tables_(hta_tables(trace)) {}
  explicit Result(Maker& maker) : Result(maker.trace()) {}

  const Table& table(const std::string& key) const {
    return *std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.key == key; });
  }
  std::size_t rows(const std::string& key) const { return table(key).rows.size(); }
  const Cell& cell(const std::string& key, std::size_t row, const std::string& column) const {
    const Table& t = table(key);
    return t.rows.at(row).at(find_column(t, column));
  }
  std::int64_t integer(const std::string& key, std::size_t row, const std::string& column) const {
    return std::get<std::int64_t>(cell(key, row, column));
  }
  double real(const std::string& key, std::size_t row, const std::string& column) const {
    return std::get<double>(cell(key, row, column));
  }
  std::string text(const std::string& key, std::size_t row, const std::string& column) const {
    return std::get<std::string>(cell(key, row, column));
  }
  std::size_t row_of(const std::string& key, const std::string& name) const {
    std::size_t row = 0;
    while (row < rows(key) && text(key, row, "name") != name)
      ++row;
    return row;
  }
  // (stream, category) -> idle time
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> idle() const {
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> idle;
    for (std::size_t i = 0; i < rows("idle_breakdown"); ++i) {
      idle[{integer("idle_breakdown", i, "stream"), text("idle_breakdown", i, "idle_category")}] =
          integer("idle_breakdown", i, "idle_time_us");
    }
    return idle;
  }
  // type -> time, in the order of the table
  std::vector<std::pair<std::string, std::int64_t>> types() const {
    std::vector<std::pair<std::string, std::int64_t>> types;
    for (std::size_t i = 0; i < rows("kernel_types"); ++i) {
      types.emplace_back(text("kernel_types", i, "kernel_type"), integer("kernel_types", i, "sum_us"));
    }
    return types;
  }
  // name -> count of launches
  std::map<std::string, std::int64_t> counts() const {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < rows("kernels"); ++i) {
      counts[text("kernels", i, "name")] = integer("kernels", i, "count");
    }
    return counts;
  }

 private:
  std::vector<Table> tables_;
};

TEST(HtaRounding, BeginsGoUpAndEndsDown) {
  const Result result(Maker()
                          .kernel("odd", 1'001, 3'999)       // 2..3
                          .kernel("whole", 4'000, 5'000)     // 4..5
                          .kernel("short", 6'100, 6'900)     // 7..6
                          .kernel("before", -2'500, -900));  // -2..-1
  ASSERT_EQ(result.rows("kernels"), 4U);
  const auto sum = [&](const std::string& name) {
    return result.integer("kernels", result.row_of("kernels", name), "sum_us");
  };
  EXPECT_EQ(sum("odd"), 1);
  EXPECT_EQ(sum("whole"), 1);
  EXPECT_EQ(sum("short"), -1);
  EXPECT_EQ(sum("before"), 1);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "kernel_time_us"), 8);  // -2 to the last group's end, 6
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "idle_time_us"), 8 - (1 + 1 + 1 - 1));
}

TEST(HtaRounding, TimesOfTheUnixEpochHaveTheResolutionOfDoubles) {
  // There, doubles stand a quarter of a microsecond apart: 0.1 us reads as 0, and the end, 2.9 us, as 2.75.
  constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;
  const Result result(Maker().kernel("k", kEpoch + 100, kEpoch + 2'900));
  EXPECT_EQ(result.integer("kernels", 0, "sum_us"), 2);
}

TEST(HtaTemporal, ComputationHidesCopies) {
  const Result result(Maker().kernel("a", 0, 10'000).copy(8'000, 12'000, 20).kernel("b", 20'000, 25'000));
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "kernel_time_us"), 25);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "idle_time_us"), 8);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "compute_time_us"), 15);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "non_compute_time_us"), 2);
  EXPECT_EQ(result.real("temporal_breakdown", 0, "idle_time_pctg"), 32.0);
  EXPECT_EQ(result.real("temporal_breakdown", 0, "compute_time_pctg"), 60.0);
  EXPECT_EQ(result.real("temporal_breakdown", 0, "non_compute_time_pctg"), 8.0);
}

TEST(HtaTemporal, PercentagesAreRoundedHalfToEven) {
  const Result result(Maker().kernel("a", 0, 400'000).kernel("a", 401'000, 800'000));
  EXPECT_EQ(result.real("temporal_breakdown", 0, "idle_time_pctg"), 0.12);      // 0.125
  EXPECT_EQ(result.real("temporal_breakdown", 0, "compute_time_pctg"), 99.88);  // 99.875
}

TEST(HtaTemporal, NothingButShortEventsHasNoPercentages) {
  const Result result(Maker().kernel("a", 100, 1'000));  // 1..1
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "kernel_time_us"), 0);
  EXPECT_EQ(result.cell("temporal_breakdown", 0, "idle_time_pctg"), Cell());
}

TEST(HtaIdle, CategoriesAtTheirLimits) {
  const Result result(Maker()
                          .kernel("a", 0, 10'000)
                          .call(1, 10'000)  // not after the end of the kernel before
                          .kernel("a", 39'000, 50'000, 7, 1)
                          .kernel("a", 80'000, 90'000)  // 30 us, no call
                          .call(2, 90'001)
                          .kernel("a", 91'000, 100'000, 7, 2)
                          .kernel("b", 95'000, 99'000, 7)
                          .call(3, 99'500)  // after the end of b, although a still ran
                          .kernel("a", 101'000, 102'000, 7, 3));
  EXPECT_THAT(result.idle(), ElementsAre(Pair(Pair(7, "host_wait"), 1 + 2), Pair(Pair(7, "kernel_wait"), 29 - 5),
                                         Pair(Pair(7, "other"), 30)));
  EXPECT_EQ(result.real("idle_breakdown", 0, "idle_time_ratio"), 0.05);  // 3 / 57
  EXPECT_EQ(result.real("idle_breakdown", 1, "idle_time_ratio"), 0.42);
  EXPECT_EQ(result.real("idle_breakdown", 2, "idle_time_ratio"), 0.53);
}

TEST(HtaIdle, OfSeveralCallsTheLastCounts) {
  const Result result(Maker().kernel("a", 0, 10'000).call(1, 9'000).call(1, 12'000).kernel("a", 15'000, 16'000, 7, 1));
  EXPECT_THAT(result.idle(), ElementsAre(Pair(Pair(7, "host_wait"), 5), Pair(Pair(7, "other"), 0)));
}

TEST(HtaIdle, StreamsAreJudgedAloneAndDevicesNotToldApart) {
  const Result result(
      Maker().kernel("a", 0, 10'000, 7, 0, 0).kernel("a", 12'000, 14'000, 7, 0, 1).kernel("a", 11'000, 12'000, 20));
  EXPECT_THAT(result.idle(),
              ElementsAre(Pair(Pair(7, "kernel_wait"), 2), Pair(Pair(7, "other"), 0), Pair(Pair(20, "other"), 0)));
  EXPECT_EQ(result.cell("idle_breakdown", 2, "idle_time_ratio"), Cell());  // 0 / 0
}

TEST(HtaSynchronization, OfAStreamCountsAsActivityButEndsNoGap) {
  const Result result(Maker()
                          .kernel("a", 0, 10'000)
                          .sync(SyncType::kStream, 10'000, 15'000, 7)
                          .sync(SyncType::kStreamWaitEvent, 15'000, 18'000, 7)
                          .sync(SyncType::kContext, 0, 90'000, 0)  // of no stream
                          .kernel("a", 30'000, 40'000));
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "kernel_time_us"), 40);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "idle_time_us"), 12);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "compute_time_us"), 23);  // "Stream Wait Event" is computation
  EXPECT_THAT(result.idle(), ElementsAre(Pair(Pair(7, "kernel_wait"), 20), Pair(Pair(7, "other"), 0)));
  EXPECT_THAT(result.counts(), ElementsAre(Pair("Stream Wait Event", 1), Pair("a", 2)));
}

TEST(HtaOverlap, IsTheShareOfCommunicationUnderComputation) {
  Maker maker;
  maker.kernel("ncclDevKernel_AllReduce", 0, 100'000, 20).kernel("gemm", 50'000, 150'000).copy(140'000, 160'000, 24);
  const Result result(maker);
  EXPECT_EQ(result.real("comm_comp_overlap", 0, "comp_comm_overlap_pctg"), 50.0);
  EXPECT_THAT(result.types(),
              ElementsAre(Pair("COMMUNICATION", 50), Pair("COMPUTATION overlapping COMMUNICATION", 50),
                          Pair("COMPUTATION", 40), Pair("COMPUTATION overlapping MEMORY", 10), Pair("MEMORY", 10)));
  EXPECT_EQ(result.real("kernel_types", 0, "percentage"), 31.2);  // 31.25, half to even
  EXPECT_EQ(result.real("kernel_types", 3, "percentage"), 6.2);   // 6.25
}

TEST(HtaOverlap, IsNoNumberWithoutCommunication) {
  const Result result(Maker().kernel("gemm", 0, 1'000));
  EXPECT_EQ(result.cell("comm_comp_overlap", 0, "comp_comm_overlap_pctg"), Cell());
}

TEST(HtaTypes, AShortKernelTakesItsWeightFromWhatRuns) {
  // A computation from 6 to 5 us: in that microsecond HTA sees memory (4) less computation (1).
  const Result result(Maker().copy(0, 10'000, 20).kernel("gemm", 5'100, 5'900));
  EXPECT_THAT(result.types(), ElementsAre(Pair("MEMORY", 9), Pair("COMPUTATION overlapping COMMUNICATION", 1)));
}

TEST(HtaTypes, AreOverAllRanks) {
  const Result result(Maker().kernel("a", 0, 1'000).next_rank().kernel("a", 500'000, 502'000));
  EXPECT_THAT(result.types(), ElementsAre(Pair("COMPUTATION", 3)));
  EXPECT_EQ(result.rows("kernels"), 2U);
}

TEST(HtaTypes, FollowTheName) {
  using hta::KernelType;
  using hta::type_of;
  EXPECT_EQ(type_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)"), KernelType::kCommunication);
  EXPECT_EQ(type_of("ncclKernel_AllGather"), KernelType::kCommunication);
  EXPECT_EQ(type_of("nccl\nKernel"), KernelType::kComputation);
  EXPECT_EQ(type_of("ncclFoo"), KernelType::kComputation);
  EXPECT_EQ(type_of("my_ncclKernel"), KernelType::kComputation);
  EXPECT_EQ(type_of("Memcpy HtoD (Pinned -> Device)"), KernelType::kMemory);
  EXPECT_EQ(type_of("Memset (Device)"), KernelType::kMemory);
  EXPECT_EQ(type_of("dma_copy"), KernelType::kMemory);
  EXPECT_EQ(type_of("batchedMemcpy"), KernelType::kOther);
  EXPECT_EQ(type_of("asyncMemset"), KernelType::kComputation);
  EXPECT_EQ(type_of("fused_Sync_gemm"), KernelType::kOther);
  EXPECT_EQ(type_of("gemm\nSync"), KernelType::kComputation);
  EXPECT_EQ(type_of(""), KernelType::kComputation);
}

TEST(HtaKernels, StatisticsAreOverLaunches) {
  Maker maker;
  maker.kernel("b", 0, 10'000).kernel("b", 100'000, 120'000).kernel("b", 200'000, 230'000);
  maker.kernel("ncclKernel", 300'000, 301'000).copy(400'000, 402'000).kernel("Sync", 500'000, 600'000);
  const Result result(maker);
  for (const std::string key : {"kernels", "top_kernels"}) {
    ASSERT_EQ(result.rows(key), 3U) << key;  // by type; "Sync" has none
    EXPECT_EQ(result.text(key, 0, "kernel_type"), "COMMUNICATION");
    EXPECT_EQ(result.text(key, 1, "name"), "b");
    EXPECT_EQ(result.text(key, 1, "kernel_type"), "COMPUTATION");
    EXPECT_EQ(result.text(key, 2, "name"), "Memcpy HtoD (Unknown -> Unknown)");
    EXPECT_EQ(result.integer(key, 1, "sum_us"), 60);
    EXPECT_EQ(result.integer(key, 1, "max_us"), 30);
    EXPECT_EQ(result.integer(key, 1, "min_us"), 10);
    EXPECT_EQ(result.real(key, 1, "mean_us"), 20.0);
    EXPECT_EQ(result.real(key, 1, "stddev"), 10.0);
    EXPECT_EQ(result.real(key, 2, "stddev"), 0.0);
  }
  EXPECT_EQ(result.integer("kernels", 1, "count"), 3);
}

TEST(HtaTopKernels, BeyondTheQuantileAreOthers) {
  // The kernel within a microsecond counts -1, and keeps its name. The running totals are 100, 190, 270, 340, 400, 450,
  // 490, 520, 540, 550, 555, 554, their 0.8-quantile 548.
  Maker maker;
  std::int64_t start = 0;
  for (const std::int64_t us : {100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 5}) {
    maker.kernel("k" + std::to_string(200 - us), start, start + us * 1'000);
    start += 1'000'000;
  }
  maker.kernel("short", start + 100, start + 900);
  const Result result(maker);
  ASSERT_EQ(result.rows("top_kernels"), 11U);
  EXPECT_EQ(result.text("top_kernels", 8, "name"), "k180");
  EXPECT_EQ(result.text("top_kernels", 9, "name"), "others");
  EXPECT_EQ(result.integer("top_kernels", 9, "sum_us"), 15);
  EXPECT_EQ(result.integer("top_kernels", 9, "max_us"), 10);
  EXPECT_EQ(result.integer("top_kernels", 9, "min_us"), 5);
  EXPECT_EQ(result.real("top_kernels", 9, "mean_us"), 7.5);
  EXPECT_DOUBLE_EQ(result.real("top_kernels", 9, "stddev"), std::sqrt(12.5));
  EXPECT_EQ(result.text("top_kernels", 10, "name"), "short");
  EXPECT_EQ(result.integer("top_kernels", 10, "sum_us"), -1);
  EXPECT_EQ(result.rows("kernels"), 12U);
}

TEST(HtaTopKernels, AreTenAtMost) {
  Maker maker;
  for (std::int64_t i = 0; i < 60; ++i)
    maker.kernel("k" + std::to_string(100 + i), i * 1'000'000, i * 1'000'000 + 1'000);
  const Result result(maker);
  ASSERT_EQ(result.rows("top_kernels"), 11U);
  EXPECT_EQ(result.text("top_kernels", 9, "name"), "k109");  // equal sums: by name
  EXPECT_EQ(result.integer("top_kernels", 10, "sum_us"), 50);
  EXPECT_EQ(result.rows("kernels"), 60U);
}

TEST(HtaSteps, TheLastOneIsDropped) {
  Maker maker;
  maker.range("ProfilerStep#1", 0, 100'000).range("ProfilerStep#2", 100'000, 200'000);
  maker.call(1, 50'000).kernel("kept", 110'000, 120'000, 7, 1);
  maker.call(2, 100'000).kernel("dropped", 130'000, 140'000, 7, 2);
  maker.call(3, 60'000).call(3, 70'000).kernel("twice", 150'000, 160'000, 7, 3);
  maker.call(4, 90'000).call(4, 170'500).kernel("half", 171'000, 172'000, 7, 4);
  maker.kernel("call not recorded", 80'000, 81'000, 7, 5);
  maker.kernel("no id, early", 98'000, 99'000).kernel("no id, late", 99'500, 101'000);
  const Result result(maker);
  EXPECT_THAT(result.counts(),
              ElementsAre(Pair("half", 1), Pair("kept", 1), Pair("no id, early", 1), Pair("twice", 2)));
  // Gaps: 11 to "kept", 30 to "twice", -10 to its copy, 11 to "half", whose later call is dropped and so no host wait.
  EXPECT_THAT(result.idle(), ElementsAre(Pair(Pair(7, "kernel_wait"), 11 - 10 + 11), Pair(Pair(7, "other"), 30)));
}

TEST(HtaSteps, OneNameAloneIsNoReason) {
  Maker maker;
  maker.range("ProfilerStep#1", 0, 100'000).range("ProfilerStep#1", 100'000, 200'000);
  maker.call(1, 150'000).kernel("a", 160'000, 170'000, 7, 1);
  EXPECT_THAT(Result(maker).counts(), ElementsAre(Pair("a", 1)));
}

TEST(HtaSteps, NamesAreCountedOverAllRanksAndLimitsHoldForEach) {
  Maker maker;
  maker.range("ProfilerStep#1", 0, 100'000).call(1, 0).kernel("a", 10'000, 20'000, 7, 1);
  maker.next_rank();
  maker.range("ProfilerStep#2", 50'000, 100'000).call(1, 49'000).kernel("b", 60'000, 70'000, 7, 1);
  EXPECT_THAT(Result(maker).counts(), ElementsAre(Pair("b", 1)));
}

TEST(HtaRanks, WithoutGpuRowsAreLeftOut) {
  const Result result(Maker().next_rank().kernel("a", 0, 1'000).next_rank().call(1, 0));
  ASSERT_EQ(result.rows("temporal_breakdown"), 1U);
  EXPECT_EQ(result.integer("temporal_breakdown", 0, "rank"), 1);
  EXPECT_EQ(result.rows("comm_comp_overlap"), 1U);

  const Result empty{Trace()};
  for (const std::string key :
       {"temporal_breakdown", "idle_breakdown", "comm_comp_overlap", "kernel_types", "top_kernels", "kernels"}) {
    EXPECT_THAT(empty.table(key).rows, IsEmpty()) << key;
  }
}

// What HTA 0.5.0 itself prints for this trace (tests/peers/hta).
class HtaRealTrace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto trace = open_trace(SWINSCOPE_SOURCE_DIR "/data/pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz");
    result_ = std::make_unique<Result>(trace);
  }
  static void TearDownTestSuite() { result_.reset(); }

  static void expect_kernel(const std::string& table, std::size_t row, std::int64_t sum, std::int64_t max,
                            std::int64_t min, double mean, double stddev) {
    ASSERT_LT(row, result_->rows(table));
    EXPECT_EQ(result_->integer(table, row, "sum_us"), sum);
    EXPECT_EQ(result_->integer(table, row, "max_us"), max);
    EXPECT_EQ(result_->integer(table, row, "min_us"), min);
    EXPECT_NEAR(result_->real(table, row, "mean_us"), mean, mean * 1e-11);
    EXPECT_NEAR(result_->real(table, row, "stddev"), stddev, stddev * 1e-11);
  }

  static std::unique_ptr<Result> result_;
};
std::unique_ptr<Result> HtaRealTrace::result_;

TEST_F(HtaRealTrace, TemporalBreakdown) {
  EXPECT_THAT(result_->table("temporal_breakdown").rows,
              ElementsAre(ElementsAre(Cell(std::int64_t{0}), Cell(std::int64_t{182'514}), Cell(std::int64_t{520'667}),
                                      Cell(std::int64_t{1'523}), Cell(std::int64_t{704'704}), Cell(25.9), Cell(73.88),
                                      Cell(0.22))));
}

TEST_F(HtaRealTrace, IdleBreakdown) {
  EXPECT_THAT(result_->idle(), ElementsAre(Pair(Pair(7, "host_wait"), 149'278), Pair(Pair(7, "kernel_wait"), 33'204),
                                           Pair(Pair(7, "other"), 32)));
  EXPECT_EQ(result_->real("idle_breakdown", 0, "idle_time_ratio"), 0.82);
  EXPECT_EQ(result_->real("idle_breakdown", 1, "idle_time_ratio"), 0.18);
  EXPECT_EQ(result_->real("idle_breakdown", 2, "idle_time_ratio"), 0.0);
}

TEST_F(HtaRealTrace, OverlapAndTypes) {
  EXPECT_EQ(result_->cell("comm_comp_overlap", 0, "comp_comm_overlap_pctg"), Cell());
  EXPECT_THAT(result_->types(), ElementsAre(Pair("COMPUTATION", 520'826), Pair("MEMORY", 1'726)));
  EXPECT_EQ(result_->real("kernel_types", 0, "percentage"), 99.7);
  EXPECT_EQ(result_->real("kernel_types", 1, "percentage"), 0.3);
}

TEST_F(HtaRealTrace, TopKernels) {
  ASSERT_EQ(result_->rows("top_kernels"), 19U);
  EXPECT_EQ(result_->text("top_kernels", 0, "name"), "others");
  expect_kernel("top_kernels", 0, 188'687, 9'243, 0, 1150.5304878, 1995.59888584);
  expect_kernel("top_kernels", 17, 1'501, 32, -1, 1.81939393939, 5.26668519405);
}

TEST_F(HtaRealTrace, Kernels) {
  ASSERT_EQ(result_->rows("kernels"), 182U);
  std::int64_t sum = 0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < 182; ++i) {
    sum += result_->integer("kernels", i, "sum_us");
    if (result_->integer("kernels", i, "sum_us") > result_->integer("kernels", longest, "sum_us")) longest = i;
  }
  EXPECT_EQ(sum, 522'190);
  EXPECT_THAT(result_->text("kernels", longest, "name"),
              ::testing::HasSubstr("upsample_bilinear2d_backward_out_frame"));
  EXPECT_EQ(result_->integer("kernels", longest, "count"), 36);
  expect_kernel("kernels", longest, 196'407, 55'170, 26, 5455.75, 15252.4959557);
  const std::size_t sets = result_->row_of("kernels", "Memset (Device)");
  expect_kernel("kernels", sets, 22, 8, -1, 0.0165165165165, 0.586369489776);
  EXPECT_EQ(result_->integer("kernels", sets, "count"), 1'332);
}

}  // namespace
}  // namespace swinscope
