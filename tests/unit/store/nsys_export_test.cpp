// What Nsight Systems' exports say beside their events.
#include "store/nsys_export.h"

#include <fmt/format.h>

#include "store/reader.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

class NsysExport : public testing::Test {
 protected:
  Database open(const std::string& sql) {
    fs::remove(folder_ / "a.sqlite");
    return Database::open_untrusted(make_database(folder_ / "a.sqlite", sql));
  }
  std::vector<std::string> gpus(const std::string& sql, std::uint64_t process = make_global_pid(100)) {
    Database db = open(sql);
    std::vector<std::string> names;
    const auto found = gpus_of(db, {process});
    if (!found.contains(process)) return names;
    for (const GpuInfo& gpu : found.at(process))
      names.push_back(fmt::format("{}: {}", gpu.device, gpu.name));
    return names;
  }

  TempFolder folder_;
};

using Names = std::vector<std::string>;

TEST(LauncherRank, ByThePrecedenceOfTheLaunchers) {
  const auto rank_of = [](const std::vector<NamedValue>& environment) {
    const auto found = launcher_rank(environment);
    return found ? fmt::format("{} of {} by {}", found->rank, found->world_size, found->variable) : "unknown";
  };
  EXPECT_EQ(rank_of({}), "unknown");
  EXPECT_EQ(rank_of({{"SLURM_PROCID", "3"}, {"RANK", "5"}, {"WORLD_SIZE", "8"}}), "5 of 8 by RANK");
  EXPECT_EQ(rank_of({{"env.OMPI_COMM_WORLD_RANK", "1"}}), "1 of 0 by OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(rank_of({{"DeviceEnvironment", "PATH=/bin;SLURM_PROCID=7;SLURM_NTASKS=16;X=RANK=2"}}),
            "7 of 16 by SLURM_PROCID");
  EXPECT_EQ(rank_of({{"DeviceEnvironment", "PMI_RANK=0"}}), "0 of 0 by PMI_RANK");
  for (const char* value : {"", "x", "-1", "1x", "99999999999"})
    EXPECT_EQ(rank_of({{"RANK", value}}), "unknown") << value;
}

TEST_F(NsysExport, TheDeviceTableNamesTheGpusOfAProcess) {
  EXPECT_EQ(
      gpus("CREATE TABLE TARGET_INFO_GPU(id, name, uuid); INSERT INTO TARGET_INFO_GPU VALUES(0,'A','ua'),(1,'B','ub');"
           "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid, uuid);"
           "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1, 0, 100, ''), (0, 0, 200, ''), (NULL, 1, 100, 'ua')"),
      (Names{"0: B", "1: A"}));
}

TEST_F(NsysExport, BeforeItTheGpusHadTheirOrdinal) {
  EXPECT_EQ(
      gpus("CREATE TABLE TARGET_INFO_GPU(id, name, cuDevice); INSERT INTO TARGET_INFO_GPU VALUES(3,'A',0),(0,'B',1)"),
      (Names{"0: A", "1: B"}));
  EXPECT_EQ(gpus("CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId, name); INSERT INTO TARGET_INFO_CUDA_GPU VALUES(1,'A')"),
            Names{"1: A"});
}

TEST_F(NsysExport, WithoutOrdinalsTheNameIsKnownOnlyWhenAllHaveIt) {
  EXPECT_EQ(gpus("CREATE TABLE TARGET_INFO_GPU(id, name); INSERT INTO TARGET_INFO_GPU VALUES(4,'A'),(5,'A')"),
            (Names{"0: A", "1: A"}));
  EXPECT_EQ(gpus("CREATE TABLE TARGET_INFO_GPU(id, name); INSERT INTO TARGET_INFO_GPU VALUES(0,'A'),(1,'B')"), Names{});
}

TEST_F(NsysExport, EachNodeHasItsOwnGpus) {
  const std::string sql =
      "CREATE TABLE TARGET_INFO_GPU(vmId, id, name); INSERT INTO TARGET_INFO_GPU VALUES(1 << 48,0,'A'),(2 << 48,0,'B');"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(0, 0, 100)";
  EXPECT_EQ(gpus(sql, (std::uint64_t{1} << 48U) | (100U << 24U)), Names{"0: A"});
  EXPECT_EQ(gpus(sql, (std::uint64_t{2} << 48U) | (100U << 24U)), Names{"0: B"});
}

TEST_F(NsysExport, DiagnosticsByTheSeveritiesThatTheFileNames) {
  Database db = open(
      "CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL(id, name);"
      "INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES(1, 'Info'), (7, 'Warning'), (2, 'Verbose');"
      "CREATE TABLE DIAGNOSTIC_EVENT(severity, text);"
      "INSERT INTO DIAGNOSTIC_EVENT VALUES(2, 'much said'), (7, 'Some CUPTI events might be missing.'), (7, 'slow\n')");
  EXPECT_EQ(diagnostics(db),
            (std::vector<NamedValue>{{std::string(kSourceDoubt), "Some CUPTI events might be missing."},
                                     {std::string(kSourceWarning), "slow"}}));
}

TEST_F(NsysExport, OtherTablesWhateverTheirNames) {
  Database db = open(
      "CREATE TABLE \"odd \"\"name\"\"\"(x); INSERT INTO \"odd \"\"name\"\"\" VALUES(1), (2);"
      "CREATE TABLE known(x); INSERT INTO known VALUES(1); CREATE TABLE empty(x);"
      "CREATE TABLE ENUM_X(x); INSERT INTO ENUM_X VALUES(1); CREATE VIEW seen AS SELECT 1 AS x");
  EXPECT_EQ(other_tables(db, {"known"}), (std::vector<std::pair<std::string, std::int64_t>>{{"odd \"name\"", 2}}));
}

TEST_F(NsysExport, OfMoreProcessesThanAMachineHasNoneIsRead) {
  const auto processes = [&](int count) {
    const Database written =
        open(fmt::format("CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);"
                         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
                         "INSERT INTO NVTX_EVENTS SELECT i, i + 1, 59, 'r', i << 24 FROM n",
                         count));
    return TraceFile(folder_ / "a.sqlite").processes({}).size();
  };
  EXPECT_EQ(processes(4096), 4096U);
  try {
    processes(4097);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(std::string(error.what()), fmt::format("{}: too many processes", (folder_ / "a.sqlite").string()));
  }
}

TEST_F(NsysExport, TheFactsStandUnderTwoNames) {
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    Database db = open(
        fmt::format("CREATE TABLE {0}(name, value); INSERT INTO {0} VALUES('EXPORT_SCHEMA_VERSION', '3.0.0')", table));
    EXPECT_EQ(export_fact(db, "EXPORT_SCHEMA_VERSION"), "3.0.0");
    EXPECT_TRUE(is_nsys_export(db));
  }
  Database shop = open("CREATE TABLE orders(id)");
  EXPECT_FALSE(is_nsys_export(shop));
}

TEST_F(NsysExport, ANewerOneIsRefusedUnderBothNames) {
  const fs::path path = make_database(folder_ / "new.sqlite",
                                      "CREATE TABLE NVTX_EVENTS(start); CREATE TABLE EXPORT_META_DATA(name, value);"
                                      "INSERT INTO EXPORT_META_DATA VALUES('EXPORT_SCHEMA_VERSION', '4.0.0')");
  const auto error = error_of([&] { TraceFile{path}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), path.string() + ": a newer Nsight Systems export");
}

}  // namespace
}  // namespace swinscope::test
