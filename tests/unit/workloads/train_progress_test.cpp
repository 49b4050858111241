#include "workloads/train_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(TrainProgress, TimesAreWrittenAsPeopleReadThem) {
  EXPECT_EQ(format_time_left(0.0), "0.0 s");
  EXPECT_EQ(format_time_left(59.94), "59.9 s");
  EXPECT_EQ(format_time_left(59.96), "1 min 00 s");
  EXPECT_EQ(format_time_left(200.0), "3 min 20 s");
  EXPECT_EQ(format_time_left(7499.0), "2 h 05 min");
}

// The first step takes 10 s, the others 1 s, and every fifth is followed by 5 s of validation: 2 s a step.
TEST(TrainProgress, TheTimeLeftCountsWhatComesBetweenStepsAndNotTheFirst) {
  TrainProgress progress(0, 101, 8);
  const auto first = progress.line(1, {}, 10 * kSecond, 10 * kSecond);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, HasSubstr("step 1/101: "));
  EXPECT_THAT(*first, HasSubstr("0.8 images/s"));
  std::int64_t now = 10 * kSecond;
  int lines = 0;
  std::string last;
  for (std::int64_t step = 2; step <= 51; ++step) {
    now += kSecond;
    const auto line = progress.line(step, {}, kSecond, now);
    if (line) {
      ++lines;
      last = *line;
    }
    if (step % 5 == 0) now += 5 * kSecond;
  }
  EXPECT_EQ(lines, 5);  // 11, 21, 31, 41, 51
  EXPECT_THAT(last, HasSubstr("step 51/101: "));
  EXPECT_THAT(last, HasSubstr("4.0 images/s"));
  EXPECT_THAT(last, EndsWith("1 min 40 s left"));
}

TEST(TrainProgress, ALongSilenceIsBroken) {
  TrainProgress progress(0, 1'000'000, 1);
  ASSERT_TRUE(progress.line(1, {}, 1, kSecond));
  EXPECT_FALSE(progress.line(2, {}, 1, 2 * kSecond));
  EXPECT_FALSE(progress.line(3, {}, 1, 30 * kSecond));
  EXPECT_TRUE(progress.line(4, {}, 1, 31 * kSecond));
  EXPECT_FALSE(progress.line(5, {}, 1, 32 * kSecond));
}

TEST(TrainProgress, AStepThatWasSkippedIsAlwaysNamed) {
  TrainProgress progress(100, 1'000'000, 1);
  ASSERT_TRUE(progress.line(101, {}, 1, kSecond));
  StepResult result;
  result.skipped = true;
  const auto line = progress.line(102, result, 1, 2 * kSecond);
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, HasSubstr("skipped: the gradient is not finite"));
}

}  // namespace
}  // namespace swinscope
