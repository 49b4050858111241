// Which ways are kept, on passes whose time is a table.
#include "workloads/cuda/pass_tuner.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::Pair;

// A pass of 10 ms, less or more what each choice's way in use brings.
struct FakePass {
  std::vector<cuda::MatmulChoice> choices;
  std::map<std::string, std::vector<double>> brings;  // by way, milliseconds
  std::map<std::string, int> used;
  std::vector<std::string> tried;
  std::function<double()> together = [] { return 0.0; };  // what choices bring beside each other
  double faster_by_itself = 0.0;                          // from the next measurement on
  int measurements = 0;
  int last = 1 << 20;  // measurement after which time is over

  PassTrials trials() {
    PassTrials trials;
    trials.open = [this] { return choices; };
    trials.use = [this](const cuda::MatmulChoice& choice, int way) {
      if (way != 0 && (tried.empty() || tried.back() != choice.name)) tried.push_back(choice.name);
      used[choice.name] = way;
    };
    trials.milliseconds = [this] {
      ++measurements;
      double time = 10.0 + together() - (measurements > 1 ? faster_by_itself : 0.0);
      for (const auto& [name, way] : used)
        time += brings.at(name).at(static_cast<std::size_t>(way));
      return time;
    };
    trials.over = [this] { return measurements > last; };
    return trials;
  }
};

TEST(PassTuner, TheFastestWayOfEachChoiceIsInUseInTheEnd) {
  FakePass pass;
  pass.choices = {{"a", 3}, {"b", 2}, {"c", 4}};
  pass.brings = {{"a", {0.0, -1.0, -2.0}}, {"b", {0.0, 0.5}}, {"c", {0.0, -0.5, 0.1, -0.4}}};
  const TunedPass tuned = tune_pass(pass.trials());
  EXPECT_THAT(pass.used, ElementsAre(Pair("a", 2), Pair("b", 0), Pair("c", 1)));
  EXPECT_EQ(tuned.trials, 24);  // twice, from two places, and once more each without a change
  EXPECT_EQ(tuned.exchanged, 2);
}

// Neither of the two is better alone.
TEST(PassTuner, BeginsAgainFromTheSecondWayOfEachProduct) {
  FakePass pass;
  pass.choices = {{"a", 2}, {"b", 3}, {"c", 2}};
  pass.brings = {{"a", {0.0, 0.5}}, {"b", {0.0, 0.5, -0.1}}, {"c", {0.0, 0.5}}};
  pass.together = [&pass] { return pass.used["a"] == 1 && pass.used["b"] == 1 ? -2.0 : 0.0; };
  EXPECT_EQ(tune_pass(pass.trials()).exchanged, 2);
  EXPECT_THAT(pass.used, ElementsAre(Pair("a", 1), Pair("b", 1), Pair("c", 0)));
}

TEST(PassTuner, KeepsWhatTheFirstBeginningReachedWhereThatIsFaster) {
  FakePass pass;
  pass.choices = {{"a", 3}, {"b", 2}};
  pass.brings = {{"a", {0.0, 0.0, -1.0}}, {"b", {0.0, 0.0}}};
  pass.together = [&pass] {
    return pass.used["a"] == 1 && pass.used["b"] == 1 ? -1.0 - 0.1 : pass.used["b"] == 1 ? 0.5 : -0.5;
  };
  EXPECT_EQ(tune_pass(pass.trials()).exchanged, 1);
  EXPECT_THAT(pass.used, ElementsAre(Pair("a", 2), Pair("b", 0)));
}

TEST(PassTuner, WhatIsBetterBesideALaterChoiceIsTriedAgain) {
  FakePass pass;
  pass.choices = {{"a", 2}, {"b", 2}};
  pass.brings = {{"a", {0.0, 0.5}}, {"b", {0.0, -1.0}}};
  pass.together = [&pass] { return pass.used["a"] == 1 && pass.used["b"] == 1 ? -2.0 : 0.0; };
  EXPECT_EQ(tune_pass(pass.trials()).exchanged, 2);
  EXPECT_THAT(pass.used, ElementsAre(Pair("a", 1), Pair("b", 1)));
}

TEST(PassTuner, LessThanTwoThousandthsIsNoise) {
  FakePass pass;
  pass.choices = {{"a", 2}};
  pass.brings = {{"a", {0.0, -0.01}}};
  EXPECT_EQ(tune_pass(pass.trials()).exchanged, 0);
  EXPECT_EQ(pass.used.at("a"), 0);
}

TEST(PassTuner, AGpuThatBecomesFasterByItselfChangesNoChoice) {
  FakePass pass;
  pass.choices = {{"a", 3}};
  pass.brings = {{"a", {0.0, 0.5, 0.4}}};
  pass.faster_by_itself = 2.0;
  EXPECT_EQ(tune_pass(pass.trials()).exchanged, 0);
  EXPECT_EQ(pass.used.at("a"), 0);
}

TEST(PassTuner, EndsInTimeWithWhatWasFasterSoFar) {
  FakePass pass;
  pass.choices = {{"a", 4}, {"b", 2}};
  pass.brings = {{"a", {0.0, -1.0, -2.0, -3.0}}, {"b", {0.0, -1.0}}};
  pass.last = 2;  // of the way before and the first way's
  const TunedPass tuned = tune_pass(pass.trials());
  EXPECT_EQ(tuned.trials, 1);
  EXPECT_THAT(pass.used, ElementsAre(Pair("a", 1)));
}

}  // namespace
}  // namespace swinscope
