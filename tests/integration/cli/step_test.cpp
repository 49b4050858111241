// scale --step: programs that mark their steps in any way, and those that do not; launchers and their lines.
#include <algorithm>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Steps : public CliTest {
 protected:
  // Told so Python prints by words, which would mix with those of other ranks.
  Steps() { options_.environment.emplace_back("PYTHONUNBUFFERED=1"); }

  ProgramResult scale(const std::vector<std::string>& options, const std::vector<std::string>& command) const {
    return run(joined(joined({"scale", "--cpus-only", "--repeat", "1", "-o", "e"}, options), joined({"--"}, command)));
  }
  // The JSON of an experiment with 1 and 2 ranks.
  nlohmann::json measured(const std::vector<std::string>& options, const std::vector<std::string>& command) const {
    const ProgramResult result = scale(joined({"--gpus", "1,2", "--format", "json"}, options), command);
    EXPECT_EQ(result.status, 0) << result.err;
    nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.out;
    return json.value("data", nlohmann::json());
  }
  // The same of lines that came one after the other, 5 ms apart, each rank's of a step before those of the next: on a
  // busy machine several wait to be read, and one rank may have ended before the other begins, which is no business of
  // these tests.
  nlohmann::json measured_by_lines(const std::vector<std::string>& options,
                                   const std::vector<std::string>& command) const {
    measured(options, command);
    for (const std::string point : {"gpus1", "gpus2"})
      put_in_order("e/" + point + "/timing1/stdout");
    return run_json({"analyze", "e"})["data"];
  }
  void put_in_order(const std::string& file) const {
    const std::string text = read_file(folder() / (file + ".log"));
    std::istringstream recorded(read_file(folder() / (file + ".times")));  // by line: time, place, bytes
    std::vector<std::pair<int, std::string>> lines;
    std::int64_t first_ns = 0;
    std::int64_t time_ns = 0;
    std::size_t place = 0;
    std::size_t bytes = 0;
    while (recorded >> time_ns >> place >> bytes) {
      if (lines.empty()) first_ns = time_ns;
      const std::string line = text.substr(place, bytes);
      std::smatch step;
      const bool is_step = std::regex_search(line, step, std::regex("(^step |done=)([0-9]+)"));
      lines.emplace_back(is_step ? std::stoi(step[2]) : -1, line);
    }
    std::ranges::stable_sort(lines, {}, &std::pair<int, std::string>::first);
    std::string ordered;
    std::string times;
    for (const auto& [step, line] : lines) {
      times +=
          std::to_string(first_ns) + ' ' + std::to_string(ordered.size()) + ' ' + std::to_string(line.size()) + '\n';
      ordered += line + '\n';
      first_ns += 5'000'000;
    }
    write(file + ".log", ordered);
    write(file + ".times", times);
  }
  static void expect_points(const nlohmann::json& data, const std::string& rule, const std::string& how, int steps) {
    EXPECT_EQ(data["step_rule"], rule);
    ASSERT_EQ(data["point_steps"].size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(data["point_steps"][i]["found_by"], how);
      EXPECT_EQ(data["point_steps"][i]["steps"], steps);
      EXPECT_EQ(data["points"][i]["gpus"], i + 1);
      EXPECT_GT(data["points"][i]["step_ns"], 0);
      EXPECT_GT(data["points"][i]["efficiency"], 0);
    }
  }
  void write_program(const std::string& name, const std::string& text) const {
    write(name, text);
    fs::permissions(folder() / name, fs::perms::owner_all);
  }
};

TEST_F(Steps, OfACProgramThatPrints) {
  const auto data = measured_by_lines({"--warmup-steps", "2"}, {SWINSCOPE_PRINTING_PROGRAM, "12"});
  // 12 lines end 11 known steps, of which 2 are warm-up. On a pipe stdio would print them all at the end.
  expect_points(data, "stdout:^step ([0-9]+) residual", "stdout lines \"step N residual N\"", 9);
  EXPECT_TRUE(data["point_steps"][0]["spread_percent"].is_number());
  // The rule is kept with the experiment and each of its points, and holds for the traced run, too.
  for (const char* file : {"e/experiment.json", "e/gpus2/point.json"}) {
    const auto json = nlohmann::json::parse(read_file(folder() / file));
    EXPECT_EQ(json["step"], "stdout:^step ([0-9]+) residual");
  }
  const auto point = nlohmann::json::parse(read_file(folder() / "e/gpus2/point.json"));
  EXPECT_EQ(point["step_found_by"], "stdout lines \"step N residual N\"");
  EXPECT_EQ(point["complete"], true);
  EXPECT_THAT(run({"analyze", "e"}).out, HasSubstr("step by stdout lines \"step N residual N\": 9 steps, spread "));
}

TEST_F(Steps, WhatTheProgramPrintsIsKept) {
  const ProgramResult result = scale({"--gpus", "1", "--no-trace"}, {SWINSCOPE_PRINTING_PROGRAM, "8"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("residual 0"))) << "our standard output is ours";
  EXPECT_THAT(result.err, Not(HasSubstr("residual 0"))) << "no terminal";
  const fs::path log = folder() / "e/gpus1/timing1/stdout.log";
  EXPECT_THAT(read_file(log), AllOf(StartsWith("starting 8 steps\nstep 1 residual 1.000\n"), HasSubstr("step 8 ")));
  for (const char* name : {"stdout.log", "stdout.times"}) {
    struct stat facts = {};
    ASSERT_EQ(stat((log.parent_path() / name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  }
}

TEST_F(Steps, ALineEveryFewSteps) {
  const auto data = measured_by_lines({"--no-trace"}, {SWINSCOPE_PRINTING_PROGRAM, "24", "4"});
  // Steps 4, 8, … 24: the first line ends an unknown time, the second one the warm-up of 2; 16 are left.
  expect_points(data, "stdout:^step ([0-9]+) residual", "stdout lines \"step N residual N\"", 16);
}

TEST_F(Steps, OfAPythonLoop) {
  write("loop.py",
        "for i in range(10):\n"
        "    sum(range(300000))\n"
        "    print('step', i, 'loss', 1 / (i + 1))\n");
  const auto data = measured_by_lines({"--no-trace"}, {"python3", "loop.py"});
  expect_points(data, "stdout:^step ([0-9]+) loss", "stdout lines \"step N loss N\"", 7);
}

TEST_F(Steps, ByAnExpressionOfTheUser) {
  write("loop.py",
        "import os\n"
        "for i in range(10):\n"
        "    sum(range(300000))\n"
        "    print(f'<{os.environ[\"RANK\"]}> done={i:04d}')\n"
        "    print(f'decoy {i * 7}')\n");
  const auto data = measured_by_lines({"--no-trace", "--step", "stdout:done=(\\d+)"}, {"python3", "loop.py"});
  expect_points(data, "stdout:done=(\\d+)", "stdout lines \"<N> done=N\"", 7);

  const ProgramResult none = run({"scale", "--cpus-only", "--gpus", "1", "--step", "stdout:nothing ([0-9]+)", "-o", "n",
                                  "--", "python3", "loop.py"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("none of its 20 lines matches"), HasSubstr("--step whole-run")));
}

TEST_F(Steps, BufferedOutputIsRefusedWithTheReason) {
  const ProgramResult result = scale({"--gpus", "1"}, {SWINSCOPE_PRINTING_PROGRAM, "12", "1", "buffered"});
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("11 of 12 lines came at once"), HasSubstr("buffers its output")));
}

TEST_F(Steps, RangesOfAnyNameAndDomain) {
  const auto data = measured({}, {SWINSCOPE_STEPS_PROGRAM, "8", "work #", "somelib"});
  expect_points(data, "nvtx:^work [0-9]+$", "NVTX ranges \"work N\"", 6);
  // A run of the experiment has the experiment's steps, however it is named.
  for (const char* path : {"e/gpus2/tracing", "e/gpus2", "e/gpus2/tracing/rank0.db"}) {
    const auto steps = run_json({"analyze", path})["data"]["steps"];
    ASSERT_GE(steps.size(), 1U) << path;
    EXPECT_EQ(steps[0]["steps"], 6) << path;
  }
}

TEST_F(Steps, AnnotatedRangesComeFirst) {
  for (const char* name : {"iteration", "train_step", "Step #", "batch #"}) {
    fs::remove_all(folder() / "e");
    const auto data = measured({"--no-trace"}, {SWINSCOPE_STEPS_PROGRAM, "6", name, "lib"});
    EXPECT_EQ(data["step_rule"], "annotated") << name;
    EXPECT_EQ(data["point_steps"][1]["steps"], 4) << name;
  }
}

TEST_F(Steps, ByTheNameOfRanges) {
  write("both.sh", SWINSCOPE_STEPS_PROGRAM " 5 step\nexec " SWINSCOPE_STEPS_PROGRAM " 7 inner#\n");
  const auto data = measured({"--no-trace", "--step", "nvtx:^inner\\d+$"}, {"sh", "both.sh"});
  expect_points(data, "nvtx:^inner\\d+$", "NVTX ranges \"innerN\"", 5);
}

TEST_F(Steps, OfAWholeRun) {
  write("quiet.sh", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done\n");
  const ProgramResult result = scale({"--gpus", "1"}, {"sh", "quiet.sh"});
  EXPECT_EQ(result.status, 2) << "it has to be asked for";
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("e/gpus1/timing1 has no steps"), HasSubstr("it pushes no NVTX ranges"),
                    HasSubstr("prints no lines"), HasSubstr("pip install nvtx"), HasSubstr("nvtx.push_range(\"step\")"),
                    HasSubstr("nvtxRangePushA(\"step\")"), HasSubstr("--step whole-run")));
  EXPECT_THAT(result.err, Not(HasSubstr("[2/"))) << "the first run shows it";

  const auto data = measured({"--step", "whole-run"}, {"sh", "quiet.sh"});
  expect_points(data, "whole-run", "the whole run", 1);
  EXPECT_EQ(data["warmup_steps"], 0);
  EXPECT_TRUE(data["points"][0]["cpu_util_percent"].is_number());
}

// Nothing but kernels, one after the other: the runs that are timed record them then, which is said.
TEST_F(Steps, OfACudaProgramWithoutRanges) {
  options_.environment.emplace_back("SWINSCOPE_CUPTI=" SWINSCOPE_FAKE_CUPTI);
  options_.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");  // what a recorder has lasts as long as its process
  const std::vector<std::string> line = {"scale", "--gpus", "1", "--repeat", "2", "-o", "e"};
  const std::vector<std::string> command = {"--", SWINSCOPE_CUDA_PROGRAM, "loop"};
  const ProgramResult result = run(joined(line, command));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("once more, with the launches of CUDA recorded"),
                                HasSubstr("traced times only, tracing cost included")));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("step by the period of the kernels (the kernel sequence repeats every 3 kernels): 9"),
                    HasSubstr("as likely a layer as a step"),
                    HasSubstr("Timing runs recorded the launches of CUDA: the first one took ")));
  const auto experiment = nlohmann::json::parse(read_file(folder() / "e/experiment.json"));
  EXPECT_EQ(experiment["step"], "launches");
  EXPECT_EQ(experiment["step_asked"], "auto");

  // The same command goes on, knowing what the first run has shown.
  fs::remove_all(folder() / "e/gpus1/timing2");
  const ProgramResult again = run(joined(line, command));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("once more")));
  EXPECT_THAT(again.out, HasSubstr("Timing runs recorded the launches of CUDA"));
  const ProgramResult other = run(joined(joined(line, {"--step", "whole-run"}), command));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--step was auto, is whole-run")) << "its runs are traced ones";
}

TEST_F(Steps, AnotherRuleTakesTheRunsThatAreThere) {
  ASSERT_EQ(scale({"--gpus", "1", "--no-trace"}, {SWINSCOPE_PRINTING_PROGRAM, "10"}).status, 0);
  const std::string first = read_file(folder() / "e/gpus1/timing1/run.json");
  const ProgramResult again =
      scale({"--gpus", "1", "--no-trace", "--step", "whole-run"}, {SWINSCOPE_PRINTING_PROGRAM, "10"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("step by the whole run: 1 step"));
  EXPECT_EQ(read_file(folder() / "e/gpus1/timing1/run.json"), first);
}

TEST_F(Steps, ARuleThatIsNoneIsRefusedBeforeAnythingRuns) {
  for (const auto& [rule, said] : {std::pair("iteration", "--step nvtx:iteration"),
                                   {"stdout:", "stdout:step"},
                                   {"nvtx:(", "not a regular expression"}}) {
    const ProgramResult result = scale({"--gpus", "1", "--step", rule}, {"true"});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_FALSE(fs::exists(folder() / "e"));
  }
}

TEST_F(Steps, APointThatIsNotCompleteIsShownAsSuch) {
  // The third run is interrupted.
  write("rank.sh", "echo >> runs; [ $(wc -l < runs) -lt 3 ] || exit 130; exec " SWINSCOPE_STEPS_PROGRAM " 5\n");
  EXPECT_EQ(run({"scale", "--cpus-only", "--gpus", "1", "--repeat", "3", "-o", "e", "--", "sh", "rank.sh"}).status,
            130);
  const ProgramResult result = run({"analyze", "e"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("1 rank: incomplete, 2 of 4 runs are there"), HasSubstr("0 of 1 points are complete")));
  EXPECT_THAT(result.out, HasSubstr(" per step with 1 rank"));
  const auto point = nlohmann::json::parse(read_file(folder() / "e/gpus1/point.json"));
  EXPECT_EQ(point["complete"], false);
  EXPECT_EQ(run({"report", "e", "-o", "e.html"}).status, 0);
}

// Launchers, played by scripts that write down their arguments and start the ranks as they are told.
class Launchers : public Steps {
 protected:
  Launchers() {
    fs::create_directory(folder() / "bin");
    for (const char* name : {"torchrun", "mpirun", "srun"}) {
      write_program(std::string("bin/") + name,
                    "#!/bin/sh\necho $(basename $0) \"$@\" > arguments\nexec " SWINSCOPE_PROGRAM
                    " launch --ranks $2 -- " SWINSCOPE_STEPS_PROGRAM " 5\n");
    }
    write("train.py", "");
    write_program("self.py", "#!/usr/bin/env python3\n");
    options_.environment.push_back("PATH=" + (folder() / "bin").string() + ":/usr/local/bin:/usr/bin:/bin");
  }
  // What the launcher was told.
  std::string line_of(const std::string& launcher, const std::vector<std::string>& command,
                      const std::vector<std::string>& more = {}) const {
    fs::remove_all(folder() / "e");
    const ProgramResult result = scale(joined({"--gpus", "2", "--no-trace", "--launcher", launcher}, more), command);
    EXPECT_EQ(result.status, 0) << result.err;
    std::string line = read_file(folder() / "arguments");
    line.pop_back();
    return line;
  }
};

TEST_F(Launchers, TorchrunRunsPythonByItself) {
  const std::string begin = "torchrun --nproc_per_node 2 ";
  EXPECT_EQ(line_of("torchrun", {"train.py", "--lr", "1"}), begin + "train.py --lr 1");
  EXPECT_EQ(line_of("torchrun", {"./train.py"}), begin + "./train.py");
  EXPECT_EQ(line_of("torchrun", {"python3", "train.py", "-x"}), begin + "train.py -x");
  EXPECT_EQ(line_of("torchrun", {"python3", "-u", "-m", "pkg.mod", "a"}), begin + "-m pkg.mod a");
  EXPECT_EQ(line_of("torchrun", {"-m", "pkg.mod"}), begin + "-m pkg.mod");
  EXPECT_EQ(line_of("torchrun", {"python3", "-O", "train.py"}), begin + "--no-python python3 -O train.py");
  EXPECT_EQ(line_of("torchrun", {"/bin/true", "x"}), begin + "--no-python /bin/true x");
  EXPECT_EQ(line_of("torchrun", {"train.py"}, {"--launcher-args=--standalone --max-restarts 0"}),
            begin + "--standalone --max-restarts 0 train.py");
  const ProgramResult unclosed =
      scale({"--gpus", "1", "--launcher", "torchrun", "--launcher-args=-x 'A"}, {"train.py"});
  EXPECT_EQ(unclosed.status, 2);
  EXPECT_THAT(unclosed.err, AllOf(HasSubstr("--launcher-args -x 'A: cannot be split"), HasSubstr("a ' is not closed")));
}

TEST_F(Launchers, OthersNeedTheInterpreter) {
  const std::string python =
      run_program({"sh", "-c", "command -v python >/dev/null && printf python || printf python3"}, options_).out;
  EXPECT_EQ(line_of("mpirun", {"train.py", "a"}), "mpirun -n 2 " + python + " train.py a");
  EXPECT_EQ(line_of("mpirun", {"-m", "pkg.mod"}), "mpirun -n 2 " + python + " -m pkg.mod");
  EXPECT_EQ(line_of("mpirun", {"./self.py"}), "mpirun -n 2 ./self.py");
  EXPECT_EQ(line_of("srun", {"python3", "-m", "pkg.mod"}), "srun -n 2 python3 -m pkg.mod");
  EXPECT_EQ(line_of("srun", {"/bin/true"}), "srun -n 2 /bin/true");
}

TEST_F(Launchers, WhatIsNotThereIsNamed) {
  const auto refused = [&](const std::string& launcher, const std::vector<std::string>& command) {
    const ProgramResult result = scale({"--gpus", "1", "--launcher", launcher}, command);
    EXPECT_EQ(result.status, 127);
    EXPECT_THAT(result.err, Not(HasSubstr("[1/"))) << "nothing was run";
    return result.err;
  };
  EXPECT_THAT(refused("torchrun", {"missing.py"}), HasSubstr("missing.py: no such script"));
  EXPECT_THAT(refused("torchrun", {"python3", "missing.py"}), HasSubstr("missing.py: no such script"));
  EXPECT_THAT(refused("mpirun", {"./missing"}), HasSubstr("./missing: no such command"));
  fs::remove(folder() / "bin/srun");
  EXPECT_THAT(refused("srun", {"/bin/true"}),
              AllOf(HasSubstr("--launcher srun: there is no srun"), HasSubstr("Slurm")));
  EXPECT_EQ(scale({"--gpus", "1", "--launcher", "jsrun"}, {"true"}).status, 2);
}

TEST_F(Launchers, TheirFailuresComeWithAdvice) {
  write_program("bin/mpirun", "#!/bin/sh\necho 'not enough slots' >&2\nexit 1\n");
  const ProgramResult result = scale({"--gpus", "2", "--launcher", "mpirun"}, {"/bin/true"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("not enough slots"), HasSubstr("--launcher-args=--oversubscribe")));
}

}  // namespace
}  // namespace swinscope::tests
