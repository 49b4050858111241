// The recorded program lives and dies as it does alone: its output and status are the same, and nothing of it is lost.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::Process;
using test::program;
using test::Sqlite;
using test::under_record;
using ::testing::HasSubstr;

class Host : public ::testing::Test {
 protected:
  // "STATUS OUTPUT".
  static std::string result(const std::vector<std::string>& command) {
    Process run(command, {}, [] {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
    });
    const int status = run.wait();
    return std::to_string(status) + " " + run.output();
  }
  // Compares the program under record with the program alone.
  void expect_same(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program("nvtx_hosts"));
    const std::string alone = result(arguments);
    EXPECT_EQ(result(under_record(folder_, arguments)), alone);
    test::expect_finished(folder_);
  }
  // In all files.
  long count(const std::string& sql) {
    long sum = 0;
    for (const auto& file : test::rank_files(folder_))
      sum += std::stol(Sqlite(file).value(sql));
    return sum;
  }
  long recorded(const std::string& name = "r") {
    return count(
        "SELECT count(*) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s "
        "ON s.id = n.textId) WHERE eventType = 59 AND end IS NOT "
        "NULL AND value = " +
        test::quoted(name));
  }
  long lost() { return count("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS"); }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
};

TEST_F(Host, WhoseMainThreadLeavesEndsWithItsLastThread) {
  expect_same({"pthread_exit"});
  EXPECT_EQ(recorded(), 110);
}

TEST_F(Host, ThatForbidsItselfAlmostEverythingLives) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own calls are forbidden, too: the program dies alone as well";
#endif
  expect_same({"seccomp"});
  EXPECT_EQ(recorded(), 30);
}

TEST_F(Host, HasNoThreadThatForbidsANamespace) {
  expect_same({"unshare"});
  EXPECT_EQ(recorded(), 30);
}

TEST_F(Host, ThatClosesAllDescriptorsFindsOnlyItsOwnBytesInItsFiles) {
  expect_same({"closeall", temp_.path().string()});
  EXPECT_EQ(recorded(), 100 + 20 * 1000);
}

TEST_F(Host, LosesNothingOfWorkersHoweverTheyWereBornAndDied) {
  constexpr int kWorkers = 24;
  expect_same({"workers", std::to_string(kWorkers)});
  EXPECT_EQ(test::rank_files(folder_).size(), 1U + kWorkers);
  EXPECT_EQ(recorded(), 10 + 10 * kWorkers);
  EXPECT_EQ(count("SELECT 1 - complete FROM SWINSCOPE_RUN"), 0);
}

TEST_F(Host, LosesNothingOfImagesThatItReplacesAtOnce) {
  constexpr int kImages = 12;
  expect_same({"exec", std::to_string(kImages - 1)});
  EXPECT_EQ(test::rank_files(folder_).size(), std::size_t{kImages});
  EXPECT_EQ(recorded(), 5 * kImages);
}

TEST_F(Host, LosesNothingOfAChildWithoutAnEnvironment) {
  expect_same({"clearenv"});
  EXPECT_EQ(recorded(), 1010);
}

TEST_F(Host, LosesNothingOfShortThreads) {
  constexpr int kThreads = 3000;  // more than there are lanes
  expect_same({"threads", std::to_string(kThreads)});
  EXPECT_EQ(recorded() + lost(), 20L * kThreads);
  EXPECT_EQ(lost(), 0);
}

TEST_F(Host, MayLeaveACallbackByLongjmp) {
  expect_same({"jumps"});
  EXPECT_EQ(recorded("in peace"), 100);
  EXPECT_EQ(lost(), 0);
}

TEST_F(Host, MayPointBeyondItsPayload) {
  expect_same({"beyond"});
  EXPECT_EQ(recorded(), 3);
  EXPECT_EQ(count("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), 1);
}

TEST_F(Host, ThatMayMakeNoFileIsRecorded) {
  expect_same({"nofiles"});
  EXPECT_EQ(recorded(), 50);
}

TEST_F(Host, ThatCannotBeRecordedIsSaid) {
  // It becomes another user, who may not make files in the folder.
  Process run(under_record(folder_, {"sh", "-c",
                                     "setpriv --reuid 65534 test -r \"$NVTX_INJECTION64_PATH\" || exit 127; "
                                     "chmod 000 \"$SWINSCOPE_RINGS\"; exec setpriv --reuid 65534 " +
                                         program("nvtx_hosts") + " unshare"}),
              {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
  if (run.wait() == 127 || geteuid() != 0) GTEST_SKIP() << "not root, no setpriv, or a folder that others may not read";
  EXPECT_THAT(run.output(), HasSubstr(" could not be recorded: no shared memory: Permission denied"));
  EXPECT_THAT(run.output(), ::testing::Not(HasSubstr("no process")));
}

// SQLite would try for a minute: each of its tries is one that the library counts.
TEST_F(Host, IsRecordedWhereNoFileCanBeLocked) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' libraries have to be the first";
#endif
  std::vector<std::string> command = {"env", "LD_PRELOAD=" + program("libno_locks_library.so")};
  const std::vector<std::string> recorder =
      under_record(folder_, {"env", "-u", "LD_PRELOAD", program("nvtx_hosts"), "pthread_exit"});
  command.insert(command.end(), recorder.begin(), recorder.end());
  EXPECT_EQ(result(command), result({program("nvtx_hosts"), "pthread_exit"}));
  test::expect_finished(folder_);
  EXPECT_EQ(recorded(), 110);
}

// Every call fails once, and from then on: memory, descriptors, maps, locks, keys, threads.
TEST_F(Host, IsNotDisturbedByWhatFailsInTheLibrary) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers bring an allocator of their own";
#endif
  const std::string loop =
      R"(for n in $(seq 1 "$1"); do for how in once ever; do LD_PRELOAD="$2" "$3" "$0" $n $how; echo $?; done; done)";
  for (const auto& [kind, times] : std::vector<std::pair<std::string, int>>{{"memory", 30},
                                                                            {"open", 8},
                                                                            {"mmap", 8},
                                                                            {"madvise", 12},
                                                                            {"ftruncate", 2},
                                                                            {"fcntl", 3},
                                                                            {"key", 2},
                                                                            {"thread", 2}}) {
    std::string expected;
    for (int i = 0; i < 2 * times; ++i)
      expected += "child 5\n42\n";
    Process run(under_record(folder_, {"sh", "-c", loop, kind, std::to_string(times), program("libfault_library.so"),
                                       program("faulty_program")}),
                {{"RECORD_TOOL_FORCE", "1"}});
    EXPECT_EQ(run.wait(), 0) << kind;
    EXPECT_EQ(run.output(), expected) << kind;
  }
}

// Somebody sets the clock of the machine: behind its start a recording does not look at the calendar again, neither in
// the program nor in `record`, and the program's times are on the same axis as the recorder's.
TEST_F(Host, WhoseClockIsSetHasTheTimesOfTheOtherClock) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the library that sets it brings an allocator of its own";
#endif
  constexpr int kReadings = 16;  // at the start: of the distance between the two clocks, and for whose folder it is
  const auto looks_again = [&](const std::string& when) {
    const test::fs::path report = temp_ / "report";
    test::fs::remove(report);
    Process run(under_record(folder_, {program("nvtx_hosts"), "pthread_exit"}),
                {{"LD_PRELOAD", program("libfault_library.so")},
                 {"FAULTS", "jump " + when},
                 {"FAULTS_REPORT", report.string()},
                 {"RECORD_TOOL_FORCE", "1"}});
    EXPECT_EQ(run.wait(), 0);
    test::expect_finished(folder_);
    return test::fs::exists(report);
  };
  EXPECT_TRUE(looks_again("1 once record_tool")) << "the library sets no clock";
  EXPECT_FALSE(looks_again(std::to_string(kReadings + 1) + " ever record_tool"));
  EXPECT_FALSE(looks_again("1 ever nvtx_hosts"));
  EXPECT_EQ(recorded(), 110);
  const auto start = [&](const char* file) {
    return std::stoll(Sqlite(folder_ / file).value("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"));
  };
  EXPECT_LT(std::abs(start("rank0.db") - start("record.db")), 60'000'000'000);
}

}  // namespace
}  // namespace swinscope
