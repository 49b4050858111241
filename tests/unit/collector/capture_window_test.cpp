#include "collector/base/capture_window.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

using Move = RangeWindow::Move;

TEST(CaptureWindow, TextsSurviveTheWayThroughTheEnvironment) {
  for (const char* text : {"whole", "steps:10:20", "nvtx:train loop", "cudaProfilerApi", "armed"}) {
    const auto options = parse_window(text);
    ASSERT_TRUE(options) << text;
    EXPECT_EQ(window_text(*options), text);
  }
}

TEST(CaptureWindow, NonsenseIsRefused) {
  for (const char* text : {"", "steps", "steps:", "steps:1", "steps:5:5", "steps:7:3", "steps:a:b", "steps:1:2x",
                           "steps:-1:2", "nvtx:", "profiler"})
    EXPECT_FALSE(parse_window(text)) << text;
}

TEST(CaptureWindow, StepsOpenAtTheFirstAndCloseBehindTheLast) {
  RangeWindow window(*parse_window("steps:1:3"));
  EXPECT_TRUE(window.watches_ranges());
  EXPECT_EQ(window.pushed(7, 0, 0, "step 0"), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 1, "forward"), Move::kNone);
  EXPECT_EQ(window.popped(7, 0, 1), Move::kNone);
  EXPECT_EQ(window.popped(7, 0, 0), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 0, "step 1"), Move::kOpen);
  EXPECT_EQ(window.popped(7, 0, 0), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 0, "step 2"), Move::kNone);
  EXPECT_EQ(window.popped(7, 0, 0), Move::kClose);
  EXPECT_EQ(window.pushed(7, 0, 0, "step 3"), Move::kNone);
}

TEST(CaptureWindow, StepsCountAtAnyDepthButNotWithinOneAnother) {
  RangeWindow window(*parse_window("steps:1:2"));
  EXPECT_EQ(window.pushed(7, 0, 0, "step 0"), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 1, "step of something else"), Move::kNone);
  EXPECT_EQ(window.popped(7, 0, 1), Move::kNone);
  EXPECT_EQ(window.popped(7, 0, 0), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 0, "epoch"), Move::kNone);
  EXPECT_EQ(window.pushed(7, 0, 1, "step 1"), Move::kOpen);
  EXPECT_EQ(window.popped(7, 0, 1), Move::kClose);
}

TEST(CaptureWindow, StepsAreCountedOnceAndNotOfEveryThread) {
  RangeWindow window(*parse_window("steps:1:2"));
  EXPECT_EQ(window.pushed(7, 1, 0, "step"), Move::kNone);
  EXPECT_EQ(window.pushed(8, 1, 0, "step"), Move::kNone);  // of a loader
  EXPECT_EQ(window.pushed(7, 0, 0, "ProfilerStep#0"), Move::kNone);
  EXPECT_EQ(window.popped(7, 1, 0), Move::kNone);
  EXPECT_EQ(window.pushed(7, 1, 0, "step"), Move::kOpen);
}

TEST(CaptureWindow, ARangeOpensAgainEachTime) {
  RangeWindow window(*parse_window("nvtx:hot"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(window.pushed(7, 0, 2, "hot"), Move::kOpen);
    EXPECT_EQ(window.pushed(7, 0, 3, "hot"), Move::kNone);
    EXPECT_EQ(window.popped(7, 0, 3), Move::kNone);
    EXPECT_EQ(window.popped(8, 0, 2), Move::kNone);
    EXPECT_EQ(window.popped(7, 0, 2), Move::kClose);
  }
}

TEST(CaptureWindow, StepNames) {
  for (const char* name : {"step", "step 12", "ProfilerStep#3"})
    EXPECT_TRUE(is_step_name(name)) << name;
  for (const char* name : {"stepper", "Optimizer.step#AdamW.step", "train step"})
    EXPECT_FALSE(is_step_name(name)) << name;
}

}  // namespace
}  // namespace swinscope
