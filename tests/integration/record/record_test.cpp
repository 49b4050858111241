// Whole programs under record(): what the issue of a recorder is.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::expect_finished;
using test::Process;
using test::program;
using test::range_names;
using test::Sqlite;
using test::under_record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Record : public ::testing::Test {
 protected:
  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
};

constexpr int kThreads = 4;
constexpr int kSteps = 25;
constexpr int kLayers = 3;

// Joins a range with its text, as r(start, end, name, domain, tid).
const std::string kRanges =
    "WITH r AS (SELECT start, end, value AS name, domainId AS domain, globalTid AS tid, category, color, int64Value, "
    "jsonTextId "
    "FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) "
    "WHERE eventType = 59) ";

TEST_F(Record, AForeignProgramIsRecordedCompletely) {
  Process run(under_record(folder_, {program("nvtx_program"), (test::kPrograms / "libnvtx_library.so").string()}));
  EXPECT_EQ(run.wait(), 42);
  EXPECT_EQ(run.output(), "");
  expect_finished(folder_);
  const auto files = test::rank_files(folder_);
  ASSERT_EQ(files.size(), 1U);
  Sqlite db(files[0]);
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");

  const auto count = [&](const std::string& where) {
    return std::stoi(db.value(kRanges + "SELECT count(*) FROM r WHERE " + where));
  };
  EXPECT_EQ(count("name = 'st\u00E9p'"), kThreads * kSteps);
  EXPECT_EQ(count("name LIKE 'layer%'"), kThreads * kSteps * kLayers);
  EXPECT_EQ(count("name = 'kernel' AND domain = 0"), kThreads * kSteps * kLayers);
  EXPECT_EQ(count("name = 'from the library' AND domain = (SELECT domain FROM r WHERE name = 'layer0')"), 1);
  // And nothing else.
  EXPECT_EQ(count("1"), kThreads * kSteps * (1 + 2 * kLayers) + 1);
  // Each layer lies in exactly one step of its thread, in order; each kernel in exactly one layer.
  EXPECT_EQ(
      db.value(kRanges + "SELECT count(*) FROM r a JOIN r b ON a.tid = b.tid AND a.start <= b.start AND b.end <= a.end "
                         "WHERE a.name = 'st\u00E9p' AND b.name LIKE 'layer%'"),
      std::to_string(kThreads * kSteps * kLayers));
  EXPECT_EQ(
      db.value(kRanges + "SELECT count(*) FROM r a JOIN r b ON a.tid = b.tid AND a.start <= b.start AND b.end <= a.end "
                         "WHERE a.name LIKE 'layer%' AND b.name = 'kernel'"),
      std::to_string(kThreads * kSteps * kLayers));
  EXPECT_EQ(db.value(kRanges + "SELECT count(DISTINCT tid) FROM r WHERE name = 'kernel'"), std::to_string(kThreads));
  // Values: steps count down from 0 on each thread.
  EXPECT_EQ(db.value(kRanges +
                     "SELECT count(DISTINCT tid || ' ' || int64Value) FROM r WHERE name = 'st\u00E9p' AND category = 5 "
                     "AND color = 0xFF00FF00 AND int64Value BETWEEN -24 AND 0"),
            std::to_string(kThreads * kSteps));
  EXPECT_THAT(db.values("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                        "StringIds s ON s.id = n.textId) WHERE eventType = 33"),
              ElementsAre("steps"));
  EXPECT_THAT(db.values("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                        "StringIds s ON s.id = n.textId) WHERE eventType = 34"),
              ElementsAre("done"));
  EXPECT_THAT(db.values("SELECT value, endGlobalTid IS NOT NULL FROM (SELECT n.*, coalesce(text, s.value) AS value "
                        "FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) WHERE eventType = 60"),
              ElementsAre("cr\u00F6ssing", "1"));
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(db.value("SELECT count(*) FROM ThreadNames JOIN StringIds ON id = nameId WHERE value = 'worker " +
                       std::to_string(i) + "'"),
              "1");
  }
}

TEST_F(Record, ExtendedPayloadsAreJson) {
  Process run(under_record(folder_, {program("nvtx_program")}));
  ASSERT_EQ(run.wait(), 42);
  Sqlite db(test::rank_files(folder_).at(0));
  const std::string json = "FROM NVTX_EVENTS n JOIN StringIds j ON j.id = n.jsonTextId ";
  EXPECT_EQ(db.value("SELECT count(*) " + json + "WHERE json_valid(j.value)"),
            std::to_string(kThreads * kSteps * kLayers));
  // Thread 2, step 13, layer 1: its own numbers, the enumerator's name and the note copied from behind its pointer.
  EXPECT_THAT(
      db.values("SELECT j.value " + json + "WHERE n.text = 'layer1' AND j.value ->> '$.note' = 't2 s13'"),
      ElementsAre(
          R"({"$schema":"work","flops":2000,"kind":"norm","ratio":0.25,"shape":[2,13,1],"device":"cpu","note":"t2 s13"})"));
  EXPECT_EQ(db.value("SELECT sum(j.value ->> '$.flops') " + json),
            std::to_string(kThreads * kSteps * (1000 + 2000 + 3000)));
}

class RecordPython : public Record {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer cannot be loaded into a Python that was built without it";
#endif
    std::vector<std::string> import = python();
    import.insert(import.end(), {"-c", "import nvtx"});
    if (Process(import).wait() != 0) GTEST_SKIP() << "Python has no nvtx package; scripts/setup.sh check fetches it";
  }
  static std::vector<std::string> script(const char* name) {
    std::vector<std::string> command = python();
    // "python3" may be a script that looks for the interpreter, with processes of its own.
    std::vector<std::string> ask = command;
    ask.insert(ask.end(), {"-c", "import sys; print(sys.executable)"});
    Process interpreter(ask);
    EXPECT_EQ(interpreter.wait(), 0);
    command.back() = interpreter.output().substr(0, interpreter.output().find('\n'));
    command.push_back(SWINSCOPE_SOURCE_DIR "/tests/integration/record/" + std::string(name));
    return command;
  }

 private:
  // SWINSCOPE_TEST_PYTHON names an interpreter with the nvtx package; otherwise it is the system's, with the package
  // that the set-up fetched.
  static std::vector<std::string> python() {
    std::vector<std::string> command = {"env"};
#if defined(__SANITIZE_ADDRESS__)
    // A sanitized library needs its runtime to be there first. Python itself leaks by design.
    command.insert(command.end(), {"LD_PRELOAD=" SWINSCOPE_ASAN_LIBRARY, "ASAN_OPTIONS=detect_leaks=0"});
#endif
    if (const char* given = std::getenv("SWINSCOPE_TEST_PYTHON")) {
      command.emplace_back(given);
    } else {
      command.insert(command.end(), {"PYTHONPATH=" SWINSCOPE_PYTHON_PACKAGES, "python3"});
    }
    return command;
  }
};

TEST_F(RecordPython, AForeignProgramIsRecordedCompletely) {
  Process run(under_record(folder_, script("python_program.py")));
  EXPECT_EQ(run.wait(), 23);
  expect_finished(folder_);
  Sqlite db(test::rank_files(folder_).at(0));
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0");
  EXPECT_EQ(db.value(kRanges + "SELECT count(*) FROM r WHERE name LIKE 'step %' AND int64Value BETWEEN 0 AND 9"), "40");
  EXPECT_EQ(db.value(kRanges + "SELECT count(*) FROM r"), "120");
  EXPECT_EQ(
      db.value(kRanges + "SELECT count(*) FROM r a JOIN r b ON a.tid = b.tid AND a.start <= b.start AND b.end <= a.end "
                         "WHERE a.name LIKE 'step %' AND b.name = 'layer'"),
      "40");
  EXPECT_EQ(db.value("SELECT sum(doubleValue) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n "
                     "LEFT JOIN StringIds s ON s.id = n.textId) WHERE value = 'forward'"),
            "90.0");
}

TEST_F(Record, ForkedChildrenHaveFilesOfTheirOwn) {
  Process run(under_record(folder_, {program("nvtx_modes"), "fork", "4"}));
  EXPECT_EQ(run.wait(), 0 + 1 + 2 + 3);
  expect_finished(folder_);
  const auto files = test::rank_files(folder_);
  ASSERT_EQ(files.size(), 5U);
  std::set<std::string> pids;
  std::vector<std::string> names;
  for (const auto& file : files) {
    pids.insert(Sqlite(file).value("SELECT globalPid FROM SWINSCOPE_RUN"));
    EXPECT_EQ(Sqlite(file).value("SELECT complete FROM SWINSCOPE_RUN"), "1") << file;
    EXPECT_EQ(Sqlite(file).value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0") << file;
    for (const std::string& name : range_names(file))
      names.push_back(name);
  }
  EXPECT_EQ(pids.size(), 5U);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("before fork", "around fork", "after fork", "child 0", "child 1",
                                                     "child 2", "child 3"));
  EXPECT_THAT(range_names(folder_ / "rank0.db"), ElementsAre("before fork", "around fork", "after fork"));
}

TEST_F(Record, AnExecChainKeepsAllItsFiles) {
  Process run(under_record(folder_, {program("nvtx_modes"), "exec", "2"}), {{"RANK", "3"}, {"WORLD_SIZE", "8"}});
  EXPECT_EQ(run.wait(), 9);
  expect_finished(folder_);
  const auto files = test::rank_files(folder_);
  ASSERT_EQ(files.size(), 3U);
  std::vector<std::string> names;
  std::set<std::string> pids;
  for (const auto& file : files) {
    for (const std::string& name : range_names(file))
      names.push_back(name);
    pids.insert(Sqlite(file).value("SELECT globalPid FROM SWINSCOPE_RUN"));
    EXPECT_THAT(Sqlite(file).values("SELECT rank, worldSize FROM SWINSCOPE_RUN"), ElementsAre("3", "8"));
  }
  EXPECT_EQ(pids.size(), 1U);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("image 2", "image 1", "image 0"));
  EXPECT_EQ(range_names(folder_ / "rank3.db"), (std::vector<std::string>{"image 2"}));
  // Nothing is missing, though exec gave no chance to finish.
  EXPECT_EQ(Sqlite(folder_ / "rank3.db").value("SELECT complete FROM SWINSCOPE_RUN"), "1");
}

// The processes of a program of rank 2 with four workers, which printed getrusage's seconds of itself and of those.
void expect_cpu_times(const test::fs::path& folder, const std::string& printed) {
  double own_s = 0;
  double workers_s = 0;
  std::istringstream(printed) >> own_s >> workers_s;
  ASSERT_GT(workers_s, 1.5);
  Sqlite db(folder / "record.db");
  EXPECT_THAT(db.values("SELECT DISTINCT rank FROM SWINSCOPE_PROCESS"), ElementsAre("2"));
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_PROCESS WHERE parentGlobalPid IS NOT NULL"), "4");
  const double all_s = std::stod(db.value("SELECT sum(cpuNs + unseenCpuNs) / 1e9 FROM SWINSCOPE_PROCESS"));
  EXPECT_NEAR(all_s, own_s + workers_s, 0.05 * (own_s + workers_s));
  const double listed_s =
      std::stod(db.value("SELECT sum(cpuNs) / 1e9 FROM SWINSCOPE_PROCESS WHERE parentGlobalPid IS NOT NULL"));
  EXPECT_NEAR(listed_s, workers_s, 0.05 * workers_s);
  std::printf("CPU time: workers %.3f s, recorded %.3f s; all %.3f s, recorded %.3f s\n", workers_s, listed_s,
              own_s + workers_s, all_s);
}

TEST_F(Record, LoaderWorkersAreCountedThoughTheyTouchNothing) {
  Process run(under_record(folder_, {program("nvtx_modes"), "loader", "4"}), {{"RANK", "2"}});
  EXPECT_EQ(run.wait(), 0);
  expect_finished(folder_);
  EXPECT_EQ(test::rank_files(folder_), (std::vector<test::fs::path>{folder_ / "rank2.db"}));
  EXPECT_EQ(Sqlite(folder_ / "rank2.db").value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  expect_cpu_times(folder_, run.output());
}

TEST_F(RecordPython, LoaderWorkersHaveFilesOfTheirOwn) {
  Process run(under_record(folder_, script("loader_program.py")), {{"RANK", "2"}});
  EXPECT_EQ(run.wait(), 0);
  expect_finished(folder_);
  std::vector<std::string> names;
  std::set<std::string> pids;
  for (const auto& file : test::rank_files(folder_)) {
    EXPECT_EQ(Sqlite(file).value("SELECT rank FROM SWINSCOPE_RUN"), "2");
    pids.insert(Sqlite(file).value("SELECT globalPid FROM SWINSCOPE_RUN"));
    for (const std::string& name : range_names(file))
      names.push_back(name);
  }
  EXPECT_EQ(pids.size(), 5U);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("epoch", "batch 0", "batch 1", "batch 2", "batch 3"));
  expect_cpu_times(folder_, run.output());
}

TEST_F(Record, EventsOfExitHandlersAreIn) {
  Process run(under_record(folder_, {program("nvtx_modes"), "atexit"}));
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(range_names(folder_ / "rank0.db"), ElementsAre("in main", "in atexit"));
}

TEST_F(Record, ThreadsThatRunOnAtTheEndDoNotHoldItUp) {
  Process run(under_record(folder_, {program("nvtx_modes"), "threads"}));
  EXPECT_EQ(run.wait(), 5);
  expect_finished(folder_);
  Sqlite db(folder_ / "rank0.db");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(db.value(kRanges + "SELECT count(*) FROM r WHERE name = 'main'"), "1000");
}

TEST_F(Record, ACrashIsReturnedAndItsFileFinished) {
  Process run(under_record(folder_, {program("nvtx_modes"), "abort"}), {}, [] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
  });
  EXPECT_EQ(run.wait(), 128 + SIGABRT);
  expect_finished(folder_);
}

// Numbers that the program said it had reached, with the time of each.
std::vector<std::pair<long, double>> milestones(const std::string& output) {
  std::vector<std::pair<long, double>> all;
  std::istringstream lines(output.substr(0, output.rfind('\n') + 1));
  std::pair<long, double> milestone;
  while (lines >> milestone.first >> milestone.second)
    all.push_back(milestone);
  return all;
}

TEST_F(Record, KilledAtRandomMomentsNothingIsLost) {
  std::mt19937 random(20240611);
  std::uniform_int_distribution<int> delay_ms(50, 1500);
  constexpr int kKills = 20;
  for (int i = 0; i < kKills; ++i) {
    const auto folder = folder_.string() + std::to_string(i);
    Process run(under_record(folder, {"sh", "-c", "echo $$; exec \"$0\" numbered 5000", program("nvtx_modes")}));
    ASSERT_TRUE(run.wait_for("\n0 "));  // recording has begun
    const auto victim = static_cast<pid_t>(std::stol(run.output()));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms(random)));
    ASSERT_EQ(kill(victim, SIGKILL), 0);
    EXPECT_EQ(run.wait(), 128 + SIGKILL);
    expect_finished(folder);
    const auto reached = milestones(run.output().substr(run.output().find('\n') + 1));
    ASSERT_FALSE(reached.empty());
    Sqlite db(test::fs::path(folder) / "rank0.db");
    EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "0");
    // No number is missing below the last one, and none that the program said it had reached.
    const long last =
        std::stol(db.value("SELECT coalesce(max(CAST(substr(value, 2) AS INTEGER)), -1) FROM "
                           "(SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON "
                           "s.id = n.textId) WHERE value LIKE 'n%' AND end IS NOT NULL"));
    EXPECT_EQ(db.value("SELECT count(*) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT "
                       "JOIN StringIds s ON s.id = n.textId) WHERE value LIKE 'n%' AND end IS NOT NULL"),
              std::to_string(last + 1));
    EXPECT_GE(last, reached.back().first);
    EXPECT_EQ(db.value("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                       "StringIds s ON s.id = n.textId) WHERE end IS NULL AND eventType "
                       "= 59 AND value = 'all'"),
              "all");
    EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0");
  }
}

TEST_F(Record, CtrlCFinishesTheFiles) {
  Process run(under_record(folder_, {program("nvtx_modes"), "numbered", "5000"}));
  ASSERT_TRUE(run.wait_for("\n5000 "));
  ASSERT_EQ(kill(-run.pid(), SIGINT), 0);  // to the whole group, as a terminal does
  EXPECT_EQ(run.wait(), 128 + SIGINT);
  expect_finished(folder_);
  EXPECT_GT(range_names(folder_ / "rank0.db").size(), 100U);
}

TEST_F(Record, ASignalToRecordGoesToTheCommand) {
  Process run(under_record(folder_, {program("nvtx_modes"), "numbered", "5000"}));
  ASSERT_TRUE(run.wait_for("\n1000 "));
  ASSERT_EQ(kill(run.pid(), SIGTERM), 0);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
  expect_finished(folder_);
}

// By the warnings in run.json.
long lost_ranges(const test::fs::path& folder) {
  const std::string json = test::read_file(folder / "run.json");
  long lost = 0;
  for (std::size_t at = json.find(" lost: NVTX range"); at != std::string::npos;
       at = json.find(" lost: NVTX range", at + 1))
    lost += std::stol(json.substr(json.rfind(' ', at - 1)));
  return lost;
}

// nvtx_modes flood went on until its file could take no more, and printed the number of its ranges.
void expect_counted_drops(const test::fs::path& folder, const std::string& output, long dropped) {
  const long emitted = std::stol(output.substr(output.find("ranges: ") + 8));
  Sqlite db(folder / "rank0.db");
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
  const long recorded =
      std::stol(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL"));
  EXPECT_GT(recorded, 0);
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(recorded + dropped, emitted);
  EXPECT_THAT(output, HasSubstr("lost: NVTX range"));
  std::printf("of %ld ranges %ld are recorded, %ld counted as lost\n", emitted, recorded, dropped);
}

TEST_F(Record, AFullDiskDoesNotDisturbTheProgramAndIsReported) {
  const test::fs::path disk = temp_ / "disk";
  test::fs::create_directory(disk);
  if (Process({"unshare", "-rm", "mount", "-t", "tmpfs", "none", disk.string()}).wait() != 0)
    GTEST_SKIP() << "no small disk can be mounted here";
  // A disk of 8 MB, there for the shell and its children only; what is left on it is copied out.
  const char* const on_a_small_disk = R"(mount -t tmpfs -o size=8m none "$0"; "$1" "$0/run" "$2" flood; status=$?
               cp -r "$0/run" "$3"; exit $status)";
  Process run({"unshare", "-rm", "sh", "-c", on_a_small_disk, disk.string(), program("record_tool"),
               program("nvtx_modes"), folder_.string()},
              {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
  EXPECT_EQ(run.wait(), 17);
  // No room to merge the log: the file stays as after a kill, with its drops beside it, and run.json says so.
  EXPECT_THAT(run.output(), HasSubstr("rank0.db: not finished"));
  EXPECT_THAT(test::read_file(folder_ / "run.json"), HasSubstr("\"exit_status\": 17"));
  expect_counted_drops(folder_, run.output(), lost_ranges(folder_));
}

TEST_F(Record, AFileThatMayNotGrowIsAsAFullDisk) {
  Process run(under_record(folder_, {program("nvtx_modes"), "flood"}), {}, [] {
    const rlimit limit{8U << 20U, 8U << 20U};
    setrlimit(RLIMIT_FSIZE, &limit);
    dup2(STDOUT_FILENO, STDERR_FILENO);
  });
  EXPECT_EQ(run.wait(), 17);
  const long dropped = lost_ranges(folder_);
  // Whether the log still fits into the file depends on when SQLite has merged it last.
  if (run.output().find("rank0.db: not finished") == std::string::npos) {
    expect_finished(folder_);
    const std::string stored =
        Sqlite(folder_ / "rank0.db").value("SELECT sum(count) FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX range%'");
    EXPECT_EQ(stored, std::to_string(dropped));
  }
  expect_counted_drops(folder_, run.output(), dropped);
}

TEST_F(Record, TheProgramsOwnOutputAndStatusAreReturned) {
  for (const auto& [command, status, output] :
       std::vector<std::tuple<std::string, int, std::string>>{{"true", 0, ""},
                                                              {"false", 1, ""},
                                                              {"echo one; echo two", 0, "one\ntwo\n"},
                                                              {"exit 77", 77, ""},
                                                              {"kill -9 $$", 137, ""}}) {
    Process run(under_record(folder_, {"sh", "-c", command}), {{"RECORD_TOOL_FORCE", "1"}});
    EXPECT_EQ(run.wait(), status) << command;
    EXPECT_EQ(run.output(), output) << command;
  }
}

TEST_F(Record, OrphansAreWaitedForAndCounted) {
  Process run(under_record(folder_, {"sh", "-c", "(sleep 0.3; echo late) & echo early"}));
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.output(), "early\nlate\n");
  Sqlite db(folder_ / "record.db");
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_PROCESS WHERE end IS NULL OR rank IS NOT 0"), "0");
}

TEST_F(Record, ACommandThatDoesNotExistLeavesNothingBehind) {
  const auto says = [&](const std::vector<std::string>& command) {
    Process run(under_record(folder_, command), {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
    const int status = run.wait();
    return std::to_string(status) + " " + run.output();
  };
  EXPECT_THAT(says({"no-such-command-here"}), HasSubstr("127 error: no-such-command-here: no such command"));
  EXPECT_THAT(says({"./no/such/path"}), HasSubstr("127 error: ./no/such/path: no such command"));
  test::write_file(temp_ / "plain", "text");
  EXPECT_THAT(says({(temp_ / "plain").string()}), HasSubstr("126 error: "));
  EXPECT_FALSE(test::fs::exists(folder_));
  // Executable but no program: known only when the kernel refuses it.
  test::fs::permissions(temp_ / "plain", test::fs::perms::owner_all);
  EXPECT_THAT(says({(temp_ / "plain").string()}), HasSubstr("126 error: "));
  EXPECT_FALSE(test::fs::exists(folder_));
}

TEST_F(Record, ARunIsNotOverwritten) {
  EXPECT_EQ(Process(under_record(folder_, {program("nvtx_modes"), "atexit"})).wait(), 0);
  test::write_file(folder_ / "notes.txt", "mine");
  Process again(under_record(folder_, {"true"}), {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
  EXPECT_EQ(again.wait(), 2);
  EXPECT_THAT(again.output(), HasSubstr("already holds a run"));
  EXPECT_EQ(range_names(folder_ / "rank0.db").size(), 2U);
  EXPECT_EQ(Process(under_record(folder_, {"true"}), {{"RECORD_TOOL_FORCE", "1"}}).wait(), 0);
  EXPECT_THAT(test::names_in(folder_), ElementsAre("notes.txt", "record.db", "run.json"));
}

TEST_F(Record, AProgramsOwnSqliteAndFmtAreNotCalled) {
  EXPECT_EQ(Process(under_record(folder_, {program("clashing_program")})).wait(), 9);
  EXPECT_THAT(range_names(folder_ / "rank0.db"), ElementsAre("work"));
  EXPECT_EQ(Sqlite(folder_ / "rank0.db").value("SELECT complete FROM SWINSCOPE_RUN"), "1");
}

TEST_F(Record, TheLibraryShowsNothingButItsEntryPoints) {
  Process symbols({"nm", "-D", "--defined-only", "--format=posix", SWINSCOPE_COLLECTOR_LIBRARY});
  EXPECT_EQ(symbols.wait(), 0);
  std::vector<std::string> names;
  std::istringstream lines(symbols.output());
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find(' ')));
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("InitializeInjection", "InitializeInjectionNvtx2",
                                                     "InitializeInjectionNvtxExtension", "ncclProfiler_v4",
                                                     "ncclProfiler_v5", "ncclProfiler_v6"));
}

}  // namespace
}  // namespace swinscope
