// Pettitt's test by hand, and how often it finds changes where there are none.
#include "analyzer/base/change_points.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

std::vector<std::int64_t> levels(const std::vector<std::pair<std::size_t, std::int64_t>>& parts) {
  std::vector<std::int64_t> values;
  for (const auto& [count, level] : parts)
    values.insert(values.end(), count, level);
  return values;
}

// 9 values of 100, 9 of 150: ranks 5 and 14; U_9 = 2 * 45 - 9 * 19 = -81, x^2 = 3 * 6561 / (5832 + 324), and p is twice
// that of the test.
TEST(ChangePoints, AreWhereTheLevelChanges) {
  const std::vector<ChangePoint> found = find_changes(levels({{9, 100}, {9, 150}}), 0.01);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, 9U);
  EXPECT_DOUBLE_EQ(found[0].p, 4 * std::exp(-2 * 19'683.0 / 6'156));
  EXPECT_LT(found[0].p, kChangeAlpha);
}

// One value fewer: U_8 = 2 * 36 - 8 * 18 = -72, x^2 = 15552 / 5202, p = 0.01012.
TEST(ChangePoints, AreNotSaidOfTooFewValues) {
  EXPECT_GT(4 * std::exp(-2 * 15'552.0 / 5'202), kChangeAlpha);
  EXPECT_TRUE(find_changes(levels({{8, 100}, {9, 150}}), 0.01).empty());
  EXPECT_TRUE(find_changes({}, 0.01).empty());
}

// 20 of 100, 20 of 150, 20 of 100: ranks 20.5 and 50.5; U_20 = 2 * 410 - 20 * 61 = -400, U_40 = 2 * 1420 - 40 * 61 =
// 400: of a change for good p = 4 exp(-2 * 3 * 160000 / 219600) = 0.05, of one and back x^2 = 3 * 640000 / 219600.
TEST(ChangePoints, AreThereAndBack) {
  const std::vector<ChangePoint> found = find_changes(levels({{20, 100}, {20, 150}, {20, 100}}), 0.01);
  const double squared = 1'920'000.0 / 219'600;
  const double p = 4 * (4 * squared - 1) * std::exp(-2 * squared);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 20U);
  EXPECT_EQ(found[1].at, 40U);
  EXPECT_DOUBLE_EQ(found[0].p, p);
  EXPECT_DOUBLE_EQ(found[1].p, p);
}

TEST(ChangePoints, AreSeveral) {
  const std::vector<ChangePoint> found = find_changes(levels({{25, 100}, {25, 150}, {25, 200}}), 0.01);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 25U);
  EXPECT_EQ(found[1].at, 50U);
}

TEST(ChangePoints, AreNotWhereTheLevelStays) {
  EXPECT_TRUE(find_changes(levels({{100, 100}}), 0.01).empty());
  std::vector<std::int64_t> outliers = levels({{30, 100}});
  outliers[0] = 10'000, outliers[1] = 9'000, outliers[17] = 5'000;
  EXPECT_TRUE(find_changes(outliers, 0.01).empty()) << "single slow steps";
  EXPECT_TRUE(find_changes(levels({{50, 1'000}, {50, 1'009}}), 0.01).empty()) << "0.9 %";
  EXPECT_EQ(find_changes(levels({{50, 1'000}, {50, 1'010}}), 0.01).size(), 1U) << "1 %";
}

// At most a hundredth of the series is split. The generator gives the same values everywhere.
TEST(ChangePoints, AreFalseAlarmsAsRarelyAsIsSaid) {
  std::mt19937 random(20'260'101);
  for (const std::size_t length : {std::size_t{18}, std::size_t{40}, std::size_t{200}}) {
    constexpr int kSeries = 4'000;
    int alarms = 0;
    for (int i = 0; i < kSeries; ++i) {
      std::vector<std::int64_t> values(length);
      for (std::int64_t& value : values)
        value = 1'000'000 + static_cast<std::int64_t>(random() % 500'000);
      alarms += find_changes(values, 0).empty() ? 0 : 1;
    }
    RecordProperty("alarms_of_" + std::to_string(length), alarms);
    EXPECT_LE(alarms, kSeries / 100) << length;
  }
}

}  // namespace
}  // namespace swinscope
