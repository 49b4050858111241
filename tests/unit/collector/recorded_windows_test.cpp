#include "collector/cupti/recorded_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RecordedWindows, AnOpenOneEndsNow) {
  RecordedWindows windows;
  EXPECT_THAT(windows.all(5), IsEmpty());
  windows.opened(10);
  windows.opened(12);  // is open already
  EXPECT_THAT(windows.all(15), ElementsAre(WindowInfo{10, 15}));
  windows.closed(20);
  windows.closed(25);
  windows.opened(30);
  EXPECT_THAT(windows.all(40), ElementsAre(WindowInfo{10, 20}, WindowInfo{30, 40}));
}

TEST(RecordedWindows, KnowWhetherOneClosedMeanwhile) {
  RecordedWindows windows;
  EXPECT_FALSE(windows.closed_between(0, 100));
  windows.opened(10);
  EXPECT_FALSE(windows.closed_between(0, 100)) << "it is open";
  windows.closed(20);
  windows.opened(30);
  EXPECT_TRUE(windows.closed_between(15, 25));
  EXPECT_TRUE(windows.closed_between(15, 40)) << "though another one is open by then";
  EXPECT_FALSE(windows.closed_between(12, 20)) << "it ended with the window";
  EXPECT_FALSE(windows.closed_between(20, 40));
  EXPECT_FALSE(windows.closed_between(32, 40));
}

TEST(RecordedWindows, AThousandTimesAThousandAreOneInTheEnd) {
  RecordedWindows windows;
  constexpr std::int64_t kTimes = 1'000'000;
  for (std::int64_t i = 0; i < kTimes; ++i) {
    windows.opened(10 * i);
    windows.closed(10 * i + 5);
  }
  const std::vector<WindowInfo> all = windows.all(0);
  ASSERT_EQ(all.size(), RecordedWindows::kMost);
  EXPECT_EQ(all[0], (WindowInfo{0, 5}));
  EXPECT_EQ(all.back(), (WindowInfo{10 * (std::int64_t{RecordedWindows::kMost} - 1), 10 * (kTimes - 1) + 5}));
}

}  // namespace
}  // namespace swinscope
