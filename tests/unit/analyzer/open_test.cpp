// What a path stands for, and what becomes of files that cannot be read.
#include "analyzer/importers/open.h"

#include <sys/resource.h>

#include "store/writer.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/analyzer/view.h"
#include "tests/unit/store/records.h"

namespace swinscope::test {
namespace {

using Names = std::vector<std::string>;

class Open : public testing::Test {
 protected:
  fs::path add(std::string_view name, std::string_view bytes) {
    write_file(folder_ / name, bytes);
    return folder_ / name;
  }
  fs::path add_kineto(std::string_view name, std::string_view before = "", int pid = 10) {
    return add(name, kineto_document(launch_event(1, 1, 1, pid) + "," + kernel_event(1, 4, 3), before));
  }
  static std::string rank_fact(int rank) { return fmt::format(R"("distributedInfo": {{"rank": {}}},)", rank); }
  std::optional<Error> refusal(const fs::path& path) {
    return error_of([&] { open_trace(path); });
  }

  TempFolder folder_;
};

TEST_F(Open, RecognizesAFileByItsContent) {
  const std::string document = kineto_document(launch_event(1, 1, 1));
  for (const std::string& bytes :
       {document, "\xEF\xBB\xBF" + document, " \n\t" + document, std::string(100, '\n') + document, gzip(document),
        "[" + launch_event(1, 1, 1) + "]"}) {
    const Trace trace = open_trace(add("whatever.bin", bytes));
    ASSERT_EQ(trace.ranks.size(), 1U);
    EXPECT_EQ(trace.ranks[0].api.size(), 1U);
    EXPECT_EQ(trace.path, (folder_ / "whatever.bin").string());
    EXPECT_EQ(trace.warnings, Names{});
    EXPECT_FALSE(trace.corrupt);
  }
}

TEST_F(Open, EachBadInputHasItsOwnMessage) {
  const auto expect = [&](const fs::path& path, const std::string& what, const std::string& cause) {
    const auto error = refusal(path);
    ASSERT_TRUE(error) << path;
    EXPECT_EQ(error->kind(), ErrorKind::kInput) << path;
    EXPECT_EQ(error->what(), path.string() + what);
    EXPECT_EQ(error->cause(), cause);
    EXPECT_NE(error->hint(), "") << path;
  };
  expect(folder_ / "none", ": no such file or folder", "");
  expect(add("empty.json", ""), ": the file is empty", "recording or copying it has failed");
  expect(add("random.db", "\x8F\x01random bytes of no format at all"), ": not a trace",
         "it is no SQLite file, no JSON and no gzip file");
  expect(add("blank.json", "    "), ": not a trace", "it is no SQLite file, no JSON and no gzip file");
  expect(make_database(folder_ / "shop.sqlite", "CREATE TABLE orders(id)"), ": a SQLite file, but not a trace",
         "its tables are: orders");
  expect(add("other.json", R"({"a": 1})"), ": JSON, but not a PyTorch trace", "there is no \"traceEvents\" array");
  fs::create_directory(folder_ / "sub");
  expect(folder_ / "sub", ": a folder without traces", "it has no .db, .sqlite, .json or .json.gz file");
}

TEST_F(Open, AFileThatMayNotBeReadIsSaid) {
  fs::permissions(folder_.path(), fs::perms{0755});
  fs::permissions(add_kineto("secret.json"), fs::perms::none);
  const Unprivileged user;
  const auto error = refusal(folder_ / "secret.json");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "Permission denied");
}

TEST_F(Open, AFolderThatMayNotBeListedIsSaid) {
  fs::permissions(folder_.path(), fs::perms{0711});
  const Unprivileged user;
  const auto error = refusal(folder_.path());
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("cannot be listed"), std::string::npos) << error->what();
}

TEST_F(Open, TheTracesOfAFolderByName) {
  for (const char* name :
       {"b.json.gz", "a.json", "rank0.db", "x.sqlite", "y.sqlite3", "run.json", "experiment.json", "notes.txt", ".db",
        ".importing-1-0.db", ".hidden.json", "rank0.db-wal", "rank0.db-shm", "c.json.bak"}) {
    add(name, "x");
  }
  fs::create_directory(folder_ / "folder.json");
  Names names;
  for (const fs::path& path : trace_files(folder_.path()))
    names.push_back(path.filename().string());
  EXPECT_EQ(names, (Names{"a.json", "b.json.gz", "rank0.db", "x.sqlite", "y.sqlite3"}));
  EXPECT_EQ(trace_files(folder_ / "notes.txt"), std::vector<fs::path>{folder_ / "notes.txt"});
}

TEST_F(Open, RanksAreOrderedByTheirNumber) {
  add_kineto("a.json", rank_fact(2));
  add_kineto("b.json", rank_fact(0));
  add_kineto("c.json", rank_fact(1));
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(trace.ranks[i].run.rank, static_cast<int>(i));
  EXPECT_EQ(trace.ranks[0].run.source_file, "b.json");
  EXPECT_EQ(trace.warnings, Names{});
  EXPECT_EQ(trace.description, "3 files; first: PyTorch trace (Kineto), 2 events");
}

TEST_F(Open, ForeignFilesThatDoNotSayTheirRankAreNumberedInNaturalOrder) {
  int pid = 10;
  for (const char* name : {"t10.json", "t9.json", "t1.json"})
    add_kineto(name, "", pid++);
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 3U);
  EXPECT_EQ(trace.ranks[0].run.source_file, "t1.json");
  EXPECT_EQ(trace.ranks[2].run.source_file, "t10.json");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(trace.ranks[i].run.rank, static_cast<int>(i));
  EXPECT_EQ(trace.warnings, Names{"the files do not say their ranks; they are numbered in the order of their names: "
                                  "t1.json -> 0, t9.json -> 1, t10.json -> 2"});
}

TEST_F(Open, TheNumberInTheNameOfAFileIsItsRank) {
  add_kineto("trace_rank10.json", "", 1);
  add_kineto("trace_rank2.json", "", 2);
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].run.rank, 2);
  EXPECT_EQ(trace.ranks[1].run.rank, 10);
  EXPECT_EQ(trace.warnings,
            Names{"ranks are the numbers in the file names: trace_rank2.json -> 2, trace_rank10.json -> 10"});
}

TEST_F(Open, AStatedRankIsNeverChanged) {
  add_kineto("a.json", rank_fact(0), 1);
  add_kineto("b.json", "", 2);
  add_kineto("c_rank7.json", rank_fact(3), 3);
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 3U);
  EXPECT_EQ(trace.ranks[0].run.source_file, "a.json");
  EXPECT_EQ(trace.ranks[1].run.source_file, "b.json");
  EXPECT_EQ(trace.ranks[1].run.rank, 1);
  EXPECT_EQ(trace.ranks[2].run.rank, 3);
}

TEST_F(Open, TheSameEventsTwiceCountOnce) {
  add_kineto("a.json");
  add_kineto("copy.json");
  const Trace trace = open_trace(folder_.path());
  EXPECT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.warnings, Names{"copy.json holds the same events as a.json: they count once"});
}

// In containers all ranks may have one id, and in a test one time.
TEST_F(Open, RanksThatDidTheSameAreNoCopies) {
  add_kineto("rank0.json");
  add_kineto("rank1.json");
  EXPECT_EQ(open_trace(folder_.path()).ranks.size(), 2U);
}

TEST_F(Open, AFileAndItsCompressedCopyCountOnce) {
  add_kineto("rank0.json", rank_fact(0));
  add("rank0.json.gz", gzip(read_file(folder_ / "rank0.json")));
  const Trace trace = open_trace(folder_.path());
  EXPECT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.warnings, Names{(folder_ / "rank0.json.gz").string() + ": left out, rank0.json is beside it"});
}

// Programs leave other JSON beside their traces: it is no rank, and no damage.
TEST_F(Open, OtherJsonBesideTracesIsLeftOut) {
  add_kineto("rank0.json", rank_fact(0));
  add("execution_details.json", R"([{"batch_size": 16, "mode": "decode"}])");
  add("package.json", R"({"name": "x"})");
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.ranks[0].run.rank, 0);
  EXPECT_FALSE(trace.corrupt);
  ASSERT_EQ(trace.warnings.size(), 2U);
  EXPECT_EQ(trace.warnings[0].find((folder_ / "execution_details.json").string() + ": left out, it is no trace ("), 0U);
  EXPECT_EQ(trace.warnings[1].find((folder_ / "package.json").string() + ": left out, it is no trace ("), 0U);
}

// Two ranks, each of them profiled twice.
TEST_F(Open, WindowsOfOneProcessAreOneRank) {
  constexpr std::int64_t kNoon = 1'700'000'000'000'000'000;
  for (const int rank : {0, 1}) {
    for (const int cycle : {0, 1}) {
      add_kineto(fmt::format("node_{}.{}.pt.trace.json", 40 + rank, 1700 + cycle),
                 fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}}, "baseTimeNanoseconds": {},)", rank,
                             kNoon + cycle * 10'000'000'000),
                 40 + rank);
    }
  }
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.files, 4U);
  for (const Rank& rank : trace.ranks) {
    // The call at 1 to 2 us, the kernel at 4 to 7 us; the second window 10 s later.
    EXPECT_EQ(rank.run.windows, (std::vector<WindowInfo>{{1'000, 7'000}, {10'000'001'000, 10'000'007'000}}));
    EXPECT_EQ(rank.gpu.start_ns, (std::vector<std::int64_t>{4'000, 10'000'004'000}));
    EXPECT_EQ(rank.gpu.launch, (std::vector<EventIndex>{0, 1}));
    EXPECT_EQ(rank.api.start_ns, (std::vector<std::int64_t>{1'000, 10'000'001'000}));
  }
}

TEST_F(Open, APointOfAnExperimentIsItsTracedRun) {
  fs::create_directories(folder_ / "gpus1/tracing");
  add("gpus1/point.json", R"({"schema": "swinscope.point/1", "timing": ["timing1"], "tracing": "tracing"})");
  add_kineto("gpus1/tracing/rank0.json", rank_fact(0));
  EXPECT_EQ(open_trace(folder_ / "gpus1").ranks.size(), 1U);
}

TEST_F(Open, AnExperimentIsItsPointWithTheMostGpus) {
  for (const char* gpus : {"1", "4", "2"}) {
    const std::string point = fmt::format("gpus{}", gpus);
    fs::create_directories(folder_ / (point + "/tracing"));
    add(point + "/point.json",
        fmt::format(R"({{"schema": "swinscope.point/1", "factors": {{"gpus": "{}"}}, "tracing": "tracing"}})", gpus));
    add_kineto(point + "/tracing/rank0.json", rank_fact(0));
  }
  add("experiment.json", R"({"schema": "swinscope.experiment/1", "points": ["gpus1", "gpus4", "gpus2", "gone", 7]})");
  const Trace trace = open_trace(folder_.path());
  EXPECT_EQ(trace.ranks.size(), 1U);
  ASSERT_GE(trace.warnings.size(), 2U);
  EXPECT_NE(trace.warnings[0].find("its point with the most GPUs or ranks, gpus4, is shown"), std::string::npos);
  EXPECT_NE(trace.warnings[1].find("its run tracing is shown"), std::string::npos);
}

TEST_F(Open, FilesThatNameTheirOwnFolderLeadNowhere) {
  add("experiment.json", R"({"schema": "swinscope.experiment/1", "points": ["."]})");
  add("point.json", R"({"schema": "swinscope.point/1", "tracing": "."})");
  EXPECT_TRUE(refusal(folder_.path()));
}

TEST_F(Open, SubfoldersWithTracesAreNamed) {
  for (const char* name : {"iteration_9", "iteration_10"}) {
    fs::create_directories(folder_.path() / name);
    write_file(folder_.path() / name / "rank0.json", kineto_document(launch_event(1, 1, 1)));
  }
  const auto error = refusal(folder_.path());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), fmt::format("its traces are in 2 subfolders: {}, {}", (folder_ / "iteration_9").string(),
                                        (folder_ / "iteration_10").string()));
  EXPECT_EQ(error->hint(), "give one of them, such as " + (folder_ / "iteration_9").string());
}

TEST_F(Open, WhatNeedsAnotherStepFirstIsSaid) {
  const auto report = refusal(add("run.nsys-rep", "\x8F\x01 a report"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->hint(), fmt::format("`nsys export --type sqlite {}`, then give the .sqlite file",
                                        (folder_ / "run.nsys-rep").string()));
  const auto pointer = refusal(add("t.sqlite", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"));
  ASSERT_TRUE(pointer);
  EXPECT_NE(pointer->hint().find("git lfs pull"), std::string::npos);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto pipe = refusal(folder_ / "pipe");
  ASSERT_TRUE(pipe);
  EXPECT_EQ(pipe->what(), (folder_ / "pipe").string() + ": a pipe or device, not a file");
}

// Our own recordings have one file for each process: two of a rank are no mistake.
TEST_F(Open, OwnFilesOfOneRankKeepItsNumber) {
  for (const char* name : {"rank3.db", "rank3.host.77.1.db"}) {
    TraceWriter writer(folder_ / name, WriteMode::kImport);
    RunInfo run;
    run.source = "swinscope";
    run.rank = 3;
    writer.set_run(run);
    writer.finish();
  }
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].run.rank, 3);
  EXPECT_EQ(trace.ranks[1].run.rank, 3);
  EXPECT_EQ(trace.warnings, Names{});
}

// Files are closed when they are read: 2,000 ranks need no more descriptors than two.
TEST_F(Open, MoreFilesThanDescriptors) {
  constexpr int kFiles = 48;
  for (int rank = 0; rank < kFiles; rank += 2) {
    add_kineto(fmt::format("rank{}.json", rank), rank_fact(rank));
    TraceWriter writer(folder_ / fmt::format("rank{}.db", rank + 1), WriteMode::kImport);
    RunInfo run;
    run.source = "swinscope";
    run.rank = rank + 1;
    writer.set_run(run);
    writer.finish();
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{32, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto read = [&] {
    OpenOptions options;
    options.threads = 2;
    return open_trace(folder_.path(), options);
  };
  Trace trace;
  EXPECT_FALSE(error_of([&] { trace = read(); }));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(trace.ranks.size(), std::size_t{kFiles});
  EXPECT_EQ(trace.warnings, Names{});
}

TEST_F(Open, OneBadFileAmongGoodOnesIsAWarning) {
  add_kineto("a.json", rank_fact(0));
  add("b.json", "");
  add_kineto("c.json", rank_fact(1));
  add("d.db", "no database");
  const Trace trace = open_trace(folder_.path());
  EXPECT_EQ(trace.ranks.size(), 2U);
  EXPECT_TRUE(trace.corrupt);
  EXPECT_EQ(trace.warnings,
            (Names{(folder_ / "b.json").string() + ": the file is empty (recording or copying it has failed)",
                   (folder_ / "d.db").string() + ": not a trace (it is no SQLite file, no JSON and no gzip file)"}));
}

TEST_F(Open, NoGoodFileAmongBadOnesIsAnError) {
  add("a.json", "");
  add("b.db", "no database");
  const auto error = refusal(folder_.path());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), (folder_ / "a.json").string() + ": the file is empty");
}

TEST_F(Open, DropsBecomeWarnings) {
  const Trace trace =
      open_trace(add("t.json", kineto_document(R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1},)"
                                               R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1},)"
                                               R"({"ph":"X","cat":"cpu_op","name":"k","ts":NaN,"dur":1},)" +
                                               kernel_event(1, 4, 3))));
  EXPECT_EQ(trace.warnings, (Names{"rank 0: 1 cpu_op event left out: the time or duration is not a number",
                                   "rank 0: 2 kernel events left out: the duration is negative"}));
  EXPECT_FALSE(trace.corrupt);
}

TEST_F(Open, ATruncatedFileIsCorruptAndReadable) {
  const std::string whole = kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 4, 3));
  const Trace trace = open_trace(add("t.json", whole.substr(0, whole.size() - 60)));
  EXPECT_TRUE(trace.corrupt);
  EXPECT_EQ(trace.ranks.at(0).api.size(), 1U);
  ASSERT_EQ(trace.warnings.size(), 2U);
  EXPECT_NE(trace.warnings[0].find("cut off"), std::string::npos);
  EXPECT_EQ(trace.warnings[1], "rank 0: the recording was cut off");
}

TEST_F(Open, OfMoreGpusThanAMachineHasNoneIsRead) {
  const auto document = [&](int gpus) {
    std::string events;
    for (int device = 0; device < gpus; ++device)
      events += fmt::format(R"({}{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":1,)"
                            R"("args":{{"device":{},"stream":7}}}})",
                            device == 0 ? "" : ",", 2 * device, device);
    return add("gpus.json", kineto_document(events));
  };
  EXPECT_EQ(open_trace(document(4096)).ranks.at(0).gpu_lanes.size(), 4096U);
  const auto error = refusal(document(4097));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(error->cause().find("at most 4096"), std::string::npos) << error->cause();
}

TEST_F(Open, GraphLevelTracesWarn) {
  make_database(folder_ / "a.sqlite",
                "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, globalPid, graphId);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1, 2, 0, 1, 3)");
  const Trace trace = open_trace(folder_ / "a.sqlite");
  ASSERT_EQ(trace.warnings.size(), 1U);
  EXPECT_NE(trace.warnings[0].find("the kernels inside them are missing"), std::string::npos);
  EXPECT_EQ(trace.gpu_event_count(), 1);
}

TEST_F(Open, ATraceWithoutKernels) {
  const Trace trace = open_trace(add("t.json", kineto_document("")));
  ASSERT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.gpu_event_count(), 0);
}

TEST_F(Open, CancelStops) {
  const std::atomic<bool> cancel = true;
  add_kineto("a.json");
  // So small that nothing asks while it is read: a part of the folder would be left.
  make_database(folder_ / "b.sqlite",
                "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, globalPid, graphId);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1, 2, 0, 1, 3)");
  for (const std::filesystem::path& path : {folder_.path(), folder_ / "b.sqlite"}) {
    const auto error = error_of([&] { open_trace(path, &cancel); });
    ASSERT_TRUE(error) << path;
    EXPECT_EQ(error->kind(), ErrorKind::kInterrupted) << path;
  }
}

// More files than the machine has cores.
TEST_F(Open, ManyFiles) {
  for (int rank = 0; rank < 40; ++rank)
    add_kineto(fmt::format("{}.json", 99 - rank), rank_fact(rank));
  const Trace trace = open_trace(folder_.path());
  ASSERT_EQ(trace.ranks.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(trace.ranks[i].run.rank, static_cast<int>(i));
    EXPECT_EQ(trace.text(trace.ranks[i].gpu.short_name.at(0)), "gemm");
  }
}

}  // namespace
}  // namespace swinscope::test
