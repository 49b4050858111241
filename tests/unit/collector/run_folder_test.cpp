#include "collector/launcher/run_folder.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/base/drop_note.h"
#include "store/recovery.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NvtxRecord range(TraceWriter& writer, const char* name, std::int64_t start_ns, std::int64_t end_ns) {
  NvtxRecord r;
  r.start_ns = start_ns;
  r.end_ns = end_ns;
  r.global_tid = make_global_tid(5, 6);
  r.text = writer.intern(name);
  return r;
}

class RunFolder : public ::testing::Test {
 protected:
  // A file as a process leaves it that is killed after `write`: not finished.
  test::fs::path cut_file(const std::string& name, const std::function<void(TraceWriter&)>& write) {
    auto writer = std::make_unique<TraceWriter>(folder_ / "writing.db", WriteMode::kLive);
    write(*writer);
    // As the kernel leaves them when the process is gone.
    for (const char* suffix : {"", "-wal"}) {
      test::fs::copy_file(folder_ / (std::string("writing.db") + suffix), folder_ / (name + suffix));
    }
    writer.reset();
    for (const char* suffix : {"", "-wal", "-shm"})
      test::fs::remove(folder_ / (std::string("writing.db") + suffix));
    return folder_ / name;
  }
  // With one range that is done and one that is open.
  test::fs::path cut_file(const std::string& name, std::int32_t rank) {
    return cut_file(name, [rank](TraceWriter& writer) {
      RunInfo run;
      run.source = "swinscope";
      run.rank = rank;
      run.global_pid = make_global_pid(std::uint64_t{1000} + static_cast<std::uint64_t>(rank));
      writer.set_run(run);
      writer.add(range(writer, "done", 100, 200));
      writer.add_open(range(writer, "open", 150, kOpenEnd));
      writer.flush();
    });
  }

  std::vector<RunFile> finish(const std::set<std::int64_t>& alive = {}) {
    reports_.clear();
    return finish_run_files(folder_.path(), alive, [this](const std::string& line) { reports_.push_back(line); });
  }

  test::TempFolder folder_;
  std::vector<std::string> reports_;
};

TEST_F(RunFolder, ACutFileBecomesAPlainOne) {
  const auto path = cut_file("rank3.db", 3);
  const auto files = finish();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "rank3.db");
  EXPECT_EQ(files[0].rank, 3);
  EXPECT_EQ(files[0].pid, 1003);
  EXPECT_FALSE(files[0].complete);
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("rank3.db"));
  test::Sqlite db(path);
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(db.value("PRAGMA journal_mode"), "delete");
  EXPECT_THAT(db.values("SELECT value, coalesce(end, 'open') FROM (SELECT n.*, coalesce(text, s.value) AS value FROM "
                        "NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) ORDER BY start"),
              ElementsAre("done", "200", "open", "open"));
  EXPECT_THAT(db.values("SELECT startTime, stopTime FROM ANALYSIS_DETAILS"), ElementsAre("100", "200"));
  EXPECT_EQ(db.value("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'swinscope_kernel_start'"),
            "1");
  EXPECT_THAT(reports_, IsEmpty());
  // Once more changes nothing.
  EXPECT_EQ(finish().size(), 1U);
}

// torchrun's agent asks for GPUs before it starts the ranks, and so takes the name of the first.
TEST_F(RunFolder, TheFirstRankGetsTheNameThatAProcessWithoutARankHadTaken) {
  const auto file = [&](const std::string& name, std::int32_t world_size, int pid, bool has_range) {
    TraceWriter writer(folder_ / name, WriteMode::kLive);
    RunInfo run;
    run.source = "swinscope";
    run.world_size = world_size;
    run.global_pid = make_global_pid(static_cast<std::uint64_t>(pid));
    if (has_range) writer.add(range(writer, name.c_str(), 1, 2));
    writer.set_run(run);
    writer.finish();
  };
  file("rank0.db", 0, 100, false);
  file("rank0.host.1001.0.db", 2, 1001, true);  // a loader worker
  file("rank0.host.999.0.db", 2, 999, true);
  const auto files = finish();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("rank0.db", "rank0.host.1001.0.db"));
  EXPECT_EQ(files[0].pid, 999);
  EXPECT_EQ(test::Sqlite(folder_ / "rank0.db")
                .value("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                       "StringIds s ON s.id = n.textId)"),
            "rank0.host.999.0.db");
}

TEST_F(RunFolder, AProcessThatRecordedSomethingKeepsItsFile) {
  cut_file("rank0.db", 0);
  const auto files = finish();
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("rank0.db"));
  EXPECT_EQ(files.size(), 1U);
}

TEST_F(RunFolder, ANoteOfDropsGoesIntoItsTrace) {
  const auto path = cut_file("rank0.db", 0);
  {
    DropNote note(path);
    note.write({{"NVTX range", 17, "no space"}});
  }
  const auto files = finish();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].drops, (std::vector<DropInfo>{{"NVTX range", 17, "no space"}}));
  EXPECT_THAT(test::Sqlite(path).values("SELECT * FROM SWINSCOPE_DROPS"), ElementsAre("NVTX range", "17", "no space"));
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("rank0.db"));
}

TEST_F(RunFolder, TotalsOfDropsAreNotAddedTwice) {
  const auto path = cut_file("rank0.db", 0);
  finish_trace_file(path, {{"NVTX range", 5, "a"}, {"NVTX mark", 1, "b"}});
  const auto summary = finish_trace_file(path, {{"NVTX range", 9, "a"}, {"NVTX mark", 1, "b"}});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->drops, (std::vector<DropInfo>{{"NVTX range", 9, "a"}, {"NVTX mark", 1, "b"}}));
  EXPECT_EQ(test::Sqlite(path).value("SELECT sum(count) FROM SWINSCOPE_DROPS"), "10");
}

TEST_F(RunFolder, FilesThatHoldNothingOrGarbage) {
  test::write_file(folder_ / "rank0.db", "");
  test::write_file(folder_ / "rank0.db-journal", "of the first transaction");
  test::write_file(folder_ / "rank1.db",
                   "this is no database at all, but long enough to be looked at by SQLite as one");
  test::make_database(folder_ / "rank2.db", "CREATE TABLE other(x)");
  EXPECT_TRUE(finish().empty());
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("rank1.db", "rank2.db"));
  EXPECT_THAT(reports_, ElementsAre("rank0.db: its process ended before anything was recorded",
                                    HasSubstr("rank1.db: not finished"), HasSubstr("rank2.db: not finished")));
}

// Between the first bytes of a new file and the commit of its process's identity, which says whose it is, no record is
// written.
TEST_F(RunFolder, FilesCutBeforeTheirIdentityHoldNothing) {
  test::make_database(folder_ / "rank0.db", "PRAGMA journal_mode=WAL");  // no table yet
  ASSERT_GT(test::fs::file_size(folder_ / "rank0.db"), 0U);
  cut_file("rank1.db", [](TraceWriter&) {});
  DropNote(folder_ / "rank0.db").write({{"NVTX range", 3, "no space"}});
  const DropNote silent(folder_ / "rank1.db");
  EXPECT_TRUE(finish().empty());
  EXPECT_THAT(reports_, ElementsAre("rank0.db: its process ended before anything was recorded",
                                    "rank0.db: 3 lost: NVTX range: no space",
                                    "rank1.db: its process ended before anything was recorded"));
  EXPECT_THAT(test::names_in(folder_.path()), IsEmpty());
}

TEST_F(RunFolder, FilesThatALivingProcessMayHaveBegunAreLeftAlone) {
  test::make_database(folder_ / "rank0.db", "PRAGMA journal_mode=WAL");
  cut_file("rank1.db", [](TraceWriter&) {});
  const auto before = test::names_in(folder_.path());
  EXPECT_TRUE(finish({4711}).empty());
  EXPECT_EQ(test::names_in(folder_.path()), before);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("rank0.db: its process still runs, or may"),
                                    HasSubstr("rank1.db: its process still runs, or may")));
}

TEST_F(RunFolder, ANoteWithoutATraceIsReported) {
  DropNote(folder_ / "rank4.db").write({{"NVTX range", 6, "no space"}});
  EXPECT_TRUE(finish().empty());
  EXPECT_THAT(reports_, ElementsAre("rank4.db: 6 lost: NVTX range: no space"));
  EXPECT_THAT(test::names_in(folder_.path()), IsEmpty());
}

TEST_F(RunFolder, ARunWithoutTracesIsReported) {
  EXPECT_TRUE(finish().empty());
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("no call of NVTX or CUDA was recorded")));
}

TEST_F(RunFolder, FilesOfLivingProcessesAreLeftAlone) {
  cut_file("rank0.db", 0);
  cut_file("rank1.db", 1);
  const auto files = finish({1001});
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].rank, 0);
  EXPECT_TRUE(test::fs::exists(folder_ / "rank1.db-wal"));
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("rank1.db: its process still runs")));
}

TEST_F(RunFolder, RunJson) {
  RunDescription run;
  run.command = {"python", "say \"hi\".py"};
  run.recorder.host = "node7";
  run.recorder.boot = "b";
  run.recorder.pid_namespace = 6;
  run.recorder.pid = 7;
  run.recorder.start_ticks = 8;
  run.window = "steps:1:2";
  run.start_utc_ns = 5;
  EXPECT_EQ(run_json(run),
            "{\"schema\": \"swinscope.run/1\", \"kind\": \"record\", \"command\": [\"python\", \"say \\\"hi\\\".py\"], "
            "\"host\": "
            "\"node7\", \"window\": \"steps:1:2\", \"recorder\": {\"pid\": 7, \"start_ticks\": 8, \"boot\": \"b\", "
            "\"pid_namespace\": 6}, \"job\": {\"rank\": null, \"world_size\": 0, \"name\": \"\", \"is_unique\": 0, "
            "\"restarts\": 0}, "
            "\"start_utc_ns\": 5, \"end_utc_ns\": null, \"exit_status\": null, \"cpu_ns\": null, "
            "\"processes\": \"\", "
            "\"ranks\": [], \"warnings\": []}\n");
  run.end_utc_ns = 9;
  run.exit_status = 137;
  run.cpu_ns = 4;
  run.process_file = "record.db";
  run.files = {{"rank0.db", 0, 2, 77, false, false, {{"NVTX range", 3, "a"}, {"NVTX mark", 4, "b"}}, {}}};
  run.warnings = {"w"};
  write_run_json(folder_ / "run.json", run);
  EXPECT_THAT(
      test::read_file(folder_ / "run.json"),
      HasSubstr(
          "\"exit_status\": 137, \"cpu_ns\": 4, \"processes\": \"record.db\", \"ranks\": [{\"rank\": 0, \"file\": "
          "\"rank0.db\", \"pid\": 77, \"complete\": false, \"drops\": 7}], \"warnings\": [\"w\"]}"));
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("run.json"));
  EXPECT_TRUE(test::error_of([&] { write_run_json("/nonexistent/run.json", run); }));
}

}  // namespace
}  // namespace swinscope
