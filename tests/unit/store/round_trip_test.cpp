// What goes into a TraceWriter comes out of a TraceFile, field by field.
#include "store/reader.h"
#include "store/writer.h"
#include "tests/unit/store/describe.h"
#include "tests/unit/store/records.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using Feed = void (*)(RecordSink&);

std::vector<std::string> kept_directly(Feed feed) {
  KeptProcess kept;
  feed(kept);
  return describe(kept);
}

class RoundTrip : public testing::TestWithParam<WriteMode> {
 protected:
  std::vector<std::string> through_file(Feed feed) {
    const fs::path path = folder_ / "rank0.db";
    {
      TraceWriter writer(path, GetParam());
      feed(writer);
      writer.finish();
    }
    TraceFile file(path);
    EXPECT_TRUE(file.is_own());
    KeptTrace trace;
    file.read(trace);
    return trace.processes.size() == 1 ? describe(trace.processes[0]) : std::vector<std::string>{"not one process"};
  }

  TempFolder folder_;
};

TEST_P(RoundTrip, EveryFieldSet) { EXPECT_EQ(through_file(add_full_process), kept_directly(add_full_process)); }

TEST_P(RoundTrip, EveryOptionalFieldAbsent) {
  EXPECT_EQ(through_file(add_bare_process), kept_directly(add_bare_process));
}

TEST_P(RoundTrip, NothingButTheRun) {
  const Feed feed = [](RecordSink& sink) {
    RunInfo run = full_run();
    run.graph_level_only = false;
    sink.set_run(run);
  };
  EXPECT_EQ(through_file(feed), kept_directly(feed));
}

TEST_P(RoundTrip, TheLastRunInfoWins) {
  const Feed both = [](RecordSink& sink) {
    RunInfo first = full_run();
    first.gpus.push_back(first.gpus.front());
    first.host = "elsewhere";
    sink.set_run(first);
    add_full_process(sink);
  };
  EXPECT_EQ(through_file(both), kept_directly(add_full_process));
}

TEST_P(RoundTrip, MoreRowsThanOneTransactionTakes) {
  const Feed feed = [](RecordSink& sink) {
    for (int i = 0; i < 120'000; ++i) {
      ApiRecord r;
      r.start_ns = i;
      r.end_ns = i + 1;
      r.global_tid = kTid;
      r.name = sink.intern(i % 1000 == 0 ? fmt::format("call {}", i) : "call");
      sink.add(r);
    }
  };
  EXPECT_EQ(through_file(feed), kept_directly(feed));
}

INSTANTIATE_TEST_SUITE_P(Modes, RoundTrip, testing::Values(WriteMode::kLive, WriteMode::kImport),
                         [](const auto& param) { return param.param == WriteMode::kLive ? "Live" : "Import"; });

// A range stands in the file from its beginning, so that a file that is cut off has it.
TEST(RoundTripOpenRange, IsReplacedWhenItEnds) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  NvtxRecord range;
  range.start_ns = 5;
  range.text = writer.intern("step");
  const std::int64_t first = writer.add_open(range);
  const std::int64_t second = writer.add_open(range);
  writer.flush();
  range.end_ns = 9;
  range.value_type = NvtxValueType::kInt64;
  range.int64_value = 7;
  writer.close_open(first, range);
  writer.finish();
  EXPECT_NE(first, second);
  EXPECT_EQ(Sqlite(folder / "rank0.db").values("SELECT start, end, int64Value FROM NVTX_EVENTS ORDER BY rowid"),
            (std::vector<std::string>{"5", "9", "7", "5", "NULL", "NULL"}));
}

// The process table of `record` is written again and again as the processes run.
TEST(RoundTripProcess, ALaterRecordReplacesAnEarlierOne) {
  const TempFolder folder;
  TraceWriter writer(folder / "record.db", WriteMode::kLive);
  ProcessRecord r;
  r.global_pid = kPid;
  r.name = writer.intern("python3");
  r.command = writer.intern("python3 train.py");
  writer.add(r);
  r.cpu_ns = 8;
  r.end_ns = 10;
  writer.add(r);
  r.start_ns = 20;  // another process with the same number
  r.end_ns = kOpenEnd;
  writer.add(r);
  writer.finish();
  KeptTrace trace;
  TraceFile(folder / "record.db").read(trace);
  ASSERT_EQ(trace.processes.at(0).processes.size(), 2U);
  EXPECT_EQ(trace.processes[0].processes[0].end_ns, 10);
  EXPECT_EQ(trace.processes[0].processes[0].cpu_ns, 8);
  EXPECT_EQ(trace.processes[0].processes[1].start_ns, 20);
}

// A text that is no name of ours: SQLite must neither cut it at a zero byte nor change it.
TEST(RoundTripText, ZeroBytesAndLongNames) {
  const TempFolder folder;
  const std::string zero("a\0b", 3);
  const std::string large(1 << 20, 'x');
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kImport);
    for (const std::string& name : {zero, large}) {
      ApiRecord r;
      r.name = writer.intern(name);
      writer.add(r);
    }
    writer.finish();
  }
  KeptTrace trace;
  TraceFile(folder / "rank0.db").read(trace);
  ASSERT_EQ(trace.processes.size(), 1U);
  ASSERT_EQ(trace.processes[0].apis.size(), 2U);
  EXPECT_EQ(trace.processes[0].text(trace.processes[0].apis[0].name), zero);
  EXPECT_EQ(trace.processes[0].text(trace.processes[0].apis[1].name), large);
}

TEST(RoundTripSpan, IsThatOfTheRecords) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kImport);
    add_full_process(writer);
    writer.finish();
  }
  // From the kernel at -5 to the last sample at 830.
  EXPECT_EQ(Sqlite(folder / "rank0.db").values("SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS"),
            (std::vector<std::string>{"835", "-5", "830"}));
}

// Scripts for Nsight Systems' exports filter on these columns being NULL or not.
TEST(RoundTripNulls, AbsentValuesAreNull) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kImport);
    add_bare_process(writer);
    writer.finish();
  }
  Sqlite db(folder / "rank0.db");
  EXPECT_EQ(db.values("SELECT correlationId, globalPid, greenContextId, mangledName, launchType, graphNodeId, graphId,"
                      " clusterX FROM CUPTI_ACTIVITY_KIND_KERNEL"),
            std::vector<std::string>(8, "NULL"));
  EXPECT_EQ(db.values("SELECT srcDeviceId, dstDeviceId, graphNodeId FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
            std::vector<std::string>(3, "NULL"));
  EXPECT_EQ(
      db.values("SELECT end, rangeId, category, color, text, endGlobalTid, int64Value, jsonTextId FROM NVTX_EVENTS"),
      std::vector<std::string>(8, "NULL"));
  EXPECT_EQ(db.values("SELECT uint64Value, doubleValue, uint32Value, int32Value, floatValue FROM NVTX_EVENTS"),
            std::vector<std::string>(5, "NULL"));
  EXPECT_EQ(db.values("SELECT end, parentGlobalPid, rank FROM SWINSCOPE_PROCESS"), std::vector<std::string>(3, "NULL"));
  EXPECT_EQ(db.values("SELECT seq, graphNodeId FROM SWINSCOPE_COLLECTIVE"), std::vector<std::string>(2, "NULL"));
}

}  // namespace
}  // namespace swinscope::test
