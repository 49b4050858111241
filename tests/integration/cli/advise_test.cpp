// advise --ledger and --check: what is predicted is written down, and scored by the changed program's run.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

// Two steps, each a norm of `norm_us`, an add of 200 us and a product of 600 us, and a wait that returns 5 us after
// them; launched one by one, or as a graph.
std::string trace_of(int norm_us, bool is_graph = false) {
  std::vector<std::string> events;
  int correlation = 0;
  const auto event = [&](const std::string& category, const std::string& name, int pid, int ts, int dur,
                         const std::string& more) {
    events.push_back(R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": )" +
                     std::to_string(pid) + R"(, "tid": )" + (pid == 0 ? "7" : "1") + R"(, "ts": )" +
                     std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + more + "}}");
  };
  const auto launch = [&](const std::string& name, int call, int start, int duration) {
    const bool is_first = name == "layer_norm_kernel";
    if (!is_graph || is_first) ++correlation;
    const std::string number = R"("correlation": )" + std::to_string(correlation);
    if (!is_graph || is_first)
      event("cuda_runtime", is_graph ? "cudaGraphLaunch" : "cudaLaunchKernel", 1, call, 2, number);
    event("kernel", name, 0, start, duration, R"("device": 0, "context": 1, "stream": 7, )" + number);
  };
  for (int step = 0; step < 2; ++step) {
    const int begin = 1'000 * step;
    const int add = begin + 6 + norm_us;
    launch("layer_norm_kernel", begin, begin + 5, norm_us);
    launch("vectorized_elementwise_kernel", begin + 4, add, 200);
    launch("ampere_sgemm_128x64_tn", begin + 8, add + 201, 600);
    event("cuda_runtime", "cudaDeviceSynchronize", 1, begin + 12, norm_us + 800,
          R"("correlation": )" + std::to_string(++correlation));
    event("user_annotation", "ProfilerStep#" + std::to_string(step + 1), 1, begin, 1'000, "");
  }
  return kineto(events);
}

class Advise : public CliTest {
 protected:
  nlohmann::json ledger() const { return nlohmann::json::parse(read_file(folder() / "l.json")); }

  const std::string run_ = write("run.json", trace_of(100));
};

TEST_F(Advise, RatesOfAnotherGpuAreSaid) {
  const ProgramResult other = run({"advise", run_, "--gpu", "h200"});
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("rates are those of NVIDIA H200, the run does not name its GPU"));
  const std::string named =
      write("h100.json", R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], )" +
                             read_file(folder() / "run.json").substr(1));
  EXPECT_THAT(run({"advise", named, "--gpu", "h200"}).err,
              HasSubstr("rates are those of NVIDIA H200, the run is of NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(run({"advise", named, "--gpu", "h100"}).err, testing::Not(HasSubstr("rates are those of")));
  EXPECT_THAT(run({"advise", run_}).err, testing::Not(HasSubstr("rates are those of")));
  const ProgramResult none = run({"advise", run_, "--gpu", "b300"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there are NVIDIA H100 80GB HBM3, NVIDIA H200"));
  EXPECT_EQ(run({"advise", run_, "--gpu", "h200", "--peaks", "rates.json"}).status, 2);
}

TEST_F(Advise, AnalyzeLeavesItOutWhereItIsNotWanted) {
  const std::string with = run({"analyze", run_}).out;
  EXPECT_THAT(with, HasSubstr("next: Fuse layer_norm_kernel"));
  std::string without = run({"analyze", run_, "--no-advice"}).out;
  EXPECT_THAT(without, testing::Not(HasSubstr("next:")));
  const std::size_t next = with.find("next:");
  const std::size_t after = with.find('\n', with.find("evidence: swinscope advise", next)) + 1;
  EXPECT_EQ(without, with.substr(0, next) + with.substr(after));

  const nlohmann::json columns = run_json({"analyze", run_, "--no-advice"})["data"]["kernels"][0];
  EXPECT_FALSE(columns.contains("fusable_with")) << columns;
}

TEST_F(Advise, PredictionsAreWrittenDownAndScored) {
  const nlohmann::json advice = run_json({"advise", run_, "--ledger", "l.json"})["data"];
  ASSERT_EQ(advice["opportunities"].size(), 2U);
  EXPECT_EQ(advice["opportunities"][1]["id"], "wait-1");
  const ProgramResult second =
      run({"advise", run_, "--apply", "fusion-1", "--ledger", "l.json", "--label", "with a fused norm"});
  ASSERT_EQ(second.status, 0) << second.err;

  const nlohmann::json written = ledger();
  EXPECT_EQ(written["schema"], "swinscope.ledger/1");
  ASSERT_EQ(written["predictions"].size(), 2U);
  EXPECT_EQ(written["predictions"][0]["label"], "fusion-1");
  EXPECT_EQ(written["predictions"][1]["label"], "with a fused norm");
  for (const nlohmann::json& entry : written["predictions"]) {
    EXPECT_EQ(entry["run"], run_);
    EXPECT_EQ(entry["applied"], nlohmann::json({"fusion-1"}));
    EXPECT_EQ(entry["step_ns"], 1'000'000);
    EXPECT_EQ(entry["predicted_ns"], advice["joint_step_ns"]);
    EXPECT_EQ(entry["predicted_least_ns"], advice["joint_step_least_ns"]);
    EXPECT_EQ(entry["predicted_most_ns"], advice["joint_step_most_ns"]);
    EXPECT_THAT(entry["made"].get<std::string>(), MatchesRegex("....-..-..T..:..:..Z"));
  }

  // The step as it was is longer than any prediction.
  const nlohmann::json scores = run_json({"advise", run_, "--check", "l.json"})["data"];
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[1]["label"], "with a fused norm");
  EXPECT_EQ(scores[1]["measured_ns"], 1'000'000);
  EXPECT_EQ(scores[1]["within"], "no");
  const double predicted = written["predictions"][1]["predicted_ns"].get<double>();
  EXPECT_LT(predicted, 950'000);
  EXPECT_NEAR(scores[1]["effect_error_percent"].get<double>(), (predicted - 1e6) / 1e4, 1e-6);
  EXPECT_EQ(ledger(), written) << "a check adds nothing";
}

TEST_F(Advise, AnUnknownChangeIsRefused) {
  const ProgramResult result = run({"advise", run_, "--apply", "fusion-1,fusion-9", "--ledger", "l.json"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("fusion-9: there is no such change"), HasSubstr("there are fusion-1")));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder() / "l.json"));
}

TEST_F(Advise, AFileThatIsNoLedgerIsRefused) {
  for (const std::string option : {"--ledger", "--check"}) {
    const ProgramResult result = run({"advise", run_, option, run_});
    EXPECT_EQ(result.status, 3) << option;
    EXPECT_THAT(result.err, HasSubstr("run.json: not a ledger of predictions")) << option;
    EXPECT_EQ(read_file(folder() / run_), trace_of(100)) << "it is left as it is";
  }
  write("newer.json", R"({"schema": "swinscope.ledger/2", "predictions": []})");
  const ProgramResult newer = run({"advise", run_, "--check", "newer.json"});
  EXPECT_EQ(newer.status, 3);
  EXPECT_THAT(newer.err, AllOf(HasSubstr("made by a newer swinscope"), HasSubstr("install a newer swinscope")));
  EXPECT_EQ(run({"advise", run_, "--check", "none.json"}).status, 3);
}

// The add works on something larger than the norm: they are not fused, and nothing else is found.
TEST_F(Advise, WithoutAChangeNothingIsPredicted) {
  const std::string other = write("other.json", trace_of(20));
  const ProgramResult result = run({"advise", other, "--ledger", "l.json"});
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("there is nothing to predict"), HasSubstr("no change was applied")));
  EXPECT_FALSE(std::filesystem::exists(folder() / "l.json"));
}

// Of 1,000 us a step, in which three kernels of 900 us follow each other 1 us apart, 1.6 us are the recorder's; a step
// of 990 us no gap explains, but that the kernels of a graph would overlap. Without an experiment around the run
// nothing is taken away.
TEST_F(Advise, TimingRunsOfThePointSayWhatRecordingCost) {
  const auto advice_at = [&](int timed_ns, bool is_graph = false) {
    std::filesystem::create_directories(folder() / "e/gpus1/tracing");
    write("e/experiment.json", R"({"schema": "swinscope.experiment/1", "warmup_steps": 0, "points": ["gpus1"]})");
    write("e/gpus1/point.json",
          R"({"schema": "swinscope.point/1", "factors": {"gpus": "1"}, "timing": [], "tracing": "tracing",
                                    "step_ns": [)" +
              std::to_string(timed_ns) + "]}");
    write("e/gpus1/tracing/trace.json", trace_of(100, is_graph));
    return run_json({"advise", "e/gpus1/tracing"})["data"];
  };
  const nlohmann::json explained = advice_at(998'400);
  EXPECT_EQ(explained["timed_step_ns"], 998'400);
  EXPECT_EQ(explained["replayed_step_ns"], 1'000'000);
  EXPECT_NEAR(explained["unrecorded_step_ns"].get<double>(), 998'400, 20);
  const nlohmann::json not_explained = advice_at(990'000);
  EXPECT_EQ(not_explained["timed_step_ns"], 990'000);
  EXPECT_EQ(not_explained["unrecorded_step_ns"], 998'000);
  EXPECT_NEAR(advice_at(990'000, true)["unrecorded_step_ns"].get<double>(), 990'000, 20);
  EXPECT_FALSE(advice_at(1'100'000).contains("unrecorded_step_ns"));
  EXPECT_FALSE(run_json({"advise", run_})["data"].contains("timed_step_ns"));
}

}  // namespace
}  // namespace swinscope::tests
