// When the traces of a folder are several runs rather than the ranks of one.
#include <array>

#include "analyzer/importers/open.h"
#include "store/writer.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kNoon = 1'700'000'000'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

class IndependentRuns : public testing::Test {
 protected:
  // A recording of ours that lasts for a second.
  void add_own(std::string_view name, std::int64_t epoch_ns, std::uint64_t pid, std::string_view command, int rank = 0,
               int world_size = 0) {
    TraceWriter writer(folder_ / name, WriteMode::kImport);
    NvtxRecord range;
    range.start_ns = 0;
    range.end_ns = kSecond;
    range.global_tid = make_global_tid(pid, pid);
    range.text = writer.intern("step");
    writer.add(range);
    RunInfo run;
    run.source = "swinscope";
    run.rank = rank;
    run.world_size = world_size;
    run.global_pid = make_global_pid(pid);
    run.host = "node";
    run.command = command;
    run.utc_epoch_ns = epoch_ns;
    writer.set_run(run);
    writer.finish();
  }

  void add_kineto(std::string_view name, std::int64_t epoch_ns, int pid, std::string_view distributed = "") {
    const std::string base = epoch_ns == 0 ? "" : fmt::format(R"("baseTimeNanoseconds": {},)", epoch_ns);
    const std::string info = distributed.empty() ? "" : fmt::format(R"("distributedInfo": {{{}}},)", distributed);
    write_file(folder_ / name,
               kineto_document(launch_event(1, 1, 1, pid, pid) + "," + kernel_event(1, 4, 3), base + info));
  }

  void add_nsys(std::string_view name, std::int64_t epoch_ns, std::uint64_t pid) {
    make_database(folder_ / name,
                  fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 0, {});"
                              "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
                              "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES({});"
                              "CREATE TABLE ANALYSIS_DETAILS(startTime, stopTime);"
                              "INSERT INTO ANALYSIS_DETAILS VALUES(0, {})",
                              make_global_pid(pid), epoch_ns, kSecond));
  }

  Names runs() {
    Names names;
    for (const fs::path& file : independent_runs(folder_.path()))
      names.push_back(file.filename().string());
    return names;
  }

  TempFolder folder_;
};

TEST_F(IndependentRuns, ProgramsOneAfterAnotherAreNoJob) {
  add_own("b.db", kNoon, 1, "train --level fused");
  add_own("a.db", kNoon + 2 * kSecond, 2, "train --level eager");
  EXPECT_EQ(runs(), (Names{"a.db", "b.db"}));
  const auto error = error_of([&] { open_trace(folder_.path()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_EQ(error->what(), folder_.path().string() + ": a folder of 2 independent runs, not one job");
  EXPECT_NE(error->cause(), "");
  EXPECT_NE(error->hint().find("swinscope analyze"), std::string::npos);
}

TEST_F(IndependentRuns, TheSameProgramTwice) {
  add_own("first.db", kNoon, 1, "train");
  add_own("second.db", kNoon + 2 * kSecond, 2, "train");
  EXPECT_EQ(runs(), (Names{"first.db", "second.db"}));
}

// Without a rank of their own, but at work together.
TEST_F(IndependentRuns, ProcessesOfOneProgramAtOneTimeAreAJob) {
  add_own("a.db", kNoon, 1, "train");
  add_own("b.db", kNoon + kSecond / 2, 2, "train");
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, RanksOfAStatedJobAreAJob) {
  add_own("a.db", kNoon, 1, "train --rank 0", 0, 2);
  add_own("b.db", kNoon + 100 * kSecond, 2, "train --rank 1", 1, 2);
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, JobsOfSeveralSizesAreGivenByTheirFirstRank) {
  add_kineto("four_b.json", kNoon, 14, R"("rank": 0, "world_size": 4)");
  add_kineto("four_a.json", kNoon, 13, R"("rank": 1, "world_size": 4)");
  add_kineto("two.json", kNoon, 12, R"("rank": 0, "world_size": 2)");
  EXPECT_EQ(runs(), (Names{"four_b.json", "two.json"}));
}

TEST_F(IndependentRuns, WorkersOfARankAreNoRuns) {
  add_own("rank0.db", kNoon, 1, "train");
  add_own("rank0.node.2.0.db", kNoon + 100 * kSecond, 2, "python -c worker");
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, WhatRecordWroteIsOneRun) {
  add_own("rank0.db", kNoon, 1, "train");
  add_own("x.db", kNoon + 100 * kSecond, 2, "other");
  write_file(folder_ / "run.json", "{}");
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, SinglePyTorchRunsAreNoJob) {
  add_kineto("baseline.json", kNoon, 10, R"("rank": 0, "world_size": 1)");
  add_kineto("compiled.json.gz", kNoon, 20, R"("rank": 0, "world_size": 1)");
  EXPECT_EQ(runs(), (Names{"baseline.json", "compiled.json.gz"}));
}

TEST_F(IndependentRuns, PyTorchTracesOfUnknownRankAtOneTimeAreAJob) {
  add_kineto("a.json", kNoon, 10);
  add_kineto("b.json", kNoon + kSecond, 20);
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, PyTorchTracesOfUnknownRankHoursApartAreNot) {
  add_kineto("a.json", kNoon, 10);
  add_kineto("b.json", kNoon + 3600 * kSecond, 20);
  EXPECT_EQ(runs(), (Names{"a.json", "b.json"}));
}

TEST_F(IndependentRuns, NumbersInNamesMakeRanks) {
  add_kineto("rank0.json", kNoon, 10);
  add_kineto("rank1.json", kNoon + 3600 * kSecond, 20);
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, WindowsOfOneProcessAreOneRun) {
  add_kineto("node_10.1700000000000.pt.trace.json", kNoon, 10, R"("rank": 0, "world_size": 1)");
  add_kineto("node_10.1700003600000.pt.trace.json", kNoon + 3600 * kSecond, 10, R"("rank": 0, "world_size": 1)");
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, AFileAndItsCompressedCopyAreOneRun) {
  add_kineto("a.json", kNoon, 10, R"("rank": 0, "world_size": 1)");
  write_file(folder_ / "a.json.gz", gzip(read_file(folder_ / "a.json")));
  EXPECT_EQ(runs(), Names{});
}

TEST_F(IndependentRuns, SessionsOfNsightSystems) {
  add_nsys("report1.sqlite", kNoon, 10);
  add_nsys("report2.sqlite", kNoon + kSecond / 2, 20);
  EXPECT_EQ(runs(), Names{});
  add_nsys("report3.sqlite", kNoon + 60 * kSecond, 30);
  EXPECT_EQ(runs(), (Names{"report1.sqlite", "report3.sqlite"}));
}

TEST_F(IndependentRuns, AFileIsOneRun) {
  add_kineto("a.json", kNoon, 10);
  EXPECT_EQ(independent_runs(folder_ / "a.json"), std::vector<fs::path>{});
  EXPECT_EQ(independent_runs(folder_ / "none"), std::vector<fs::path>{});
}

TEST_F(IndependentRuns, WhatCannotBeReadCountsForNothing) {
  add_kineto("a.json", kNoon, 10, R"("rank": 0, "world_size": 1)");
  write_file(folder_ / "empty.json", "");
  write_file(folder_ / "package.json", R"({"name": "x"})");
  EXPECT_EQ(runs(), Names{});
}

}  // namespace
}  // namespace swinscope::test
