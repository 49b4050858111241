// Exports of Nsight Systems: several processes in one file, tables and columns missing, rows that cannot be used.
#include <fmt/format.h>

#include "store/numbered_name.h"
#include "store/reader.h"
#include "tests/unit/store/describe.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

constexpr std::uint64_t kFirst = make_global_pid(100);
constexpr std::uint64_t kSecond = make_global_pid(200);
constexpr std::uint64_t kThird = make_global_pid(300);

constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, demangledName,"
    " shortName);";
constexpr const char* kStrings = "CREATE TABLE StringIds(id, value);";
constexpr const char* kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue);";
constexpr const char* kRanges = "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId);";

std::string kernel(const char* start, const char* end, int device, std::uint64_t pid) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({}, {}, {}, 7, 1, {}, 1, 1);", start, end, device,
                     pid);
}

class ReaderRows : public testing::Test {
 protected:
  void read(const std::string& sql) {
    trace_.processes.clear();
    fs::remove(folder_ / "a.sqlite");
    TraceFile(make_database(folder_ / "a.sqlite", sql)).read(trace_);
  }
  const KeptProcess& rank(std::size_t number) { return trace_.processes.at(number); }
  std::vector<std::string> drops(std::size_t number = 0) {
    std::vector<std::string> lines;
    for (const DropInfo& d : rank(number).run.drops)
      lines.push_back(fmt::format("{} {}: {}", d.count, d.what, d.reason));
    return lines;
  }

  TempFolder folder_;
  KeptTrace trace_;
};

TEST_F(ReaderRows, ProcessesBecomeRanksInTheOrderOfTheirDevice) {
  read(std::string(kKernels) + kernel("1", "2", 2, kFirst) + kernel("3", "4", 0, kSecond) +
       kernel("5", "6", 1, kThird) + kernel("7", "8", 5, kSecond));
  ASSERT_EQ(trace_.processes.size(), 3U);
  EXPECT_EQ(rank(0).run.global_pid, kSecond);
  EXPECT_EQ(rank(1).run.global_pid, kThird);
  EXPECT_EQ(rank(2).run.global_pid, kFirst);
  EXPECT_EQ(rank(0).kernels.size(), 2U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rank(static_cast<std::size_t>(i)).run.rank, i);
    EXPECT_EQ(rank(static_cast<std::size_t>(i)).run.world_size, 0);  // an export does not say it
    EXPECT_EQ(rank(static_cast<std::size_t>(i)).run.source, "nsys");
  }
}

// The device of every GPU table counts, and the smaller process id comes first on the same device.
TEST_F(ReaderRows, ACopyCanDecideTheOrder) {
  read(std::string(kKernels) + kernel("1", "2", 1, kFirst) + kernel("1", "2", 1, kThird) +
       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, globalPid);" +
       fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 0, {}), (1, 2, 1, {})", kThird, kSecond));
  ASSERT_EQ(trace_.processes.size(), 3U);
  EXPECT_EQ(rank(0).run.global_pid, kThird);
  EXPECT_EQ(rank(1).run.global_pid, kFirst);
  EXPECT_EQ(rank(2).run.global_pid, kSecond);
}

TEST_F(ReaderRows, RowsGoToTheirProcessAndTheOthersToTheFirst) {
  const std::string call = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 0, {}, 1, 1, 0);";
  read(std::string(kStrings) + "INSERT INTO StringIds VALUES(1, 'name');" + kKernels + kernel("1", "2", 0, kFirst) +
       kernel("1", "2", 1, kSecond) + kCalls + fmt::format(fmt::runtime(call), kSecond + 5) +
       fmt::format(fmt::runtime(call), make_global_pid(999) + 6) + kRanges +
       fmt::format("INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, 'step', NULL, {}, 0), (1, 2, 59, NULL, 1, {}, 0)",
                   kFirst + 7, kSecond + 8));
  ASSERT_EQ(trace_.processes.size(), 2U);
  ASSERT_EQ(rank(0).apis.size(), 1U);
  EXPECT_EQ(rank(0).apis[0].global_tid, make_global_pid(999) + 6);
  ASSERT_EQ(rank(1).apis.size(), 1U);
  EXPECT_EQ(rank(1).apis[0].global_tid, kSecond + 5);
  EXPECT_EQ(rank(0).text(rank(0).ranges.at(0).text), "step");
  EXPECT_EQ(rank(1).text(rank(1).ranges.at(0).text), "name");
}

TEST_F(ReaderRows, WithoutAGpuTheHostProcessesAreTheRanks) {
  read(std::string(kRanges) +
       fmt::format("INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, 'a', NULL, {}, 0), (1, 2, 59, 'b', NULL, {}, 0)",
                   kSecond + 1, kFirst + 1));
  ASSERT_EQ(trace_.processes.size(), 2U);
  EXPECT_EQ(rank(0).run.global_pid, kFirst);
  EXPECT_EQ(rank(1).run.global_pid, kSecond);
}

TEST_F(ReaderRows, AnEmptyTraceIsOneRankWithoutEvents) {
  read(kKernels);
  ASSERT_EQ(trace_.processes.size(), 1U);
  EXPECT_EQ(rank(0).kernels.size(), 0U);
  EXPECT_EQ(drops(), std::vector<std::string>{});
}

TEST_F(ReaderRows, BadTimesAreCountedByReason) {
  std::string sql = kKernels;
  const auto add = [&](const char* start, const char* end) { sql += kernel(start, end, 0, kFirst); };
  add("10", "20");  // the good one
  add("NULL", "20");
  add("'NaN'", "20");
  add("1.5", "20");
  add("x'00'", "20");
  add("10", "NULL");
  add("10", "'NaN'");
  add("10", "9e999");
  add("10", "9");
  add("10", "-10");
  add("-2305843009213693953", "0");
  add("0", "2305843009213693953");
  add("9223372036854775807", "9223372036854775807");
  add("-2305843009213693952", "2305843009213693952");  // the widest that is in range
  read(sql);
  ASSERT_EQ(rank(0).kernels.size(), 2U);
  EXPECT_EQ(rank(0).kernels[0].start_ns, 10);
  EXPECT_EQ(rank(0).kernels[1].end_ns - rank(0).kernels[1].start_ns, std::int64_t{1} << 62);
  EXPECT_EQ(drops(),
            (std::vector<std::string>{"2 kernel: the end is before the start", "3 kernel: the end is not an integer",
                                      "4 kernel: the start is not an integer", "3 kernel: the time is out of range"}));
}

TEST_F(ReaderRows, EveryTableChecksItsTimes) {
  const std::vector<std::pair<const char*, const char*>> tables = {
      {"CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy"},
      {"CUPTI_ACTIVITY_KIND_MEMSET", "memset"},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graph execution"},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization"},
      {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA call"},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead"},
      {"PROFILER_OVERHEAD", "overhead"},
      {"NVTX_EVENTS", "NVTX range"}};
  for (const auto& [table, what] : tables) {
    read(std::string(kKernels) + fmt::format("CREATE TABLE {0}(start, end, deviceId, globalTid, nameId, eventType);"
                                             "INSERT INTO {0} VALUES(5, 4, 0, 0, 0, 59), (4, 5, 0, 0, 0, 59)",
                                             table));
    EXPECT_EQ(drops(), std::vector<std::string>{fmt::format("1 {}: the end is before the start", what)}) << table;
    const KeptProcess& kept = rank(0);
    EXPECT_EQ(kept.copies.size() + kept.sets.size() + kept.graphs.size() + kept.syncs.size() + kept.apis.size() +
                  kept.overheads.size() + kept.ranges.size(),
              1U)
        << table;
  }
}

TEST_F(ReaderRows, RangesMayBeOpen) {
  read(std::string(kRanges) +
       "INSERT INTO NVTX_EVENTS VALUES(5, NULL, 59, 'open', NULL, 1, 0), (NULL, NULL, 59, 'x', NULL, 1, 0),"
       "(5, 'x', 59, 'y', NULL, 1, 0)");
  ASSERT_EQ(rank(0).ranges.size(), 1U);
  EXPECT_EQ(rank(0).ranges[0].start_ns, 5);
  EXPECT_EQ(rank(0).ranges[0].end_ns, kOpenEnd);
  EXPECT_EQ(drops(), (std::vector<std::string>{"1 NVTX range: the end is not an integer",
                                               "1 NVTX range: the start is not an integer"}));
}

TEST_F(ReaderRows, ATableWithoutARequiredColumnIsNamed) {
  read(std::string(kKernels) + kernel("1", "2", 0, kFirst) +
       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, finish, deviceId); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY "
       "VALUES(1, 2, 0)");
  EXPECT_EQ(rank(0).kernels.size(), 1U);
  EXPECT_EQ(drops(), std::vector<std::string>{"1 CUPTI_ACTIVITY_KIND_MEMCPY row: the table has no column end"});
}

TEST_F(ReaderRows, UnknownStringsAreEmpty) {
  read(std::string(kStrings) + "INSERT INTO StringIds VALUES(2, 'other');" + kKernels + kernel("1", "2", 0, kFirst));
  EXPECT_EQ(rank(0).text(rank(0).kernels.at(0).demangled_name), "");
}

TEST_F(ReaderRows, TablesThatAreNotReadAreNamedWhenTheyHaveRows) {
  read(std::string(kKernels) +
       "CREATE TABLE GPU_METRICS(timestamp); INSERT INTO GPU_METRICS VALUES(1), (2);"
       "CREATE TABLE UnwindMethodType(number, name); INSERT INTO UnwindMethodType VALUES(1, 'x');"
       "CREATE TABLE OSRT_API(start)");
  EXPECT_EQ(drops(), std::vector<std::string>{"2 GPU_METRICS row: this table is not read"});
}

TEST_F(ReaderRows, EventsOfAnExportSayWhatWaitsForThem) {
  read(
      std::string(kKernels) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId, correlationId, globalPid, "
      "eventId, eventSyncId); INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 1, 7, 126, 0, 1, 3),"
      "(40, 0, 1, 8, 127, 0, 2, 4294967295);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, syncType, eventId, "
      "eventSyncId); INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(5, 6, 0, 1, 8, 2, 1, 3),"
      "(7, 9, 0, 1, 4294967295, 4, 4294967295, 4294967295)");
  const auto& events = rank(0).cuda_events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].time_ns, kUnknownTime) << "0 says that it was not recorded";
  EXPECT_EQ(events[1].time_ns, 40);
  EXPECT_EQ(events[0].event_sync, 3U);
  EXPECT_EQ(events[1].event_sync, 0U);
  EXPECT_EQ(events[1].stream, 8U);
  EXPECT_EQ(rank(0).syncs.at(0).event_sync, 3U);
  EXPECT_EQ(rank(0).syncs.at(1).event_sync, 0U);
  EXPECT_EQ(drops(), std::vector<std::string>{});
}

TEST_F(ReaderRows, GraphLevelTracesSaySo) {
  read(
      fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, globalPid, graphId, graphExecId);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1, 2, 0, {}, 3, 4);",
                  kFirst) +
      kKernels + kernel("1", "2", 1, kSecond));
  ASSERT_EQ(trace_.processes.size(), 2U);
  EXPECT_TRUE(rank(0).run.graph_level_only);
  EXPECT_EQ(rank(0).graphs.at(0).graph_exec, 4U);
  EXPECT_FALSE(rank(1).run.graph_level_only);
}

TEST_F(ReaderRows, GpusThreadsAndProcessesOfTheRanks) {
  read(std::string(kStrings) + "INSERT INTO StringIds VALUES(1, 'main');" + kKernels + kernel("1", "2", 0, kFirst) +
       kernel("1", "2", 1, kSecond) +
       "CREATE TABLE TARGET_INFO_GPU(id, name, uuid, totalMemory, smCount, computeMajor, computeMinor);"
       "INSERT INTO TARGET_INFO_GPU VALUES(4, 'H100', 'GPU-a', 80, 132, 9, 0), (5, 'H100', 'GPU-b', 80, 132, 9, 0);"
       "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
       "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(4, 0, 100), (5, 1, 200), (5, 0, 999), (77, 0, 100);" +
       fmt::format("CREATE TABLE PROCESSES(globalPid, pid, name);"
                   "INSERT INTO PROCESSES VALUES({}, 100, 'python'), ({}, 1, 'systemd');"
                   "CREATE TABLE ThreadNames(nameId, globalTid);"
                   "INSERT INTO ThreadNames VALUES(1, {}), (9, {}), (1, {});"
                   "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
                   "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1760000000123456789)",
                   kFirst, make_global_pid(1), kSecond + 3, kSecond + 4, make_global_pid(1) + 1));
  EXPECT_EQ(rank(0).run.gpus, (std::vector<GpuInfo>{{0, "H100", "GPU-a", 80, 132, 9, 0, "", "", 0, 0, 0}}));
  EXPECT_EQ(rank(1).run.gpus, (std::vector<GpuInfo>{{1, "H100", "GPU-b", 80, 132, 9, 0, "", "", 0, 0, 0}}));
  EXPECT_EQ(rank(0).run.processes, (std::vector<ProcessInfo>{{kFirst, "python"}}));
  EXPECT_EQ(rank(1).run.threads, (std::vector<ThreadInfo>{{kSecond + 3, "main"}}));
  EXPECT_EQ(rank(1).run.utc_epoch_ns, 1'760'000'000'123'456'789);
}

// Times are added to it.
TEST_F(ReaderRows, AnEpochFarBeyondAllTimesIsNotKnown) {
  for (const char* epoch : {"9223372036854775807", "-9223372036854775808", "2305843009213693952"}) {
    read(std::string(kStrings) + kKernels + kernel("1", "2", 0, kFirst) +
         fmt::format("CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
                     "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES({})",
                     epoch));
    EXPECT_EQ(rank(0).run.utc_epoch_ns, 0) << epoch;
  }
}

TEST_F(ReaderRows, NamesAreMadeValidUtf8) {
  read(std::string(kStrings) + "INSERT INTO StringIds VALUES(1, CAST(x'61FF62' AS TEXT));" + kKernels +
       kernel("1", "2", 0, kFirst) + kRanges +
       fmt::format("INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, CAST(x'C3' AS TEXT), NULL, {}, 0)", kFirst));
  EXPECT_EQ(rank(0).text(rank(0).kernels.at(0).demangled_name),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(rank(0).text(rank(0).ranges.at(0).text), "\xEF\xBF\xBD");
}

// Numbers in names go where those of a profiler's trace are, wherever the name stands.
TEST_F(ReaderRows, NumbersInNamesAreKeptApart) {
  read(
      "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId, int64Value);"
      "CREATE TABLE StringIds(id, value);"
      "INSERT INTO StringIds VALUES(5, 'aten::mul, seq = 8, op_id = 31, sizes = [[2, 3], []]'), (6, 'plain');"
      "INSERT INTO NVTX_EVENTS VALUES(1, 9, 59, 'aten::mul, seq = 7, op_id = 30, sizes = [[2, 3], []]', NULL, 1, 0, "
      "NULL),"
      " (2, 8, 59, NULL, 5, 1, 0, NULL), (3, 7, 59, NULL, 6, 1, 0, NULL),"
      " (4, 6, 59, 'Optimizer.step#SGD.step, op_id = 32', NULL, 1, 0, NULL),"
      " (5, 6, 59, 'aten::add, seq = 9, op_id = 33', NULL, 1, 4, 12), (6, 6, 34, 'aten::mark, seq = 1', NULL, 1, 0, "
      "NULL);");
  const KeptProcess& process = rank(0);
  std::vector<std::string> lines;
  for (const NvtxRecord& r : process.ranges) {
    lines.push_back(fmt::format("{} {} {} {} {} {}", static_cast<int>(r.type), r.domain == kNumberedDomain ? "T" : "-",
                                process.text(r.text), r.int64_value, r.range, process.text(r.json)));
  }
  const std::string dims = R"({"input_dims":[[2, 3], []],"input_types":[]})";
  EXPECT_EQ(lines, (std::vector<std::string>{"75 T torch.cpu_op 0 0 ", "59 T aten::mul 7 30 " + dims,
                                             "59 T aten::mul 8 31 " + dims, "59 - plain 0 0 ",
                                             "59 - Optimizer.step#SGD.step 0 32 ", "59 - aten::add 12 33 ",
                                             "34 - aten::mark, seq = 1 0 0 "}));
  EXPECT_EQ(process.ranges.at(1).text, process.ranges.at(2).text);
}

}  // namespace
}  // namespace swinscope::test
