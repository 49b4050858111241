// Steps by printed lines: every time is given, every expected figure follows by hand.
#include "analyzer/facts/output_steps.h"

#include <gmock/gmock.h>

#include "analyzer/facts/output_lines.h"
#include "analyzer/trace/step_rule.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Lines a given time apart, the first at 1000.
std::vector<OutputLine> every(std::int64_t period_ns, const std::vector<std::string>& texts) {
  std::vector<OutputLine> lines;
  lines.reserve(texts.size());
  for (const std::string& text : texts)
    lines.push_back({1000 + period_ns * static_cast<std::int64_t>(lines.size()), text});
  return lines;
}

// (length, count) of each piece of the first rank.
std::vector<std::pair<std::int64_t, std::int64_t>> pieces(const OutputSteps& steps) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  if (steps.ranks.empty()) return found;
  for (const ClosedSteps& closed : steps.ranks.front())
    found.emplace_back(closed.time.length(), closed.count);
  return found;
}

using Piece = std::pair<std::int64_t, std::int64_t>;

TEST(OutputSteps, ALineForEachStep) {
  const auto lines = every(10, {"start", "step 1 loss 0.5", "step 2 loss nan", "step 3 loss -1e-3", "step 4 loss 0.1"});
  const OutputSteps steps = find_output_steps(lines, 1);
  EXPECT_EQ(steps.refusal, "");
  EXPECT_EQ(steps.shown, "step N loss N");
  EXPECT_EQ(steps.lines, 4);
  EXPECT_EQ(steps.steps(), 3) << "the first line closes an unknown time";
  EXPECT_THAT(pieces(steps), ElementsAre(Piece(10, 1), Piece(10, 1), Piece(10, 1)));
  EXPECT_EQ(steps.pattern, "^step ([0-9]+) loss");
  EXPECT_EQ(output_steps(lines, steps.pattern, 1).steps(), 3) << "the rule finds what it was made of";
}

TEST(OutputSteps, ALineEveryTenSteps) {
  const OutputSteps steps = find_output_steps(every(50, {"iter 10", "iter 20", "iter 30", "iter 45"}), 1);
  EXPECT_THAT(pieces(steps), ElementsAre(Piece(50, 10), Piece(50, 10), Piece(50, 15)));
  EXPECT_EQ(steps.steps(), 35);
}

TEST(OutputSteps, AnEpochBeginsAnew) {
  const auto lines = every(7, {"Epoch 1 iter 0", "Epoch 1 iter 1", "Epoch 1 iter 2", "Epoch 1 iter 3", "Epoch 2 iter 0",
                               "Epoch 2 iter 1", "Epoch 2 iter 2", "Epoch 2 iter 3"});
  const OutputSteps steps = find_output_steps(lines, 1);
  EXPECT_EQ(steps.steps(), 6) << "the time from iter 3 to iter 0 is of no step";
  EXPECT_EQ(steps.restarts, 1);
  EXPECT_EQ(steps.pattern, "^Epoch [-+.[:alnum:]]+ iter ([0-9]+)$");
  EXPECT_EQ(output_steps(lines, steps.pattern, 1).steps(), 6);
}

TEST(OutputSteps, TheNumberThatCounts) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      // a line with # for what rises; the expression with ~ for a number that is not the step's
      {"[#/100] loss 3", "^\\[([0-9]+)/~\\] loss"},
      {"2026-11-27 14:09:3# INFO step # loss 0.5", "^~-~-~ ~:~:~ INFO step ([0-9]+) loss"},
      {"time #s step # of 9", "^time ~s step ([0-9]+) of ~$"},
      {"tokens #000 step #", "^tokens ~ step ([0-9]+)$"},
      {"#% done, batch #", "^~% done, batch ([0-9]+)$"},
      {"global_step=#, lr=0.1", "^global_step=([0-9]+), lr=~$"},
      {"# 0.25", "^([0-9]+) ~$"}};
  for (const auto& [text, pattern] : cases) {
    std::vector<std::string> texts;
    for (int i = 1; i <= 5; ++i) {
      std::string line = text;
      for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#'))
        line.replace(at, 1, std::to_string(i));
      texts.push_back(line);
    }
    const auto lines = every(10, texts);
    const OutputSteps steps = find_output_steps(lines, 1);
    std::string expected = pattern;
    for (std::size_t at = expected.find('~'); at != std::string::npos; at = expected.find('~'))
      expected.replace(at, 1, "[-+.[:alnum:]]+");
    EXPECT_EQ(steps.pattern, expected) << text;
    EXPECT_EQ(output_steps(lines, steps.pattern, 1).steps(), 4) << text;
  }
}

TEST(OutputSteps, LinesOfProgressBarsAndAlignedNumbersAreAlike) {
  const auto bars =
      every(10, {" 10%|#         | 1/9 [00:01<00:08,  1.2it/s]", " 20%|##        | 2/9 [00:02<00:07,  1.2it/s]",
                 " 30%|###       | 3/9 [00:03<00:06, 11.2it/s]", " 40%|####      | 4/9 [00:04<00:05,  1.2it/s]",
                 "100%|##########| 9/9 [00:09<00:00,  1.2it/s]"});
  const OutputSteps bar = find_output_steps(bars, 1);
  EXPECT_THAT(pieces(bar), ElementsAre(Piece(10, 1), Piece(10, 1), Piece(10, 1), Piece(10, 5)));
  EXPECT_EQ(output_steps(bars, bar.pattern, 1).steps(), 8) << bar.pattern;

  const auto aligned =
      every(10, {"iter   8  loss 1.0", "iter   9  loss 1.0", "iter  10  loss 1.0", "iter 100  loss 1.0"});
  const OutputSteps found = find_output_steps(aligned, 1);
  EXPECT_EQ(found.steps(), 92);
  EXPECT_EQ(output_steps(aligned, found.pattern, 1).steps(), 92) << found.pattern;

  const auto json = every(10, {R"({"step": 1, "loss": 5})", R"({"step": 2, "loss": 6})", R"({"step": 3, "loss": 7})",
                               R"({"step": 4, "loss": 8})"});
  EXPECT_EQ(find_output_steps(json, 1).steps(), 3);
}

TEST(OutputSteps, OtherLinesAreNoSteps) {
  std::vector<OutputLine> lines;
  lines.reserve(36);
  for (int i = 0; i < 20; ++i)  // quick, at the start
    lines.push_back({i, "loading shard " + std::to_string(i) + "/20"});
  for (int i = 0; i < 12; ++i) {
    lines.push_back({1000 + 100 * i, "step " + std::to_string(i) + " loss 2.5"});
    if (i % 3 == 2) lines.push_back({1010 + 100 * i, "saved checkpoint " + std::to_string(i)});
  }
  const OutputSteps steps = find_output_steps(lines, 1);
  EXPECT_EQ(steps.shown, "step N loss N");
  EXPECT_EQ(steps.steps(), 11);
  EXPECT_EQ(output_steps(lines, steps.pattern, 1).lines, 12) << "the expression takes these lines only";
}

TEST(OutputSteps, NothingCounts) {
  EXPECT_THAT(find_output_steps({}, 1).refusal, HasSubstr("prints no lines"));
  for (const auto& texts :
       std::vector<std::vector<std::string>>{{"a", "b", "c", "d", "e"},
                                             {"loss 0.5", "loss 0.4", "loss 0.3", "loss 0.2", "loss 1"},
                                             {"loss 1", "loss 2", "loss 3", "loss 4", "loss 5"},
                                             {"step 1", "step 2", "step 3"},
                                             {"n 5", "n 3", "n 9", "n 1", "n 7", "n 2"}}) {
    const OutputSteps steps = find_output_steps(every(10, texts), 1);
    EXPECT_THAT(steps.refusal, HasSubstr("counts up")) << texts.front();
    EXPECT_FALSE(steps.usable());
  }
}

TEST(OutputSteps, RanksThatNameThemselvesAreCountedApart) {
  // Rank 1 takes 12 a step, rank 0 takes 10.
  std::vector<OutputLine> lines;
  for (int i = 0; i < 6; ++i) {
    lines.push_back({1000 + 10 * i, "[rank 0] step " + std::to_string(i)});
    lines.push_back({1000 + 12 * i, "[rank 1] step " + std::to_string(i)});
  }
  std::ranges::stable_sort(lines, {}, &OutputLine::time_ns);
  const OutputSteps steps = find_output_steps(lines, 2);
  ASSERT_THAT(steps.ranks, SizeIs(2));
  EXPECT_EQ(steps.ranks[0][2].time.length(), 10);
  EXPECT_EQ(steps.ranks[1][2].time.length(), 12);
  EXPECT_EQ(output_steps(lines, "step ([0-9]+)", 2).ranks.size(), 2U) << "by an expression of the user, too";
}

TEST(OutputSteps, RanksThatDoNotNameThemselvesCloseAStepTogether) {
  // Both print each step, the second one 3 later.
  std::vector<OutputLine> lines;
  for (int i = 0; i < 5; ++i) {
    lines.push_back({1000 + 10 * i, "step " + std::to_string(i)});
    lines.push_back({1003 + 10 * i, "step " + std::to_string(i)});
  }
  const OutputSteps steps = find_output_steps(lines, 2);
  EXPECT_THAT(pieces(steps), ElementsAre(Piece(10, 1), Piece(10, 1), Piece(10, 1), Piece(10, 1)));
  EXPECT_EQ(steps.ranks.front().front().time.begin_ns, 1003) << "the later one closes it";
  EXPECT_EQ(steps.restarts, 0);

  // A line of one rank that was torn is known by the other's.
  std::vector<OutputLine> torn = lines;
  torn[4].text = "stestep 2";
  EXPECT_THAT(pieces(find_output_steps(torn, 2)), ElementsAre(Piece(10, 1), Piece(10, 1), Piece(10, 1), Piece(10, 1)));
  torn.erase(torn.begin() + 4);
  std::swap(torn[4].text, torn[5].text);  // and comes behind the next step's
  const OutputSteps behind = find_output_steps(torn, 2);
  EXPECT_EQ(behind.restarts, 0);
  EXPECT_EQ(behind.steps(), 4);

  // One rank alone, its lines twice, would be a restart each time.
  EXPECT_FALSE(find_output_steps(lines, 1).usable());
}

// Two ranks that wait for nobody: the second begins when the first has printed some of its 20 lines.
TEST(OutputSteps, RanksMayBeFarApart) {
  for (const int ahead : {1, 5, 15, 16, 17, 18}) {
    std::vector<OutputLine> lines;
    for (int i = 0; i < 20; ++i) {
      lines.push_back({1000 + 10 * i, "step " + std::to_string(i)});
      lines.push_back({1003 + 10 * (i + ahead), "step " + std::to_string(i)});
    }
    std::ranges::stable_sort(lines, {}, &OutputLine::time_ns);
    const OutputSteps steps = find_output_steps(lines, 2);
    EXPECT_EQ(steps.refusal, "") << ahead;
    EXPECT_EQ(steps.restarts, 0) << ahead;
    EXPECT_EQ(pieces(steps), std::vector<Piece>(19, Piece(10, 1))) << ahead << ": by the second one's lines";
  }
}

TEST(OutputSteps, EachEpochOfRanksThatAreApart) {
  // Two epochs of six steps; the second rank is two steps behind, so the first one begins anew before it ends.
  std::vector<OutputLine> lines;
  for (int i = 0; i < 12; ++i) {
    lines.push_back({1000 + 10 * i, "iter " + std::to_string(i % 6)});
    lines.push_back({1023 + 10 * i, "iter " + std::to_string(i % 6)});
  }
  std::ranges::stable_sort(lines, {}, &OutputLine::time_ns);
  const OutputSteps steps = find_output_steps(lines, 2);
  EXPECT_EQ(steps.restarts, 1);
  EXPECT_EQ(pieces(steps), std::vector<Piece>(10, Piece(10, 1)));
}

// One of the ranks prints, in epochs of different lengths.
TEST(OutputSteps, EpochsOfOneRankOfSeveral) {
  std::vector<std::string> texts;
  for (const int length : {4, 9, 5, 7}) {
    for (int i = 0; i < length; ++i)
      texts.push_back("iter " + std::to_string(i));
  }
  for (const int ranks : {1, 2, 3, 8}) {
    const OutputSteps steps = find_output_steps(every(10, texts), ranks);
    EXPECT_EQ(steps.restarts, 3) << ranks;
    EXPECT_EQ(pieces(steps), std::vector<Piece>(21, Piece(10, 1))) << ranks;
  }
}

TEST(OutputSteps, TwoEpochsAreNoTwoRanks) {
  const auto lines =
      every(10, {"epoch 0 iter 0", "epoch 0 iter 1", "epoch 0 iter 2", "epoch 0 iter 3", "epoch 0 iter 4",
                 "epoch 1 iter 0", "epoch 1 iter 1", "epoch 1 iter 2", "epoch 1 iter 3", "epoch 1 iter 4"});
  EXPECT_THAT(find_output_steps(lines, 2).ranks, SizeIs(1)) << "they are not at work at the same time";
}

TEST(OutputSteps, LinesThatComeAtOnceCloseTheirStepsTogether) {
  // 40 lines that come 10 at a time: when the first ten began is not known.
  std::vector<OutputLine> lines;
  lines.reserve(40);
  for (std::int64_t i = 0; i < 40; ++i)
    lines.push_back({1'000'000 * (i / 10), "step " + std::to_string(i)});
  const OutputSteps by_tens = find_output_steps(lines, 1);
  EXPECT_EQ(by_tens.refusal, "");
  EXPECT_THAT(pieces(by_tens), ElementsAre(Piece(1'000'000, 10), Piece(1'000'000, 10), Piece(1'000'000, 10)));
  // 20 at a time: nothing says that what is between the two is usual.
  std::vector<OutputLine> by_twenties = lines;
  for (OutputLine& line : by_twenties)
    line.time_ns /= 2'000'000;
  EXPECT_THAT(find_output_steps(by_twenties, 1).refusal, HasSubstr("38 of 40 lines came at once with the line before"));
  // All of them when the program ends.
  for (OutputLine& line : lines)
    line.time_ns = 5;
  EXPECT_THAT(output_steps(lines, "step ([0-9]+)", 1).refusal, HasSubstr("buffers its output"));
  // Of each five lines two were read together.
  lines.clear();
  for (int i = 0; i < 40; ++i)
    lines.push_back({1'000'000 * i - (i % 5 == 4 ? 999'990 : 0), "step " + std::to_string(i)});
  const OutputSteps late = find_output_steps(lines, 1);
  EXPECT_EQ(late.refusal, "");
  EXPECT_EQ(late.steps(), 39);
  EXPECT_THAT(pieces(late), testing::Not(testing::Contains(testing::Field(&Piece::first, testing::Lt(999'000)))));
}

TEST(OutputSteps, AnExpressionWithoutAGroup) {
  // The number of the step is found in the lines that match.
  const auto numbered = every(10, {"it 2", "it 4", "it 6", "other", "it 8"});
  EXPECT_EQ(output_steps(numbered, "^it", 2).steps(), 6);
  // Without any number each line is a step, of one rank.
  const auto plain = every(10, {"tick", "tick", "tick", "tick", "tock"});
  EXPECT_EQ(output_steps(plain, "tick", 1).steps(), 3);
  EXPECT_THAT(output_steps(plain, "tick", 2).refusal, HasSubstr("put ( ) around the number of the step"));
  EXPECT_THAT(output_steps(plain, "tock", 1).refusal, HasSubstr("1 matching, at least 4 are needed"));
  EXPECT_THAT(output_steps(plain, "boom", 1).refusal, HasSubstr("none of its 5 lines matches"));
  EXPECT_THAT(output_steps(plain, "(tick)", 1).refusal, HasSubstr("holds no number"));
}

TEST(StepRule, IsReadAndWritten) {
  for (const char* text : {"auto", "annotated", "launches", "whole-run", "nvtx:^it [0-9]+$", "stdout:step (\\d+)"})
    EXPECT_EQ(text_of(parse_step_rule(text)), text);
  EXPECT_EQ(parse_step_rule("").source, StepSource::kAnnotated);
  for (const char* text : {"step", "nvtx:", "stdout:", "stdout:(", "nvtx:[", "STDOUT:x"})
    EXPECT_THROW(parse_step_rule(text), Error) << text;
}

TEST(StepRule, ExpressionsMayHaveClassesOfPerl) {
  EXPECT_EQ(LinePattern("step (\\d+)").match("x step 12 y"), 12);
  EXPECT_EQ(LinePattern("^[\\d.]+ ([\\d]+)$").match("1.5 7"), 7);
  EXPECT_EQ(LinePattern("[[:space:]]\\[([^]]+)\\]").match("a [41]"), 41);
  EXPECT_EQ(LinePattern("(it|iter) ([0-9]+)").match("iter 3"), 3) << "the first group with a number";
  EXPECT_EQ(LinePattern("a(x)?b (\\d+)").match("ab 5"), 5) << "a group that took no part";
  EXPECT_EQ(LinePattern("step").match("a step"), -1);
  EXPECT_EQ(LinePattern("step").match("nothing"), std::nullopt);
  EXPECT_EQ(LinePattern("(9+)").match("99999999999999999999999"), -1) << "no number that can be kept";
}

class OutputFiles : public testing::Test {
 protected:
  void keep(const std::string& log, const std::string& times) const {
    test::write_file(folder_.path() / kOutputLog, log);
    test::write_file(folder_.path() / kOutputTimes, times);
  }
  test::TempFolder folder_;
};

TEST_F(OutputFiles, AreReadLineByLine) {
  keep("one\n\x1b[31mtwo\x1b[0m\rthree", "5 0 3\n7 4 12\n");
  const auto lines = read_output(folder_.path());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].time_ns, 5);
  EXPECT_EQ(lines[1].text, "two") << "without colours";
  keep("", "");
  EXPECT_THAT(read_output(folder_.path()), IsEmpty());
}

TEST_F(OutputFiles, ThatAreDamagedAreRefused) {
  EXPECT_THROW(read_output(folder_.path()), Error) << "there are none";
  for (const char* times :
       {"5 0 4\n", "5 4 1\n", "-1 0 1\n", "5 0 1\n4 1 1\n", "5 0 x\n", "5 18446744073709551615 2\n"}) {
    keep("abc", times);
    EXPECT_THROW(read_output(folder_.path()), Error) << times;
  }
}

}  // namespace
}  // namespace swinscope
