// Converting foreign traces into a run folder.
#include "analyzer/importers/import.h"

#include <nlohmann/json.hpp>

#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/analyzer/view.h"

namespace swinscope::test {
namespace {

using Names = std::vector<std::string>;

class Import : public testing::Test {
 protected:
  fs::path add_kineto(std::string_view name, int rank = 0, std::string_view kernel = "k") {
    write_file(inputs_ / name, kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 4, 3, kernel),
                                               fmt::format(R"("distributedInfo": {{"rank": {}}},)", rank)));
    return inputs_ / name;
  }
  std::string kernel_of(std::string_view file) {
    return Sqlite(folder() / file)
        .value("SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName");
  }
  fs::path folder() const { return outputs_ / "run"; }

  TempFolder inputs_;
  TempFolder outputs_;
};

TEST_F(Import, WritesOneFileForEachRankAndSaysSo) {
  const ImportResult result =
      import_traces({add_kineto("b.json", 1, "k1"), add_kineto("a.json", 0, "k0")}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{"rank0.db", "rank1.db", "run.json"}));
  ASSERT_EQ(result.files.size(), 2U);
  EXPECT_EQ(result.files[0].path, folder() / "rank1.db");
  EXPECT_EQ(result.files[0].source, (inputs_ / "b.json").string());
  EXPECT_EQ(result.files[0].rank, 1);
  EXPECT_EQ(result.files[1].rank, 0);
  EXPECT_EQ(result.warnings, Names{});
  EXPECT_FALSE(result.corrupt);
  EXPECT_EQ(kernel_of("rank0.db"), "k0");
  EXPECT_EQ(kernel_of("rank1.db"), "k1");
  const auto json = nlohmann::json::parse(read_file(folder() / "run.json"));
  EXPECT_EQ(json["schema"], "swinscope.run/1");
  EXPECT_EQ(json["ranks"][0]["rank"], 1);
  EXPECT_EQ(json["ranks"][0]["file"], "rank1.db");
  EXPECT_EQ(json["ranks"][1]["source"], (inputs_ / "a.json").string());
}

TEST_F(Import, TakesAFolder) {
  add_kineto("a.json", 0);
  add_kineto("b.json", 1);
  EXPECT_EQ(import_traces({inputs_.path()}, folder(), false).files.size(), 2U);
}

TEST_F(Import, AProcessOfAnExportIsARank) {
  make_database(inputs_ / "a.sqlite",
                fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 1, {}), (3, 4, 0, {})",
                            make_global_pid(1), make_global_pid(2)));
  const ImportResult result = import_traces({inputs_ / "a.sqlite"}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{"rank0.db", "rank1.db", "run.json"}));
  EXPECT_EQ(result.files[1].source, (inputs_ / "a.sqlite").string());
  const Trace trace = open_trace(folder());
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].run.global_pid, make_global_pid(2));
  EXPECT_EQ(trace.ranks[0].run.world_size, 0);  // an export does not say it
}

// No process of a job has the rank of another.
TEST_F(Import, InputsThatStateTheSameRankAreNoJob) {
  const auto error = error_of([&] {
    import_traces({add_kineto("b.json", 0, "kb"), add_kineto("a.json", 0, "ka")}, folder(), false);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_EQ(error->what(), std::string("the inputs are 2 independent runs, not one job"));
  EXPECT_FALSE(fs::exists(folder()));
}

// As open_trace() does.
TEST_F(Import, InputsThatDoNotStateTheirRankGetItByName) {
  int pid = 1;
  for (const char* name : {"trace_rank10.json", "trace_rank2.json"})
    write_file(inputs_ / name, kineto_document(launch_event(1, 1, 1, pid++) + "," + kernel_event(1, 4, 3, name)));
  const ImportResult result = import_traces({inputs_.path()}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{"rank10.db", "rank2.db", "run.json"}));
  EXPECT_EQ(kernel_of("rank10.db"), "trace_rank10.json");
  EXPECT_EQ(result.warnings,
            Names{"ranks are the numbers in the file names: trace_rank2.json -> 2, trace_rank10.json -> 10"});
  EXPECT_EQ(open_trace(folder()).warnings, Names{});
}

TEST_F(Import, WindowsOfOneProcessBecomeOneFile) {
  constexpr std::int64_t kNoon = 1'700'000'000'000'000'000;
  for (const int cycle : {0, 1}) {
    write_file(inputs_ / fmt::format("node_10.{}.pt.trace.json", 1700 + cycle),
               kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 4, 3),
                               fmt::format(R"("distributedInfo": {{"rank": 1, "world_size": 2}}, )"
                                           R"("baseTimeNanoseconds": {},)",
                                           kNoon + cycle * 10'000'000'000)));
  }
  import_traces({inputs_.path()}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{"rank1.db", "run.json"}));
  const Trace foreign = open_trace(inputs_.path());
  const Trace imported = open_trace(folder());
  ASSERT_EQ(imported.ranks.size(), 1U);
  const Rank& rank = imported.ranks[0];
  EXPECT_EQ(rank.run.rank, 1);
  EXPECT_EQ(rank.run.windows, foreign.ranks.at(0).run.windows);
  EXPECT_EQ(rank.run.windows.size(), 2U);
  EXPECT_EQ(rank.gpu.start_ns, (std::vector<std::int64_t>{4'000, 10'000'004'000}));
  EXPECT_EQ(rank.gpu.launch, (std::vector<EventIndex>{0, 1}));
  EXPECT_EQ(rank.gpu.correlation, foreign.ranks[0].gpu.correlation);
}

TEST_F(Import, OtherJsonInAFolderIsLeftOut) {
  add_kineto("a.json");
  write_file(inputs_ / "package.json", R"({"name": "x"})");
  const ImportResult result = import_traces({inputs_.path()}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{"rank0.db", "run.json"}));
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("left out, it is no trace"), std::string::npos);
}

TEST_F(Import, RefusesAFolderThatHoldsARun) {
  import_traces({add_kineto("a.json", 0, "old")}, folder(), false);
  const auto error = error_of([&] { import_traces({add_kineto("b.json", 0, "new")}, folder(), false); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_EQ(error->what(), folder().string() + ": the folder already holds a run");
  EXPECT_NE(error->hint().find("--force"), std::string::npos);
  EXPECT_EQ(kernel_of("rank0.db"), "old");
}

TEST_F(Import, ForceReplacesTheRunAndNothingElse) {
  import_traces({add_kineto("a.json", 0, "old"), add_kineto("b.json", 5, "old")}, folder(), false);
  write_file(folder() / "notes.txt", "mine");
  write_file(folder() / "other.db", "mine");
  import_traces({add_kineto("c.json", 0, "new")}, folder(), true);
  EXPECT_EQ(names_in(folder()), (Names{"notes.txt", "other.db", "rank0.db", "run.json"}));
  EXPECT_EQ(kernel_of("rank0.db"), "new");
}

TEST_F(Import, ForceKeepsTheOldRunWhenAnInputCannotBeRead) {
  import_traces({add_kineto("a.json", 0, "old")}, folder(), false);
  write_file(inputs_ / "bad.json", "{}");
  EXPECT_TRUE(error_of([&] { import_traces({add_kineto("c.json", 0, "new"), inputs_ / "bad.json"}, folder(), true); }));
  EXPECT_EQ(names_in(folder()), (Names{"rank0.db", "run.json"}));
  EXPECT_EQ(kernel_of("rank0.db"), "old");
}

// A run may be imported over itself: its files are read before they are replaced.
TEST_F(Import, ForceOntoItsOwnInput) {
  import_traces({add_kineto("a.json", 0, "k")}, folder(), false);
  import_traces({folder()}, folder(), true);
  EXPECT_EQ(names_in(folder()), (Names{"rank0.db", "run.json"}));
  EXPECT_EQ(kernel_of("rank0.db"), "k");
}

TEST_F(Import, LeavesNothingWhenAnInputCannotBeRead) {
  write_file(inputs_ / "bad.json", "{}");
  EXPECT_TRUE(error_of([&] { import_traces({add_kineto("a.json"), inputs_ / "bad.json"}, folder(), false); }));
  EXPECT_EQ(names_in(outputs_.path()), Names{});  // the folder was made for this
  fs::create_directory(folder());
  EXPECT_TRUE(error_of([&] { import_traces({add_kineto("a.json"), inputs_ / "bad.json"}, folder(), false); }));
  EXPECT_EQ(names_in(folder()), Names{});
}

TEST_F(Import, AMissingInputIsSaidBeforeAnythingIsMade) {
  const auto error = error_of([&] { import_traces({inputs_ / "none.json"}, folder(), false); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(Import, AFolderThatCannotBeMadeIsSaid) {
  write_file(outputs_ / "file", "x");
  for (const fs::path& path : {outputs_ / "file", outputs_ / "file/run"}) {
    const auto error = error_of([&] { import_traces({add_kineto("a.json")}, path, false); });
    ASSERT_TRUE(error) << path;
    EXPECT_EQ(error->kind(), ErrorKind::kFailure) << path;
    EXPECT_EQ(error->what(), path.string() + ": the folder cannot be created");
  }
}

TEST_F(Import, AFolderThatCannotBeWrittenIsSaid) {
  add_kineto("a.json");
  fs::create_directory(folder());
  fs::permissions(inputs_.path(), fs::perms{0755});
  fs::permissions(outputs_.path(), fs::perms{0755});
  fs::permissions(folder(), fs::perms{0555});
  const Unprivileged user;
  const auto error = error_of([&] { import_traces({inputs_ / "a.json"}, folder(), false); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
  EXPECT_EQ(error->cause(), "Permission denied");
}

TEST_F(Import, ATruncatedInputIsImportedAsFarAsItGoes) {
  const std::string whole = read_file(add_kineto("whole.json"));
  write_file(inputs_ / "cut.json", whole.substr(0, whole.size() - 20));
  const ImportResult result = import_traces({inputs_ / "cut.json"}, folder(), false);
  EXPECT_TRUE(result.corrupt);
  EXPECT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(Sqlite(folder() / "rank0.db").value("SELECT complete FROM SWINSCOPE_RUN"), "0");
  EXPECT_EQ(kernel_of("rank0.db"), "k");
}

// File names are bytes; run.json is UTF-8.
TEST_F(Import, NamesThatAreNoUtf8) {
  add_kineto("bad\xFF.json");
  import_traces({inputs_ / "bad\xFF.json"}, folder(), false);
  const auto json = nlohmann::json::parse(read_file(folder() / "run.json"));
  EXPECT_EQ(json["ranks"][0]["source"], (inputs_ / "bad\xEF\xBF\xBD.json").string());
  EXPECT_EQ(Sqlite(folder() / "rank0.db").value("SELECT sourceFile FROM SWINSCOPE_RUN"), "bad\xEF\xBF\xBD.json");
}

TEST_F(Import, TheFileThatAKilledImportLeftIsNoObstacle) {
  fs::create_directory(folder());
  write_file(folder() / fmt::format(".importing-{}-0.db", getpid()), "rest");
  write_file(folder() / ".importing-1-0.db", "rest of another");
  import_traces({add_kineto("a.json")}, folder(), false);
  EXPECT_EQ(names_in(folder()), (Names{".importing-1-0.db", "rank0.db", "run.json"}));
  EXPECT_EQ(open_trace(folder()).warnings, Names{});
}

TEST_F(Import, CancelLeavesNothing) {
  const std::atomic<bool> cancel = true;
  EXPECT_TRUE(error_of([&] { import_traces({add_kineto("a.json")}, folder(), false, &cancel); }));
  EXPECT_EQ(names_in(outputs_.path()), Names{});
}

}  // namespace
}  // namespace swinscope::test
