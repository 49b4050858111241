// The options of `swinscope record` that say what of CUDA is recorded and when, and `swinscope trigger`: whole programs
// over a fabricated CUPTI.
#include <array>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::Process;
using test::program;
using test::Sqlite;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Strings = std::vector<std::string>;

class RecordWindow : public ::testing::Test {
 protected:
  Strings record(const Strings& options, const char* mode) const {
    Strings command = {SWINSCOPE_PROGRAM, "record", "-q", "-o", folder_.string()};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", program("cuda_program"), mode});
    return command;
  }
  static std::vector<std::pair<std::string, std::string>> variables() {
    return {{"SWINSCOPE_CUPTI", program("libfake_cupti_library.so")}};
  }
  // The steps of which kernels were recorded, each with how many of them have their launch.
  Strings steps_with(const Strings& options) {
    EXPECT_EQ(Process(record(options, "steps"), variables()).wait(), 7);
    return Sqlite(file()).values(
        "SELECT dynamicSharedMemory || ': ' || count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN "
        "CUPTI_ACTIVITY_KIND_RUNTIME "
        "USING (correlationId) GROUP BY dynamicSharedMemory ORDER BY dynamicSharedMemory");
  }
  static std::string result(const Strings& command) {
    Process run(command, {}, [] { dup2(STDOUT_FILENO, STDERR_FILENO); });
    const int status = run.wait();
    return std::to_string(status) + " " + run.output();
  }
  std::string trigger() const { return result({SWINSCOPE_PROGRAM, "trigger", folder_.string()}); }
  test::fs::path file() const { return folder_ / "rank0.db"; }
  std::string activity() const {
    return Sqlite(file()).value("SELECT value FROM SWINSCOPE_COLLECTOR WHERE name = 'cuda.activity'");
  }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
  const Strings hot_ = {"5: 10", "6: 10", "7: 10", "8: 10"};
};

TEST_F(RecordWindow, WithoutOneEverythingIsRecorded) {
  EXPECT_THAT(steps_with({}), ElementsAre("0: 10", "1: 10", "2: 10", "3: 10", "4: 10", "5: 10", "6: 10", "7: 10",
                                          "8: 10", "9: 10", "10: 10", "11: 10"));
  EXPECT_EQ(activity(), "recorded: cuda,nvtx");
}

TEST_F(RecordWindow, Steps) {
  EXPECT_EQ(steps_with({"--steps", "5:9"}), hot_);
  EXPECT_EQ(activity(), "recorded: cuda,nvtx in the window steps:5:9");
  // Ranges tell where the window lies: they are all there.
  EXPECT_EQ(Sqlite(file()).value("SELECT count(*) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS "
                                 "n LEFT JOIN StringIds s ON s.id = n.textId) WHERE value LIKE 'step %'"),
            "12");
  EXPECT_THAT(
      Sqlite(file()).values("SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT "
                            "JOIN StringIds s ON s.id = n.textId) n JOIN SWINSCOPE_WINDOW w "
                            "ON n.start >= w.start AND n.end <= w.end WHERE value LIKE 'step %' ORDER BY n.start"),
      ElementsAre("step 5", "step 6", "step 7", "step 8"));
}

TEST_F(RecordWindow, ARangeOfAName) { EXPECT_EQ(steps_with({"--capture-range", "nvtx:hot"}), hot_); }

TEST_F(RecordWindow, TheProfilerCalls) { EXPECT_EQ(steps_with({"--capture-range", "cudaProfilerApi"}), hot_); }

TEST_F(RecordWindow, OneThatDoesNotOpenIsSaid) {
  EXPECT_THAT(steps_with({"--steps", "50:60"}), IsEmpty());
  EXPECT_EQ(activity(), "not recorded: the window did not open: steps:50:60");
}

TEST_F(RecordWindow, WithoutCudaOnlyRanges) {
  EXPECT_THAT(steps_with({"--trace", "nvtx"}), IsEmpty());
  EXPECT_EQ(Sqlite(file()).value("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), "13");
  EXPECT_EQ(activity(), "left out: --trace nvtx");
  EXPECT_THAT(
      result({SWINSCOPE_PROGRAM, "analyze", folder_.string()}),
      StartsWith("0 what bounds the time is not known: the program used CUDA, which was left out: --trace nvtx\n"));
}

TEST_F(RecordWindow, RunsWithoutCudaActivityStillCountInGpus) {
  steps_with({"--trace", "nvtx"});
  const std::string experiment = (temp_ / "e").string();
  const std::string run = folder_.string();
  EXPECT_THAT(result({SWINSCOPE_PROGRAM, "join", "-o", experiment, "gpus=1:" + run}),
              AllOf(StartsWith("0 "), HasSubstr(" per step with 1 GPU\n")));
}

TEST_F(RecordWindow, ArmedTriggeredAndTriggeredAgain) {
  Process run(record({"--armed"}, "until"), variables());
  ASSERT_TRUE(run.wait_for("ready"));
  EXPECT_EQ(trigger(), "0 swinscope: " + folder_.string() + ": CUDA is recorded from now on\n");
  ASSERT_TRUE(run.wait_for("open"));
  EXPECT_EQ(trigger(), "0 swinscope: " + folder_.string() + ": CUDA is not recorded any more\n");
  EXPECT_EQ(run.wait(), 7);
  Sqlite db(file());
  // One stretch of the numbers, without a hole.
  EXPECT_EQ(db.value("SELECT count(*) = max(dynamicSharedMemory) - min(dynamicSharedMemory) + 1 AND count(*) > 0 FROM "
                     "CUPTI_ACTIVITY_KIND_KERNEL"),
            "1");
  EXPECT_EQ(activity(), "recorded: cuda,nvtx in the window armed");
  EXPECT_THAT(test::names_in(folder_), ElementsAre("rank0.db", "record.db", "run.json"));
}

TEST_F(RecordWindow, ARecordingThatWasNotTriggeredSaysSo) {
  EXPECT_THAT(steps_with({"--armed"}), IsEmpty());
  EXPECT_EQ(activity(), "not recorded: the window did not open: armed");
}

// The program goes on until recording has ended: it ends only when the option ends it.
TEST_F(RecordWindow, ADurationEndsIt) {
  EXPECT_EQ(Process(record({"--duration", "0.05"}, "until"), variables()).wait(), 7);
  EXPECT_EQ(Sqlite(file()).value("SELECT min(dynamicSharedMemory) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "0");
}

TEST_F(RecordWindow, ASizeEndsIt) {
  EXPECT_EQ(Process(record({"--max-size", "1M"}, "until"), variables()).wait(), 7);
  Sqlite db(file());
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(db.value("SELECT min(dynamicSharedMemory) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "0");
}

TEST_F(RecordWindow, OptionsThatMakeNoSenseAreRefusedBeforeAnythingRuns) {
  const std::pair<Strings, const char*> cases[] = {{{"--steps", "9"}, "--steps 9: not understood"},
                                                   {{"--steps", "9:3"}, "--steps 9:3: not understood"},
                                                   {{"--capture-range", "hot"}, "--capture-range hot: not understood"},
                                                   {{"--trace", "cuda,osrt"}, "--trace cuda,osrt: \"osrt\" is unknown"},
                                                   {{"--steps", "1:2", "--armed"}, "--armed"},
                                                   {{"--cuda-graph-trace", "deep"}, "--cuda-graph-trace"},
                                                   {{"--duration", "-1"}, "--duration"},
                                                   {{"--max-size", "much"}, "--max-size"},
                                                   {{"--max-size", "200K"}, "--max-size 204800: too small"},
                                                   {{"--rotate"}, "--rotate: of what size is not said"}};
  for (const auto& [options, message] : cases) {
    const std::string said = result(record(options, "steps"));
    EXPECT_THAT(said, StartsWith("2 ")) << message;
    EXPECT_THAT(said, HasSubstr(message));
    EXPECT_FALSE(test::fs::exists(folder_)) << message;
  }
}

TEST_F(RecordWindow, ATriggerNeedsARun) {
  const std::string said = trigger();
  EXPECT_THAT(said, StartsWith("2 error: " + folder_.string() + ": no run is being recorded there"));
  EXPECT_THAT(said, HasSubstr("hint: start one with `swinscope record --armed -o RUN -- COMMAND`"));
}

TEST_F(RecordWindow, ATriggerNeedsARecordingThatListens) {
  steps_with({"--armed"});
  EXPECT_THAT(trigger(), StartsWith("2 error: " + folder_.string() + ": the recording has ended"));
  EXPECT_FALSE(test::fs::exists(folder_ / "trigger"));
  const auto host = [] {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return std::string(name.data());
  };
  // As of one that runs, but is not armed; that was killed; and that another version made.
  const auto trigger_of = [&](const std::string& members) {
    std::ofstream(folder_ / "run.json") << R"({"schema": "swinscope.run/1", "end_utc_ns": null)" << members << "}";
    return trigger();
  };
  EXPECT_THAT(trigger_of(R"(, "host": "elsewhere", "window": "steps:1:2", "recorder": {"pid": 1, "start_ticks": 1})"),
              AllOf(StartsWith("2 error: "), HasSubstr("the recording is not armed"), HasSubstr("steps:1:2")));
  EXPECT_THAT(
      trigger_of(R"(, "host": ")" + host() + R"(", "window": "armed", "recorder": {"pid": 1, "start_ticks": 1})"),
      AllOf(StartsWith("2 error: "), HasSubstr("its recorder was killed")));
  EXPECT_THAT(trigger_of(""), AllOf(StartsWith("2 error: "), HasSubstr("nothing tells whether")));
}

}  // namespace
}  // namespace swinscope
