// scale, sweep and join on a program that marks its steps.
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class Scale : public CliTest {
 protected:
  static std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  // `swinscope scale <options> -- steps_program <arguments>`
  ProgramResult scale(const std::vector<std::string>& options, const std::vector<std::string>& arguments) const {
    return run(joined(joined({"scale", "--cpus-only"}, options), joined({"--", SWINSCOPE_STEPS_PROGRAM}, arguments)));
  }
  std::string csv(const std::string& experiment) const { return run({"analyze", experiment, "--format", "csv"}).out; }
  std::string content(const fs::path& file) const { return read_file(folder() / file); }
};

TEST_F(Scale, MeasuresEveryPoint) {
  const ProgramResult result = scale(
      {"--gpus", "1,2", "--repeat", "2", "--images-per-step", "4", "--images", "100", "--format", "json", "-o", "e"},
      {"5"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[6/6] gpus=2 tracing"));
  const auto json = nlohmann::json::parse(result.out);
  const auto& rows = json["data"]["points"];
  ASSERT_EQ(rows.size(), 2U) << result.out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto gpus = static_cast<std::int64_t>(i) + 1;
    EXPECT_EQ(rows[i]["gpus"], gpus);
    EXPECT_EQ(rows[i]["repeats"], 2);
    EXPECT_EQ(rows[i]["steps"], 3) << "two are warm-up";
    EXPECT_EQ(rows[i]["images_per_step"], 4 * gpus);
    EXPECT_EQ(rows[i]["train_time_ns"], (i == 0 ? 25 : 13) * rows[i]["step_ns"].get<std::int64_t>());
    EXPECT_DOUBLE_EQ(rows[i]["efficiency"].get<double>(),
                     rows[0]["step_ns"].get<double>() / rows[i]["step_ns"].get<double>());
    EXPECT_EQ(rows[i]["traced_only"], "no");
  }
  const auto steps = run_json({"analyze", "e/gpus2/tracing"})["data"]["steps"];
  ASSERT_EQ(steps.size(), 2U) << "one row a rank";
  EXPECT_EQ(steps[1]["steps"], 3) << "two are warm-up";
}

TEST_F(Scale, GoesOnWhereItStopped) {
  ASSERT_EQ(scale({"--gpus", "1", "--repeat", "1", "-o", "e"}, {"4"}).status, 0);
  const std::string first = content("e/gpus1/timing1/run.json");
  const ProgramResult again = scale({"--gpus", "1,2", "--repeat", "2", "-o", "e"}, {"4"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(content("e/gpus1/timing1/run.json"), first) << "it was measured again";
  EXPECT_TRUE(fs::exists(folder() / "e/gpus1/timing2/rank0.db"));
  EXPECT_TRUE(fs::exists(folder() / "e/gpus2/tracing/rank1.db"));

  EXPECT_THAT(again.err, AllOf(HasSubstr("gpus=1 repeat 1: kept"), Not(HasSubstr("gpus=1 repeat 2: kept")),
                               HasSubstr("gpus=1 tracing: kept"), Not(HasSubstr("gpus=2 tracing: kept"))));

  const ProgramResult other = scale({"--gpus", "1", "-o", "e"}, {"6"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("holds another experiment: command was "));
  EXPECT_THAT(other.err, HasSubstr("steps_program 4, is "));
  EXPECT_EQ(scale({"--gpus", "1", "--repeat", "1", "--force", "-o", "e"}, {"6"}).status, 0);
  EXPECT_FALSE(fs::exists(folder() / "e/gpus2"));
}

TEST_F(Scale, AFailingCommandKeepsWhatWasMeasured) {
  // The second point fails until it is mended.
  write("rank.sh", "[ $WORLD_SIZE = 1 ] || [ -e mended ] || exit 3\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  const std::vector<std::string> line = {"scale", "--cpus-only", "--gpus", "1,2", "--repeat", "1",
                                         "-o",    "e",           "--",     "sh",  "rank.sh"};
  const ProgramResult failed = run(line);
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.err, HasSubstr("e/gpus2/timing1: the command ended with status 3"));
  EXPECT_THAT(csv("e"), HasSubstr("\n1,1,2,"));
  const std::string first = content("e/gpus1/timing1/run.json");
  write("mended", "");
  EXPECT_EQ(run(line).status, 0);
  EXPECT_EQ(content("e/gpus1/timing1/run.json"), first);
}

// Whatever the runs that are there were made with: where it differs, it is named, and nothing is measured or lost.
TEST_F(Scale, AFolderBelongsToWhatItsRunsWereMadeWith) {
  write("rank.sh", "exec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  write("model.cfg", "layers 2\n");
  const auto line = [](const std::vector<std::string>& options) {
    return joined(joined({"scale", "--cpus-only", "--gpus", "1", "--repeat", "1", "--no-trace", "-o", "e"}, options),
                  {"--", "sh", "rank.sh", "--config=model.cfg", "train.log", "{batch}"});
  };
  const std::vector<std::string> first_line = line({"--batch", "256"});
  ASSERT_EQ(run(first_line).status, 0);
  const std::string first = content("e/gpus1/timing1/run.json");
  const auto expect_refused = [&](const std::vector<std::string>& again, const std::string& difference) {
    const ProgramResult result = run(again);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(difference));
    EXPECT_THAT(result.err, HasSubstr("--force"));
    EXPECT_EQ(content("e/gpus1/timing1/run.json"), first);
  };
  expect_refused(line({"--batch", "128"}), "batch was 256, is 128");
  expect_refused(line({"--batch", "256", "--mode", "strong"}), "mode was weak, is strong");
  options_.environment.emplace_back("OMP_NUM_THREADS=7");
  expect_refused(first_line, "OMP_NUM_THREADS was not set, is 7");
  options_.environment.pop_back();
  write("model.cfg", "layers 3\n");
  expect_refused(first_line, "model.cfg has changed");
  write("model.cfg", "layers 2\n");
  write("rank.sh", "# slower\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  expect_refused(first_line, "rank.sh has changed");

  const ProgramResult measured = run(line({"--batch", "256", "--force"}));
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_THAT(measured.err, Not(HasSubstr("kept")));
  EXPECT_NE(content("e/gpus1/timing1/run.json"), first);
  // A log that the program writes, and how we print, are no part of what was measured.
  write("train.log", "step 1\n");
  options_.environment.emplace_back("SWINSCOPE_COLOR=never");
  const ProgramResult kept = run(first_line);
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("gpus=1 repeat 1: kept"));
}

TEST_F(Scale, ForceMeasuresTheSameAgain) {
  ASSERT_EQ(scale({"--gpus", "1,2", "--repeat", "1", "--no-trace", "-o", "e"}, {"4"}).status, 0);
  const std::string first = content("e/gpus1/timing1/run.json");
  write("e/notes.txt", "mine");
  const ProgramResult again = scale({"--gpus", "1", "--repeat", "1", "--no-trace", "--force", "-o", "e"}, {"4"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NE(content("e/gpus1/timing1/run.json"), first);
  EXPECT_FALSE(fs::exists(folder() / "e/gpus2"));
  EXPECT_EQ(content("e/notes.txt"), "mine");
}

// What waited for what is part of it, unless less is asked for; what was recorded otherwise is recorded again.
TEST_F(Scale, TheTracingRunRecordsWhatIsAskedFor) {
  const auto measured = [&](const std::vector<std::string>& options) {
    const ProgramResult result = scale(joined({"--gpus", "1", "--repeat", "1", "-o", "e"}, options), {"4"});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err;
  };
  measured({});
  EXPECT_THAT(content("e/gpus1/point.json"), HasSubstr("\"traced\": \"cuda,nvtx,sync\""));
  EXPECT_THAT(measured({}), HasSubstr("tracing: kept"));
  const std::string again = measured({"--trace", "nvtx,cuda"});
  EXPECT_THAT(again, HasSubstr("repeat 1: kept"));
  EXPECT_THAT(again, Not(HasSubstr("tracing: kept")));
  EXPECT_THAT(content("e/gpus1/point.json"), HasSubstr("\"traced\": \"cuda,nvtx\""));
  const ProgramResult refused = scale({"--gpus", "1", "-o", "f", "--trace", "cuda,nvxt"}, {"4"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--trace cuda,nvxt: \"nvxt\" is unknown"));
  EXPECT_FALSE(fs::exists(folder() / "f"));
}

TEST_F(Scale, ForceLeavesRunsOfOtherExperimentsAlone) {
  ASSERT_EQ(scale({"--gpus", "1", "--repeat", "1", "--no-trace", "-o", "e"}, {"4"}).status, 0);
  ASSERT_EQ(run({"join", "-o", "joined", "gpus=1:e/gpus1"}).status, 0);
  const ProgramResult refused = scale({"--gpus", "1", "-o", "e/gpus1/timing1/run.json"}, {"4"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("is no folder"));
  ASSERT_EQ(scale({"--gpus", "1", "--repeat", "1", "--no-trace", "--force", "-o", "joined"}, {"4"}).status, 0);
  EXPECT_TRUE(fs::exists(folder() / "e/gpus1/timing1/rank0.db"));
}

TEST_F(Scale, AnInterruptedExperimentCanBeAnalyzed) {
  write("rank.sh", "[ $WORLD_SIZE = 1 ] || exit 130\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  const ProgramResult result =
      run({"scale", "--cpus-only", "--gpus", "1,2", "--repeat", "1", "-o", "e", "--", "sh", "rank.sh"});
  EXPECT_EQ(result.status, 130);
  EXPECT_THAT(result.err, HasSubstr("run the same command to go on"));
  const ProgramResult analyzed = run({"analyze", "e"});
  EXPECT_EQ(analyzed.status, 0) << analyzed.err;
  EXPECT_THAT(analyzed.out, HasSubstr(" per step with 1 rank\n"));
  EXPECT_THAT(analyzed.err, HasSubstr("1 of 2 points are complete"));

  // Before the first point is complete there is nothing to show, and it is said.
  ASSERT_EQ(run({"scale", "--cpus-only", "--gpus", "2", "-o", "none", "--", "sh", "rank.sh"}).status, 130);
  const ProgramResult none = run({"analyze", "none"});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("no point of the experiment is complete yet"));
}

// What another `scale` is measuring there is not removed from under it; nobody else can look into an experiment's
// folders.
TEST_F(Scale, ForceRemovesNothingThatIsBeingRecorded) {
  write("rank.sh", "if [ -n \"$SWINSCOPE_INNER\" ]; then exec " SWINSCOPE_STEPS_PROGRAM
                   " 4; fi\n"
                   "SWINSCOPE_INNER=1 " SWINSCOPE_PROGRAM
                   " scale --force --cpus-only --gpus 1 -o e -- sh rank.sh >inner.out "
                   "2>inner.err </dev/null\necho $? >inner.status\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  const ProgramResult result =
      run({"scale", "--cpus-only", "--gpus", "1", "--repeat", "1", "--no-trace", "-o", "e", "--", "sh", "rank.sh"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(content("inner.status"), "2\n");
  EXPECT_THAT(content("inner.err"), HasSubstr("e/gpus1/timing1: a recording is going on there"));
  for (const char* name : {"e", "e/gpus1", "e/gpus1/timing1"})
    EXPECT_EQ(fs::status(folder() / name).permissions(), fs::perms::owner_all) << name;
}

// Traced runs are large: who keeps only what was timed still has an experiment.
TEST_F(Scale, RunsThatWereDeletedAreSaidToBeGone) {
  ASSERT_EQ(
      run({"scale", "--cpus-only", "--gpus", "1,2", "--repeat", "2", "-o", "e", "--", SWINSCOPE_STEPS_PROGRAM, "4"})
          .status,
      0);
  fs::remove_all(folder() / "e/gpus1/tracing");
  fs::remove_all(folder() / "e/gpus2/timing1");
  const ProgramResult some = run({"analyze", "e", "--format", "json"});
  ASSERT_EQ(some.status, 0) << some.err;
  EXPECT_THAT(some.err, AllOf(HasSubstr("1 rank: tracing is not there any more"),
                              HasSubstr("2 ranks: timing1 is not there any more"), Not(HasSubstr("incomplete"))));
  const auto points = nlohmann::json::parse(some.out)["data"]["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points.at(0)["repeats"], 2);
  EXPECT_EQ(points.at(1)["repeats"], 1);

  fs::remove_all(folder() / "e/gpus2");
  const ProgramResult one = run({"analyze", "e", "--format", "json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.err, HasSubstr("gpus2: left out, for none of its runs is there"));
  EXPECT_EQ(nlohmann::json::parse(one.out)["data"]["points"].size(), 1U);

  fs::remove_all(folder() / "e/gpus1");
  const ProgramResult none = run({"analyze", "e"});
  EXPECT_EQ(none.status, 3);
  EXPECT_THAT(none.err, HasSubstr("none of the runs of its points (gpus1, gpus2) is there"));
}

// What the program prints is not what we print.
TEST_F(Scale, TheStandardOutputIsOurs) {
  write("rank.sh", "echo from the program\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  const ProgramResult result = run(
      {"scale", "--cpus-only", "--gpus", "1", "--repeat", "1", "--format", "json", "-o", "e", "--", "sh", "rank.sh"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[1/2] gpus=1 repeat 1\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("from the program"))) << "no terminal";
  EXPECT_EQ(content("e/gpus1/timing1/stdout.log"), "from the program\n");
  EXPECT_EQ(nlohmann::json::parse(result.out)["schema"], "swinscope.scaling/1");
}

TEST_F(Scale, ProgressIsLeftOutWhereNobodyWatches) {
  const std::vector<std::string> words = {"--gpus", "1", "--repeat", "1", "--no-trace", "-o", "e"};
  ASSERT_EQ(scale(words, {"4"}).status, 0);
  const auto kept = [&](const std::string& when) {
    std::vector<std::string> again = words;
    again.insert(again.end(), {"--progress", when});
    return scale(again, {"4"}).err.find("[1/1] gpus=1 repeat 1: kept") != std::string::npos;
  };
  EXPECT_TRUE(kept("auto"));
  EXPECT_FALSE(kept("never"));
  options_.environment.emplace_back("CI=true");
  EXPECT_FALSE(kept("auto"));
  EXPECT_TRUE(kept("always"));
}

TEST_F(Scale, TheBatchIsTheImagesOfAGpu) {
  const ProgramResult result =
      run({"scale", "--cpus-only", "--gpus", "1,2", "--batch", "8", "--repeat", "1", "--no-trace", "--images", "100",
           "--format", "json", "-o", "e", "--", SWINSCOPE_STEPS_PROGRAM, "4"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto rows = nlohmann::json::parse(result.out)["data"]["points"];
  EXPECT_EQ(rows[0]["images_per_step"], 8);
  EXPECT_EQ(rows[1]["images_per_step"], 16);
  EXPECT_EQ(rows[1]["train_steps"], 7);
}

TEST_F(Scale, ThePriceStaysWithTheExperiment) {
  const auto line = [](const std::vector<std::string>& options) {
    return joined(
        joined({"scale", "--gpus", "1", "--batch", "8", "--repeat", "1", "--no-trace", "--format", "json", "-o", "e"},
               options),
        {"--", SWINSCOPE_STEPS_PROGRAM, "4"});
  };
  ASSERT_EQ(run(line({"--price", "h200=3.5"})).status, 0);
  const ProgramResult again = run(line({}));
  EXPECT_THAT(again.err, HasSubstr("kept"));
  const auto row = nlohmann::json::parse(again.out)["data"]["points"][0];
  EXPECT_THAT(run({"analyze", "e"}).out, HasSubstr("x GPUs x 3.5, the price of a GPU hour (h200)."));
  EXPECT_DOUBLE_EQ(row["train_cost"], 3.5 * row["train_time_ns"].get<double>() / 3'600e9);
}

TEST_F(Scale, SaysHowToMarkSteps) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"2", "epoch"}, {"0"}}) {
    const ProgramResult result = scale({"--gpus", "1,2", "-o", "none" + arguments.front()}, arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("has no steps"));
    EXPECT_THAT(result.err, HasSubstr("nvtxRangePushA(\"step\")"));
    EXPECT_THAT(result.err, Not(HasSubstr("[2/"))) << "the first run shows it";
  }
  const ProgramResult few = scale({"--gpus", "1", "-o", "few"}, {"2"});
  EXPECT_EQ(few.status, 2);
  EXPECT_THAT(few.err, HasSubstr("rank 0 has 2 steps"));
}

TEST_F(Scale, RefusesWhatCannotBeRun) {
  const auto refused = [&](const std::vector<std::string>& line, const std::string& message) {
    const ProgramResult result = run(joined({"scale", "-o", "e"}, line));
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, Not(HasSubstr("[1/"))) << "nothing was run";
  };
  refused({"--gpus", "1", "--", "no-such-command"}, "no-such-command: no such command");
  refused({"--gpus", "1", "--", "sh", "{batch}"}, "there is no value for {batch}");
  refused({"--gpus", "1", "--", "sh", "--lr={lr}"}, "there is no value for {lr}");
  refused({"--gpus", "1,2", "--mode", "strong", "--batch", "3", "--", "true"}, "cannot be divided by 2");
  refused({"--gpus", "0", "--", "true"}, "--gpus");
  refused({"--gpus", "1", "--price", "cheap", "--", "true"}, "--price cheap: no price");
  refused({"--gpus", "1", "--price", "3", "--cpus-only", "--", "true"}, "--cpus-only");
  refused({"--gpus", "1,2,1", "--", "true"}, "--gpus 1,2,1: 1 is given twice");
}

TEST_F(Scale, ASweepRefusesFactorsThatMeasureNothing) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--vary", "gpus=a,b"}, "\"a\" is no number of GPUs"},
      {{"--vary", "gpus=1,2x"}, "\"2x\" is no number of GPUs"},
      {{"--vary", "gpus=1,01"}, "1 is given twice"},
      {{"--vary", "hidden=1,2"}, "--vary hidden: the command does not use {hidden}"},
      {{"--vary", "lr=1,2,1"}, "1 is given twice"},
      {{"--vary", "lr=1", "--vary", "lr=2"}, "lr is given twice"},
      {{"--vary", "lr=1,,2"}, "not KEY=VALUE"},
      {{"--vary", "lr"}, "not KEY=VALUE"},
      {{"--vary", "lr=a/b,a_b"}, "is given twice"},
      {{"--vary", "out=1,2"}, "{out} is the folder of a run"}};
  for (const auto& [options, message] : cases) {
    const ProgramResult result = run(joined(joined({"sweep", "-o", "e"}, options), {"--", "true", "{lr}", "{out}"}));
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(folder() / "e")) << "nothing was run";
  }
}

TEST_F(Scale, AFolderOfExperimentsIsReportedAsAComparison) {
  for (const char* name : {"study/first", "study/second"})
    ASSERT_EQ(scale({"--gpus", "1,2", "--repeat", "1", "--images-per-step", "4", "-o", name}, {"4"}).status, 0);
  const ProgramResult result = run({"report", "study", "--beside", "thesis-v100", "-o", "study.html"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string html = content("study.html");
  const std::size_t comparison = html.find("<h2>Platform comparison</h2>");
  EXPECT_LT(comparison, html.find("<h2>first: Environment</h2>"));
  EXPECT_LT(html.find("<h2>first: Scaling</h2>"), html.find("<h2>second: Scaling</h2>"));
  EXPECT_THAT(html, HasSubstr("CRC V100 (thesis)"));
  EXPECT_THAT(html, HasSubstr("second takes "));

  const ProgramResult markdown = run({"report", "study", "--beside", "thesis-v100", "-o", "study.md"});
  ASSERT_EQ(markdown.status, 0) << markdown.err;
  const std::string text = content("study.md");
  EXPECT_THAT(text, HasSubstr("\n## Platform comparison\n"));
  EXPECT_THAT(text, HasSubstr("CRC V100 (thesis)"));
  const std::string link = "](study_figures/";
  int figures = 0;
  for (std::size_t at = text.find(link); at != std::string::npos; at = text.find(link, at + 1), ++figures) {
    const std::size_t begin = at + std::string("](").size();
    const std::string figure = content(text.substr(begin, text.find(')', begin) - begin));
    EXPECT_THAT(figure, StartsWith("<svg"));
    EXPECT_THAT(figure, HasSubstr("</svg>"));
  }
  EXPECT_GE(figures, 8) << "as many as the thesis has";
  EXPECT_EQ(run({"report", "study", "-o", "study.md"}).status, 2) << "the file exists";

  const ProgramResult csv = run({"report", "study/first", "--beside", "thesis", "-o", "first.csv"});
  EXPECT_EQ(csv.status, 2);
  EXPECT_THAT(csv.err, HasSubstr("swinscope compare"));
  EXPECT_FALSE(fs::exists(folder() / "first.csv"));
}

// A driver with three GPUs, of which the first two are connected by NVLink.
class ScaleWithGpus : public Scale {
 protected:
  ScaleWithGpus() { fs::create_symlink(SWINSCOPE_FAKE_NVML, folder() / "libnvidia-ml.so.1"); }
  ProgramResult with_gpus(std::vector<std::string> command, const std::vector<std::string>& environment = {}) const {
    command.insert(command.begin(), SWINSCOPE_PROGRAM);
    ProgramOptions options;
    options.folder = folder();
    options.environment = joined({"LD_LIBRARY_PATH=" + folder().string(), "CUDA_VISIBLE_DEVICES"}, environment);
    return run_program(command, options);
  }
};

TEST_F(ScaleWithGpus, MoreThanThereAreIsRefusedBeforeAnythingRuns) {
  const std::vector<std::string> line = {"scale", "--gpus", "1,4", "-o", "e", "--", SWINSCOPE_STEPS_PROGRAM, "4"};
  const ProgramResult four = with_gpus(line);
  EXPECT_EQ(four.status, 2);
  EXPECT_THAT(four.err, HasSubstr("4 GPUs are more than this machine has"));
  EXPECT_THAT(four.err, HasSubstr("3 answer"));
  EXPECT_THAT(four.err, Not(HasSubstr("[1/")));
  const ProgramResult hidden = with_gpus({"scale", "--gpus", "2", "-o", "e", "--", "true"}, {"CUDA_VISIBLE_DEVICES=1"});
  EXPECT_THAT(hidden.err, HasSubstr("1 answers"));
}

TEST_F(ScaleWithGpus, TheRunKnowsHowTheyAreConnected) {
  const ProgramResult result =
      with_gpus({"scale", "--gpus", "3", "--repeat", "1", "-o", "e", "--", SWINSCOPE_STEPS_PROGRAM, "4"});
  ASSERT_EQ(result.status, 0) << result.err;
  const ProgramResult info = run({"info", "e/gpus3/timing1", "--format", "csv"});
  EXPECT_THAT(info.out, HasSubstr("-1,gpu.0-1.link,NV4"));
  EXPECT_THAT(info.out, HasSubstr("-1,gpu.0-2.link,PHB"));
  EXPECT_THAT(info.out, HasSubstr("-1,gpu.2.pcie,gen5 x16"));
  EXPECT_EQ(run({"report", "e", "-o", "e.html"}).status, 0);
  EXPECT_THAT(content("e.html"), HasSubstr("GPU 0-1 link"));
}

TEST_F(Scale, StrongScalingDividesTheBatch) {
  write("rank.sh", "echo $1 >> batches\nexec " SWINSCOPE_STEPS_PROGRAM " 4\n");
  const ProgramResult result = run({"scale", "--cpus-only", "--gpus", "1,2", "--mode", "strong", "--batch", "8",
                                    "--repeat", "1", "--no-trace", "-o", "e", "--", "sh", "rank.sh", "{batch}"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(content("batches"), "8\n4\n4\n");
}

TEST_F(Scale, JoinedRunsGiveTheSameTable) {
  ASSERT_EQ(scale({"--gpus", "1,2", "--repeat", "2", "-o", "whole"}, {"5"}).status, 0);
  const ProgramResult joined_whole =
      run({"join", "-o", "joined", "gpus=1:whole/gpus1", "gpus=2:whole/gpus2", "--format", "csv"});
  ASSERT_EQ(joined_whole.status, 0) << joined_whole.err;
  EXPECT_EQ(joined_whole.out, csv("whole"));
  EXPECT_EQ(csv("joined"), csv("whole"));

  const ProgramResult wrong = run({"join", "-o", "wrong", "gpus=4:whole/gpus2"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("give it as gpus=2:whole/gpus2"));

  write("times.csv", "gpus,step_ms\n2,4\n");
  const ProgramResult timed =
      run({"join", "-o", "timed", "gpus=1:whole/gpus1", "gpus=2:whole/gpus2", "--timing", "times.csv"});
  EXPECT_EQ(timed.status, 2) << "the times would be lost";
  EXPECT_THAT(timed.err,
              HasSubstr("times.csv: has step times for gpus=2, whose point whole/gpus2 was measured by swinscope"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "timed"));
}

TEST_F(Scale, JoinTakesPlainRecordings) {
  ASSERT_EQ(run({"record", "-o", "one", "--", SWINSCOPE_STEPS_PROGRAM, "5"}).status, 0);
  ASSERT_EQ(run({"record", "-o", "two", "--", SWINSCOPE_PROGRAM, "launch", "--ranks", "2", "--",
                 SWINSCOPE_STEPS_PROGRAM, "5"})
                .status,
            0);
  const auto rows =
      run_json({"join", "-o", "e", "gpus=1:one", "gpus=2:two", "--images-per-gpu", "4"})["data"]["points"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["images_per_step"], 8);
  EXPECT_EQ(rows[1]["traced_only"], "no") << "nothing of CUDA was traced";

  // Nothing of CUDA was traced, so nothing here is a number of GPUs.
  EXPECT_THAT(run({"analyze", "e"}).out, HasSubstr(" at 2 ranks: "));

  write("times.csv", "gpus,step_ns\n1,1000\n1,3000\n2,4000\n");
  const auto given = run_json({"join", "-o", "given", "gpus=1:one", "gpus=2:two", "--timing", "times.csv"});
  EXPECT_EQ(given["data"]["points"][0]["step_ns"], 2000);
  EXPECT_EQ(given["data"]["points"][1]["speedup"], 1.0) << "2 GPUs, twice the time";

  const ProgramResult label = run({"join", "-o", "label", "gpus=1:two"});
  EXPECT_EQ(label.status, 2);
  EXPECT_THAT(label.err, HasSubstr("gpus=1:two: the run is of 2 ranks, not of 1"));

  const ProgramResult twice = run({"join", "-o", "twice", "gpus=1:one", "gpus=1:two"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("gpus=1 is given twice"));
}

TEST_F(Scale, SweepTakesEveryCombination) {
  const ProgramResult result =
      run({"sweep", "--cpus-only", "--vary", "batch=2,4", "--vary", "gpus=1,2", "--repeat", "1", "--no-trace",
           "--format", "json", "-o", "e", "--", "sh", "-c",
           std::string("echo $0 >> batches; exec ") + SWINSCOPE_STEPS_PROGRAM + " 4", "{batch}"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::vector<std::pair<int, std::string>> points;
  const auto json = nlohmann::json::parse(result.out);
  for (const auto& row : json["data"]["points"])
    points.emplace_back(row["gpus"], row["batch"]);
  EXPECT_THAT(points, testing::UnorderedElementsAre(std::pair(1, "2"), std::pair(2, "2"), std::pair(1, "4"),
                                                    std::pair(2, "4")));
  EXPECT_EQ(content("batches"), "2\n2\n2\n4\n4\n4\n");
  EXPECT_THAT(run({"analyze", "e"}).out, AllOf(MatchesRegex("fastest: batch=[24] gpus=[12], [^\n]* times as fast as "
                                                            "batch=[24] gpus=[12] for the same images [^\n]*\n.*"),
                                               HasSubstr("with all other factors the same")));
}

TEST_F(Scale, AnExperimentStandsForItsLargestPoint) {
  ASSERT_EQ(scale({"--gpus", "1,2", "--repeat", "1", "-o", "e"}, {"4"}).status, 0);
  for (const char* command : {"info", "kernels"}) {
    const ProgramResult result = run({command, "e"});
    const ProgramResult of_run = run({command, "e/gpus2/tracing"});
    EXPECT_EQ(result.status, of_run.status);
    EXPECT_EQ(lines_of(result.out).size(), lines_of(of_run.out).size());
    EXPECT_THAT(result.err, AllOf(HasSubstr("e: an experiment; its point with the most GPUs or ranks, gpus2, is shown"),
                                  HasSubstr("e/gpus2: a point of an experiment; its run tracing is shown")));
  }
  EXPECT_EQ(run_json({"info", "e"})["data"]["ranks_present"], 2);
  EXPECT_EQ(run({"report", "e/gpus1", "-o", "point.html"}).status, 0);
}

}  // namespace
}  // namespace swinscope::tests
