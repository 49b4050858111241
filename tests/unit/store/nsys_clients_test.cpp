// What clients of Nsight Systems' exports ask of a file, asked of one that swinscope wrote: joins with the ENUM tables,
// GPU and machine, versions, the command line, names of ranges where the program gave them as plain strings.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/schema.h"
#include "store/writer.h"
#include "tests/unit/store/records.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NsysClients : public ::testing::Test {
 protected:
  NsysClients() {
    TraceWriter writer(folder_ / "rank0.db", WriteMode::kImport);
    add_full_process(writer);
    add(writer);
    RunInfo run = full_run();
    run.environment = {
        {"cpu.threads", "52"}, {"cpu.model", "EPYC"}, {"os.release", "Debian"}, {"cuda.driver", "580.95"}};
    run.collector = {{std::string(kCudaActivity), "not recorded: no libcupti was found"}, {"writer.cpu_ns", "5"}};
    writer.set_run(run);
    writer.finish();
  }

  static void add(TraceWriter& writer) {
    NvtxRecord plain;
    plain.start_ns = 900;
    plain.end_ns = 910;
    plain.text = writer.intern("step 7");
    plain.is_plain = true;
    writer.add(plain);
    OverheadRecord overhead{920, 930, kTid, 0, writer.intern("flush"), 3};
    writer.add(overhead);
    overhead.type = 2;  // the driver's compiler: no overhead of the profiler
    writer.add(overhead);
  }

  std::vector<std::string> rows(const std::string& sql) { return Sqlite(folder_ / "rank0.db").values(sql); }

  TempFolder folder_;
};

TEST_F(NsysClients, FindAWordForEveryNumber) {
  EXPECT_THAT(
      rows("SELECT e.name, e.label FROM ENUM_CUDA_MEMCPY_OPER e WHERE id IN (1, 12)"),
      ElementsAre("CUDA_MEMCPY_KIND_HTOD", "Host-to-Device", "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"));
  const std::vector<std::pair<const char*, const char*>> joins = {
      {"CUPTI_ACTIVITY_KIND_KERNEL.launchType", "ENUM_CUDA_KERNEL_LAUNCH_TYPE"},
      {"CUPTI_ACTIVITY_KIND_MEMCPY.copyKind", "ENUM_CUDA_MEMCPY_OPER"},
      {"CUPTI_ACTIVITY_KIND_MEMCPY.srcKind", "ENUM_CUDA_MEM_KIND"},
      {"CUPTI_ACTIVITY_KIND_MEMCPY.dstKind", "ENUM_CUDA_MEM_KIND"},
      {"CUPTI_ACTIVITY_KIND_MEMSET.memKind", "ENUM_CUDA_MEM_KIND"},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.syncType", "ENUM_CUPTI_SYNC_TYPE"},
      {"CUPTI_ACTIVITY_KIND_RUNTIME.eventClass", "ENUM_NSYS_EVENT_CLASS"},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD.eventClass", "ENUM_NSYS_EVENT_CLASS"},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD.overheadType", "ENUM_CUPTI_OVERHEAD_TYPE"},
      {"PROFILER_OVERHEAD.overheadType", "ENUM_CUPTI_OVERHEAD_TYPE"},
      {"NVTX_EVENTS.eventType", "ENUM_NSYS_EVENT_TYPE"},
      {"DIAGNOSTIC_EVENT.severity", "ENUM_DIAGNOSTIC_SEVERITY_LEVEL"}};
  for (const auto& [column, names] : joins) {
    const std::string text = column;
    const std::string table = text.substr(0, text.find('.'));
    EXPECT_NE(rows("SELECT count(*) FROM " + table), (std::vector<std::string>{"0"})) << column;
    EXPECT_THAT(rows("SELECT DISTINCT " + text + " FROM " + table + " WHERE " + text + " IS NOT NULL AND " + text +
                     " NOT IN (SELECT id FROM " + names + ")"),
                IsEmpty())
        << column;
  }
}

TEST_F(NsysClients, FindTheNameOfARangeWhereTheProgramGaveIt) {
  EXPECT_THAT(rows("SELECT start, text, textId FROM NVTX_EVENTS WHERE text LIKE 'step%'"),
              ElementsAre("900", "step 7", "NULL"));
  EXPECT_THAT(rows("SELECT DISTINCT text, value FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 60"),
              ElementsAre("NULL", "stage3.block5.attn.qkv \xE2\x82\xAC"));
}

TEST_F(NsysClients, FindTheGpu) {
  EXPECT_THAT(rows("SELECT g.chipName, g.busLocation, g.l2CacheSize, g.memoryBandwidth, g.clockRate, g.cuDevice FROM "
                   "TARGET_INFO_CUDA_DEVICE c JOIN TARGET_INFO_GPU g ON g.id = c.gpuId ORDER BY c.cudaId"),
              ElementsAre("GH100", "0000:3b:00.0", "62914560", "4814540000000", "1980000000", "0", "NULL", "NULL",
                          "NULL", "NULL", "NULL", "1"))
      << "what was not recorded is NULL";
}

TEST_F(NsysClients, FindMachineVersionsAndCommand) {
  EXPECT_THAT(rows("SELECT name, value FROM TARGET_INFO_SYSTEM_ENV ORDER BY nameEnum"),
              ElementsAre("CpuCores", "52", "CpuDescription", "EPYC", "NvDriverVersion", "580.95", "OsDescription",
                          "Debian", "Hostname", "node17"));
  EXPECT_THAT(rows("SELECT value FROM META_DATA_EXPORT WHERE name LIKE 'EXPORT_SCHEMA_VERSION%' ORDER BY name"),
              ElementsAre("3.25.0", "3", "0", "25"));
  EXPECT_THAT(rows("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'"),
              ElementsAre(kProductVersion));
  EXPECT_THAT(rows("SELECT name, value FROM META_DATA_CAPTURE WHERE name LIKE 'PROCESS_0:%'"),
              ElementsAre("PROCESS_0:COMMAND", "python", "PROCESS_0:ARGUMENT_0", "train.py", "PROCESS_0:ARGUMENT_1",
                          "--name", "PROCESS_0:ARGUMENT_2", "a b"));
}

TEST_F(NsysClients, AreToldWhatTheRecordingSaysOfItself) {
  EXPECT_THAT(rows("SELECT text FROM DIAGNOSTIC_EVENT WHERE severity = 2"),
              ElementsAre("12 kernel lost: buffer overrun", "1 range lost: no end",
                          "CUDA activity was not recorded: no libcupti was found"));
  EXPECT_THAT(rows("SELECT start, value FROM PROFILER_OVERHEAD JOIN StringIds ON id = nameId WHERE start = 920"),
              ElementsAre("920", "flush"));
}

}  // namespace
}  // namespace swinscope::test
