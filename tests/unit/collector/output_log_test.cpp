// What a program prints, kept with the time of each line.
#include "collector/launcher/output_log.h"

#include <cstdlib>
#include <sstream>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "tests/unit/store/support.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace swinscope {
namespace {

struct Line {
  std::int64_t time_ns = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

class OutputLogTest : public testing::Test {
 protected:
  OutputLogOptions options(int echo_to = -1) const { return {folder_ / "log", folder_ / "times", echo_to}; }
  std::string log() const { return test::read_file(folder_ / "log"); }
  std::vector<Line> lines() const {
    std::istringstream text(test::read_file(folder_ / "times"));
    std::vector<Line> lines;
    for (Line line; text >> line.time_ns >> line.start >> line.length;)
      lines.push_back(line);
    return lines;
  }
  // Runs the command in a shell, whose standard output is this process's.
  static void run(const char* command) {
    pid_t child = 0;
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    char* const arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
    ASSERT_EQ(posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ), 0);
    waitpid(child, nullptr, 0);
  }
  test::TempFolder folder_;
};

TEST_F(OutputLogTest, KeepsLinesAndTheirTimes) {
  const std::int64_t before_ns = monotonic_ns() + measure_utc_offset_ns();
  OutputLog kept(options());
  run(R"(printf 'one\n\ntwo\rthree\r\nno end')");
  EXPECT_EQ(kept.finish(), "");
  const std::int64_t after_ns = monotonic_ns() + measure_utc_offset_ns();
  EXPECT_EQ(log(), "one\n\ntwo\rthree\r\nno end") << "byte by byte as it was printed";
  const std::vector<Line> found = lines();
  ASSERT_EQ(found.size(), 3U) << "empty lines and the one without an end have no time";
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> places = {{0, 3}, {5, 3}, {9, 5}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::pair(found[i].start, found[i].length), places[i]);
    EXPECT_GE(found[i].time_ns, before_ns - 1'000'000);  // the two clocks are read one after the other
    EXPECT_LE(found[i].time_ns, after_ns + 1'000'000);
  }
}

TEST_F(OutputLogTest, IsATerminalForThoseWhoAsk) {
  OutputLog kept(options());
  run("test -t 1 && echo terminal");
  kept.finish();
  EXPECT_EQ(log(), "terminal\n");
}

TEST_F(OutputLogTest, IsReadableForTheUserAlone) {
  const mode_t before = umask(0);
  OutputLog kept(options());
  run("echo secret");
  kept.finish();
  umask(before);
  for (const char* name : {"log", "times"}) {
    struct stat facts = {};
    ASSERT_EQ(stat((folder_ / name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(OutputLogTest, GivesACopy) {
  const int copy = open((folder_ / "copy").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  OutputLog kept(options(copy));
  run("echo hello");
  kept.finish();
  close(copy);
  EXPECT_EQ(test::read_file(folder_ / "copy"), "hello\n");
}

TEST_F(OutputLogTest, GivesTheStandardOutputBack) {
  struct stat before = {};
  struct stat during = {};
  struct stat after = {};
  ASSERT_EQ(fstat(STDOUT_FILENO, &before), 0);
  {
    const OutputLog kept(options());
    fstat(STDOUT_FILENO, &during);
  }
  fstat(STDOUT_FILENO, &after);
  EXPECT_EQ(std::tuple(before.st_dev, before.st_ino), std::tuple(after.st_dev, after.st_ino));
  EXPECT_NE(std::tuple(before.st_dev, before.st_ino), std::tuple(during.st_dev, during.st_ino));
  EXPECT_EQ(log(), "") << "a program that prints nothing has an empty log";
}

TEST_F(OutputLogTest, TakesMoreThanATerminalHolds) {
  OutputLog kept(options());
  run("i=0; while [ $i -lt 5000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done");
  EXPECT_EQ(kept.finish(), "");
  EXPECT_EQ(log().size(), 5000U * 41U);
  EXPECT_EQ(lines().size(), 5000U);
}

// What a program left behind, and still prints, does not keep us.
TEST_F(OutputLogTest, DoesNotWaitForThoseLeftBehind) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // the process that stays ends when this end is closed
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  OutputLog kept(options());
  const std::string stays = "echo first; (read x <&" + std::to_string(ends[0]) + "; echo late) & ";
  run(stays.c_str());
  EXPECT_EQ(kept.finish(), "");
  EXPECT_EQ(log(), "first\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(OutputLogTest, AFolderThatIsNotThereDisturbsNobody) {
  OutputLogOptions nowhere = options();
  nowhere.log = folder_ / "none/log";
  OutputLog kept(nowhere);
  run("echo on");
  EXPECT_NE(kept.finish().find("none/log"), std::string::npos);
}

}  // namespace
}  // namespace swinscope
