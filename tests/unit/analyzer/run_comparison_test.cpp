// Independent runs beside each other.
#include "analyzer/experiment/run_comparison.h"

#include <gmock/gmock.h>

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ComparedRun run_of(const std::string& name, std::int64_t step_ns, double images_per_second,
                   const std::vector<std::string>& command) {
  ComparedRun run;
  run.name = name;
  run.command = command;
  run.steps = 2;
  run.step_ns = step_ns;
  if (images_per_second > 0) run.images_per_second = images_per_second;
  return run;
}

std::vector<std::string> level(const std::string& name) { return {"swin", "train", "--level", name}; }

std::vector<std::string> names_in(const Document& document) {
  std::vector<std::string> names;
  for (const auto& row : document.tables.front().rows)
    names.push_back(std::get<std::string>(row.front()));
  return names;
}

TEST(RunComparison, TheFastestComesFirstAndIsComparedWithTheSlowest) {
  const Document document = runs_document(
      {run_of("eager.db", 4000000, 1000, level("eager")), run_of("graph.db", 1000000, 4000, level("graph")),
       run_of("fused.db", 2000000, 2000, level("fused"))},
      {.order = RunOrder::kFastestFirst});
  EXPECT_THAT(names_in(document), ElementsAre("graph.db", "fused.db", "eager.db"));
  EXPECT_THAT(document.headline,
              ElementsAre("fastest: graph.db (`--level graph`): 4.00 times faster than eager.db (`--level eager`) "
                          "(1.000 ms per step against 4.000 ms) for the same images"));
  EXPECT_EQ(document.tables.front().rows[1][5], Cell(2.0));
}

// A step of twice the images in 1.5 times the time is the faster one.
TEST(RunComparison, ImagesCountWhereAllSayThem) {
  const Document document = runs_document({run_of("a", 1000, 4e9, level("a")), run_of("b", 1500, 5.33e9, level("b"))},
                                          {.order = RunOrder::kFastestFirst});
  EXPECT_THAT(names_in(document), ElementsAre("b", "a"));
  const Document unknown = runs_document({run_of("a", 1000, 4e9, level("a")), run_of("b", 1500, 0, level("b"))},
                                         {.order = RunOrder::kFastestFirst});
  EXPECT_THAT(names_in(unknown), ElementsAre("a", "b"));
  EXPECT_THAT(unknown.headline.front(), HasSubstr("images per step not known"));
}

TEST(RunComparison, AGivenBaseStaysFirst) {
  const Document document = runs_document({run_of("base", 1000, 0, level("a")), run_of("slow", 3000, 0, level("b"))},
                                          {.order = RunOrder::kAsGiven});
  EXPECT_THAT(names_in(document), ElementsAre("base", "slow"));
  EXPECT_THAT(document.headline.front(), HasSubstr("slow (`--level b`): 3.00 times slower than base (`--level a`)"));
}

TEST(RunComparison, UnlikeWorkAndMissingStepsAreSaid) {
  const Document document =
      runs_document({run_of("a", 1000, 0, {"swin", "train"}), run_of("b", 2000, 0, {"swin", "infer"})},
                    {.order = RunOrder::kFastestFirst});
  ASSERT_EQ(document.headline.size(), 2U);
  EXPECT_EQ(
      document.headline.front(),
      "not the same work: a has `train`, b (the base) has `infer`, so a ratio of times compares programs, models or "
      "tasks, too");
  const Document given =
      runs_document({run_of("a", 1000, 0, {"swin", "train"}), run_of("b", 2000, 0, {"swin", "infer"})},
                    {.order = RunOrder::kAsGiven});
  EXPECT_EQ(given.finding->abstained, "not the same work: b has `infer`, a (the base) has `train`");
  ComparedRun none;
  none.name = "none";
  const Document without = runs_document({none, none}, {.order = RunOrder::kAsGiven});
  EXPECT_THAT(without.headline, ElementsAre(HasSubstr("no steps were found")));
  EXPECT_THAT(without.finding->abstained, HasSubstr("none has neither steps nor GPU activity"));
}

// A step of one is nothing to compare the whole trace of another with.
TEST(RunComparison, AStepIsNotComparedWithAWholeTrace) {
  ComparedRun steps = run_of("steps", 1000, 0, level("a"));
  steps.work.is_of_steps = true;
  steps.work.step_ns = 1000;
  ComparedRun whole = run_of("whole", 0, 0, level("a"));
  whole.work.step_ns = 1'000'000;
  const Document document = runs_document({steps, whole}, {.order = RunOrder::kAsGiven});
  EXPECT_THAT(document.headline.back(), HasSubstr("steps has steps and whole none"));
  EXPECT_THAT(document.finding->abstained, HasSubstr("steps has steps and whole none"));
  EXPECT_EQ(document.tables.size(), 1U) << "only the runs";
}

}  // namespace
}  // namespace swinscope
