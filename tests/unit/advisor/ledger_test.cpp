// The ledger: what is written down is read again, what is no ledger is refused, and scores are worked out by hand.
#include "advisor/ledger.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "store/utf8.h"
#include "tests/unit/advisor/replayed.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Prediction prediction(const std::string& label = "batch 32, graph") {
  Prediction made;
  made.label = label;
  made.made = "2025-01-02T03:04:05Z";
  made.run = "traces/run 1";
  made.gpu = "Test GPU";
  made.applied = {"graph-1", "fusion-2"};
  made.step_ns = 1'000'000;
  made.predicted_ns = {700'000, 800'000, 900'000};
  return made;
}

constexpr std::string_view kText = R"({"schema": "swinscope.ledger/1", "a later key": 1, "predictions": [
  {"label": "L", "made": "2025-01-02T03:04:05Z", "run": "r", "gpu": "G", "applied": ["graph-1"], "step_ns": 1000,
   "predicted_least_ns": 700, "predicted_ns": 800, "predicted_most_ns": 900}]})";

std::string with(std::string_view what, std::string_view other) {
  std::string text(kText);
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), other);
}

Error refused(const std::string& text) {
  const std::optional<Error> error = error_of([&] { (void)Ledger::parse(text, "l.json"); });
  if (!error) throw std::runtime_error("it was accepted: " + text);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  return *error;
}

TEST(Ledger, WhatIsWrittenIsReadAgain) {
  const Ledger written{{prediction("one"), prediction("two \"quoted\" \xC3\xA4\n")}};
  const Ledger read = Ledger::parse(written.text(), "l.json");
  ASSERT_EQ(read.predictions.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.predictions[i].label, written.predictions[i].label);
    EXPECT_EQ(read.predictions[i].made, "2025-01-02T03:04:05Z");
    EXPECT_EQ(read.predictions[i].run, "traces/run 1");
    EXPECT_EQ(read.predictions[i].gpu, "Test GPU");
    EXPECT_EQ(read.predictions[i].applied, (std::vector<std::string>{"graph-1", "fusion-2"}));
    EXPECT_EQ(read.predictions[i].step_ns, 1'000'000);
    EXPECT_EQ(read.predictions[i].predicted_ns, (std::array<std::int64_t, 3>{700'000, 800'000, 900'000}));
  }
  EXPECT_EQ(read.text(), written.text());
  EXPECT_TRUE(Ledger::parse(Ledger{}.text(), "l.json").predictions.empty());
}

TEST(Ledger, KeysThatItDoesNotKnowArePassedOver) {
  const Ledger ledger = Ledger::parse(kText, "l.json");
  ASSERT_EQ(ledger.predictions.size(), 1U);
  EXPECT_EQ(ledger.predictions[0].predicted_ns, (std::array<std::int64_t, 3>{700, 800, 900}));
}

// File names and labels of the command line may be of any bytes.
TEST(Ledger, BytesThatAreNoTextDoNotKeepItFromBeingWritten) {
  Ledger ledger{{prediction("caf\xE9")}};
  EXPECT_EQ(Ledger::parse(ledger.text(), "l.json").predictions[0].label, "caf\xEF\xBF\xBD");
}

TEST(Ledger, RefusesWhatIsDamaged) {
  const std::vector<std::array<std::string, 3>> damages = {
      {"}]}", "}", "parse error"},
      {R"("schema": "swinscope.ledger/1")", R"("schema": "swinscope.rates/1")", "its schema is \"swinscope.rates/1\""},
      {R"("schema": "swinscope.ledger/1")", R"("schema": 1)", "must be string"},
      {R"("schema")", R"("scheme")", "'schema' not found"},
      {R"("predictions")", R"("prediction")", "'predictions' not found"},
      {R"("predictions": [)", R"("predictions": {}, "others": [)", "predictions is no array"},
      {R"("label": "L", )", "", "'label' not found"},
      {R"("label": "L")", R"("label": ["L"])", "must be string"},
      {R"(["graph-1"])", R"("graph-1")", "must be array"},
      {R"("step_ns": 1000)", R"("step_ns": "1 us")", "step_ns is no time in nanoseconds: \"1 us\""},
      {R"("step_ns": 1000)", R"("step_ns": true)", "step_ns is no time"},
      {R"("step_ns": 1000)", R"("step_ns": 1e300)", "step_ns is no time"},
      {R"("step_ns": 1000)", R"("step_ns": 18446744073709551615)", "step_ns is no time"},
      {R"("predicted_ns": 800)", R"("predicted_ns": -800)", "predicted_ns is no time"},
      {R"("predicted_least_ns": 700, )", "", "'predicted_least_ns' not found"},
  };
  for (const auto& [what, other, said] : damages) {
    const Error error = refused(with(what, other));
    EXPECT_STREQ(error.what(), "l.json: not a ledger of predictions");
    EXPECT_THAT(error.cause(), HasSubstr(said));
    EXPECT_THAT(error.hint(), HasSubstr("--ledger FILE"));
  }
  for (const std::string text : {"", "[]", "7", "SQLite format 3"})
    EXPECT_STREQ(refused(text).what(), "l.json: not a ledger of predictions") << text;
  EXPECT_TRUE(is_valid_utf8(refused("{\"schema\": \"caf\xE9\"}").cause()));
}

TEST(Ledger, RefusesANewerVersion) {
  const Error error = refused(with("ledger/1", "ledger/2"));
  EXPECT_STREQ(error.what(), "l.json: made by a newer swinscope");
  EXPECT_THAT(error.cause(), AllOf(HasSubstr("swinscope.ledger/2"), HasSubstr("swinscope.ledger/1")));
  EXPECT_EQ(error.hint(), "install a newer swinscope");
}

Trace trace_of(std::string_view gpu) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  if (!gpu.empty()) rank.run.gpus.emplace_back().name = gpu;
  rank.launch("k", 0, 5, 15);
  rank.step(0, 20);
  Trace trace = hand.build();
  trace.path = "run.db";
  return trace;
}

TEST(Ledger, APredictionIsTheJointSimulation) {
  Advice advice;
  advice.unrecorded_step_ns = 20'000;
  advice.applied = {"graph-1", "layout-1"};
  advice.joint_step_ns = {18'000, 15'000, 12'000};  // the least saved first
  const Trace trace = trace_of("Test GPU");
  const Prediction named = predict(RunFacts(trace, {}), advice, "batch 8", "now");
  EXPECT_EQ(named.label, "batch 8");
  EXPECT_EQ(named.made, "now");
  EXPECT_EQ(named.run, "run.db");
  EXPECT_EQ(named.gpu, "Test GPU");
  EXPECT_EQ(named.applied, advice.applied);
  EXPECT_EQ(named.step_ns, 20'000);
  EXPECT_EQ(named.predicted_ns, (std::array<std::int64_t, 3>{12'000, 15'000, 18'000}));

  const Trace nameless = trace_of("");
  EXPECT_EQ(predict(RunFacts(nameless, {}), advice, "", "now").label, "graph-1,layout-1");
  EXPECT_EQ(predict(RunFacts(nameless, {}), advice, "", "now").gpu, "");
}

TEST(Ledger, WhereNothingWasAppliedThereIsNoPrediction) {
  const Trace trace = trace_of("Test GPU");
  const RunFacts run(trace, {});
  const std::optional<Error> error = error_of([&] { (void)predict(run, Advice{}, "", "now"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_EQ(error->cause(), "no change was applied");
}

Cell score_of(const Prediction& of, std::int64_t measured_ns, std::string_view column) {
  const Table table = score_table(Ledger{{of}}, measured_ns);
  return table.rows.at(0).at(find_column(table, column));
}

TEST(Ledger, ScoresAreOfTheMeasuredStep) {
  const Table table = score_table(Ledger{{prediction("one"), prediction("two")}}, 640'000);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1][find_column(table, "label")], Cell("two"));
  // 800 us predicted, 640 us measured: 160 / 640.
  EXPECT_EQ(score_of(prediction(), 640'000, "effect_error_percent"), Cell(25.0));
  EXPECT_EQ(score_of(prediction(), 640'000, "within"), Cell("no"));
  EXPECT_EQ(score_of(prediction(), 640'000, "predicted_least_ns"), Cell(std::int64_t{700'000}));
  EXPECT_EQ(score_of(prediction(), 640'000, "predicted_most_ns"), Cell(std::int64_t{900'000}));
  EXPECT_EQ(score_of(prediction(), 1'000'000, "effect_error_percent"), Cell(-20.0));
  EXPECT_EQ(score_of(prediction(), 800'000, "effect_error_percent"), Cell(0.0));
  // The ends are within.
  EXPECT_EQ(score_of(prediction(), 699'999, "within"), Cell("no"));
  EXPECT_EQ(score_of(prediction(), 700'000, "within"), Cell("yes"));
  EXPECT_EQ(score_of(prediction(), 900'000, "within"), Cell("yes"));
  EXPECT_EQ(score_of(prediction(), 900'001, "within"), Cell("no"));
}

}  // namespace
}  // namespace swinscope::test
