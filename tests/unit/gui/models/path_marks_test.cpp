// Where the critical path is marked, known by hand; and why it is not.
#include "gui/core/path_marks.h"

#include <gtest/gtest.h>

#include "tests/unit/advisor/hand_step.h"

namespace swinscope::gui {
namespace {

OpenedRun opened(Trace trace) {
  OpenedRun run;
  run.trace = std::make_shared<const Trace>(std::move(trace));
  run.timeline = std::make_shared<const Timeline>(build_timeline(*run.trace));
  return run;
}

// As they are said, in microseconds.
std::string marks_of(const OpenedRun& run, const PathMarks& marks, LaneKind kind) {
  std::string text;
  for (LaneId lane = 0; lane < run.timeline->lanes.size(); ++lane) {
    if (run.timeline->lanes[lane].key.kind != kind) continue;
    for (const Interval& mark : marks.by_lane.at(lane))
      text += std::to_string(mark.begin_ns / 1'000) + ".." + std::to_string(mark.end_ns / 1'000) + " ";
  }
  return text;
}

// The product 5 .. 105, the norm 106 .. 156; the wait, which begins at 8, returns at 161, and the step ends at 163. Of
// the wait only what is behind the norm is on the path.
TEST(PathMarks, AreAtWhatDecides) {
  const OpenedRun run =
      opened(test::trace_of_step([](test::HandStep& step) { step.kernel(test::kGemm, 100).kernel(test::kNorm, 50); }));
  const PathMarks marks = path_marks(run, {});
  ASSERT_FALSE(marks.problem.has_value());
  EXPECT_EQ(marks_of(run, marks, LaneKind::kKernels), "5..105 106..156 ");
  EXPECT_EQ(marks_of(run, marks, LaneKind::kCalls), "156..163 ");
  EXPECT_EQ(marks.summary, QStringLiteral("of 1 step: compute 61.3 %, memory 30.7 %, delay of the GPU 3.7 %"));
}

// The norm on the other stream ends long before the product does.
TEST(PathMarks, AreNotAtWhatIsHidden) {
  const OpenedRun run = opened(
      test::trace_of_step([](test::HandStep& step) { step.kernel(test::kNorm, 20, {8}).kernel(test::kGemm, 100); }));
  EXPECT_EQ(marks_of(run, path_marks(run, {}), LaneKind::kKernels), "9..109 ");
}

TEST(PathMarks, SayWhyThereAreNone) {
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  rank.kernel("gemm", 1, 5, 10);
  rank.step(0, 20);
  const PathMarks marks = path_marks(opened(hand.build()), {});
  ASSERT_TRUE(marks.problem.has_value());
  EXPECT_FALSE(marks.problem->what.isEmpty());
  EXPECT_TRUE(marks.by_lane.empty());
}

}  // namespace
}  // namespace swinscope::gui
