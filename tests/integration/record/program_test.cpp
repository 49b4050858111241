// `swinscope record` and `swinscope launch` as a user calls them.
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::Process;
using test::program;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Program : public ::testing::Test {
 protected:
  static std::vector<std::string> swinscope(std::vector<std::string> arguments,
                                            const std::vector<std::string>& command) {
    arguments.insert(arguments.begin(), SWINSCOPE_PROGRAM);
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
  }
  // Its exit status, then all that it wrote.
  static std::string result(const std::vector<std::string>& command) {
    Process run(command, {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
    const int status = run.wait();
    return std::to_string(status) + " " + run.output();
  }

  std::vector<std::string> record(const std::vector<std::string>& command) const {
    return swinscope({"record", "-o", folder_.string()}, command);
  }
  static std::vector<std::string> launch(int ranks, const std::vector<std::string>& command,
                                         const std::string& grace_s = "600") {
    return swinscope({"launch", "--ranks", std::to_string(ranks), "--grace", grace_s}, command);
  }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
};

using Record = Program;
using Launch = Program;

TEST_F(Record, SaysWhereTheRunIsAndReturnsTheCommandsStatus) {
  const std::string said = result(record({program("nvtx_program")}));
  EXPECT_EQ(said, "42 swinscope: recorded " + folder_.string() + "; look at it with: swinscope analyze " +
                      folder_.string() + "\n");
  EXPECT_THAT(test::names_in(folder_), ElementsAre("rank0.db", "record.db", "run.json"));
}

TEST_F(Record, ACommandThatCannotBeStarted) {
  EXPECT_EQ(result(record({"no-such-command"})),
            "127 error: no-such-command: no such command\n  cause: it is in none of the folders of PATH\n"
            "  hint: check the spelling; a program in this folder is named ./no-such-command\n");
  test::write_file(temp_ / "plain", "text");
  const std::string said = result(record({(temp_ / "plain").string()}));
  EXPECT_THAT(said, ::testing::StartsWith("126 error: "));
  EXPECT_THAT(said, HasSubstr("\n  cause: it is a folder or has no execute permission\n  hint: chmod +x "));
  EXPECT_FALSE(test::fs::exists(folder_));
}

TEST_F(Record, ARunIsReplacedWithForceOnly) {
  ASSERT_EQ(Process(swinscope({"record", "-q", "-o", folder_.string()}, {program("nvtx_modes"), "atexit"})).wait(), 0);
  const std::string said = result(record({"true"}));
  EXPECT_THAT(said,
              ::testing::StartsWith("2 error: " + folder_.string() + ": the folder already holds a run\n  cause: "));
  EXPECT_THAT(said, HasSubstr("--force"));
  EXPECT_TRUE(test::fs::exists(folder_ / "rank0.db"));
  EXPECT_EQ(Process(swinscope({"record", "-q", "--force", "-o", folder_.string()}, {"true"})).wait(), 0);
  EXPECT_THAT(test::names_in(folder_), ElementsAre("record.db", "run.json"));
}

TEST_F(Launch, EveryRankKnowsItsPlace) {
  Process run(launch(4, {"sh", "-c",
                         "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR; echo $MASTER_PORT >&2"}),
              {}, [&] { dup2(open((temp_ / "ports").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), STDERR_FILENO); });
  EXPECT_EQ(run.wait(), 0);
  std::vector<std::string> lines;
  std::istringstream output(run.output());
  for (std::string line; std::getline(output, line);)
    lines.push_back(line);
  EXPECT_THAT(lines,
              UnorderedElementsAre("0 0 4 4 127.0.0.1", "1 1 4 4 127.0.0.1", "2 2 4 4 127.0.0.1", "3 3 4 4 127.0.0.1"));
  std::istringstream ports(test::read_file(temp_ / "ports"));
  const std::vector<int> all(std::istream_iterator<int>(ports), {});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_GT(all.front(), 0);
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), 1U);
}

// Without the launcher's help the others would sleep for an hour.
TEST_F(Launch, WhenARankIsKilledTheOthersEnd) {
  EXPECT_EQ(result(launch(4, {"sh", "-c", "[ $RANK = 2 ] && kill -9 $$; exec sleep 3600"})),
            "137 error: rank 2 of 4 was killed by signal 9\n");
}

TEST_F(Launch, ARankThatDoesNotEndByItselfIsMadeTo) {
  const std::string ready = (temp_ / "ready").string();
  EXPECT_EQ(result(launch(2,
                          {"sh", "-c",
                           "if [ $RANK = 0 ]; then trap '' TERM; : >\"$0\"; exec sleep 3600; fi; "
                           "until [ -e \"$0\" ]; do sleep 0.01; done; exit 3",
                           ready},
                          "0.1")),
            "3 error: rank 1 of 2 ended with status 3\n");
}

TEST_F(Launch, SignalsGoToTheRanks) {
  for (const auto& [to_group, signal] : std::vector<std::pair<bool, int>>{{false, SIGTERM}, {true, SIGINT}}) {
    Process run(launch(2, {"sh", "-c", "echo $RANK; exec sleep 3600"}));
    ASSERT_TRUE(run.wait_for("0\n"));
    ASSERT_TRUE(run.wait_for("1\n"));
    ASSERT_EQ(kill(to_group ? -run.pid() : run.pid(), signal), 0);
    EXPECT_EQ(run.wait(), 128 + signal);
  }
}

TEST_F(Launch, ACommandThatCannotBeStarted) {
  EXPECT_THAT(result(launch(4, {"no-such-command"})), ::testing::StartsWith("127 error: no-such-command: no such "));
  EXPECT_THAT(result(launch(4, {temp_.path().string()})), ::testing::StartsWith("126 error: "));
}

TEST_F(Launch, UnderRecordEachRankHasItsFile) {
  Process run(record(launch(2, {program("nvtx_modes"), "atexit"})));
  EXPECT_EQ(run.wait(), 0);
  test::expect_finished(folder_);
  EXPECT_THAT(test::names_in(folder_), ElementsAre("rank0.db", "rank1.db", "record.db", "run.json"));
  for (const char* rank : {"0", "1"}) {
    test::Sqlite db(folder_ / ("rank" + std::string(rank) + ".db"));
    EXPECT_THAT(db.values("SELECT rank, worldSize FROM SWINSCOPE_RUN"), ElementsAre(rank, "2"));
  }
}

// A fault of rank 1 -> what the user sees. What every rank had emitted by then is kept, in files that are whole.
struct JobFault {
  const char* name;
  const char* rank_1;  // a shell's words; rank 0 computes for an hour, and has begun
  int status;
  const char* said;
};

class LaunchFault : public Launch, public ::testing::WithParamInterface<JobFault> {};

TEST_P(LaunchFault, IsSaidAndWhatWasRecordedIsKept) {
  const std::string script =
      R"(if [ $RANK = 0 ]; then exec "$0" 3600 1000 >"$2"; fi; until [ -s "$2" ]; do sleep 0.01; done; )" +
      std::string(GetParam().rank_1);
  const std::string said = result(record(
      launch(2, {"sh", "-c", script, program("steady_program"), program("host_programs"), temp_ / "begun"}, "0.1")));
  EXPECT_THAT(said, ::testing::StartsWith(std::to_string(GetParam().status) + " "));
  EXPECT_THAT(said, HasSubstr(GetParam().said));
  test::expect_finished(folder_);
  EXPECT_THAT(test::names_in(folder_), ElementsAre("rank0.db", "rank1.db", "record.db", "run.json"));
  for (const auto& file : test::rank_files(folder_))
    EXPECT_GT(std::stol(test::Sqlite(file).value("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")), 0) << file;
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, LaunchFault,
    ::testing::Values(JobFault{"Killed", "exec \"$1\" signal.SIGKILL", 137, "rank 1 of 2 was killed by signal 9"},
                      JobFault{"Crashed", "exec \"$1\" end.bad_address", 139, "rank 1 of 2 was killed by signal 11"},
                      JobFault{"Aborted", "exec \"$1\" end.abort", 134, "rank 1 of 2 was killed by signal 6"},
                      JobFault{"Failed", "exec \"$1\" exec.end", 26, "rank 1 of 2 ended with status 26"}),
    [](const auto& row) { return row.param.name; });

// NCCL's timeout: a rank stands in a collective, the other one waits for it and is aborted by its watchdog. Which
// collective it was, and who had not got through its call, is in the files.
TEST_F(Launch, ACollectiveThatStandsStillIsInTheFiles) {
  const std::vector<std::string> job =
      launch(2, {program("nccl_program"), "5", "standstill", (temp_ / "begun").string()}, "0.1");
  const std::string said = result(swinscope({"record", "--trace", "nvtx,nccl", "-o", folder_.string()}, job));
  EXPECT_THAT(said, ::testing::StartsWith("134 "));
  EXPECT_THAT(said, HasSubstr("rank 0 of 2 was killed by signal 6"));
  test::expect_finished(folder_);
  const auto unfinished = [&](const char* file) {
    return test::Sqlite(folder_ / file)
        .values(
            "SELECT seq || iif(end IS NULL, ' within the call', ' on the GPU') FROM SWINSCOPE_NCCL_OPERATION "
            "WHERE operationId NOT IN (SELECT operationId FROM SWINSCOPE_NCCL_CHANNEL)");
  };
  EXPECT_THAT(unfinished("rank0.db"), ElementsAre("2 on the GPU"));
  EXPECT_THAT(unfinished("rank1.db"), ElementsAre("2 within the call"));
}

}  // namespace
}  // namespace swinscope
