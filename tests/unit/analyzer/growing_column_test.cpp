// A column that is filled in parts: its places, and its values in order.
#include "analyzer/trace/growing_column.h"

#include <numeric>

#include <gtest/gtest.h>

namespace swinscope::test {
namespace {

GrowingColumn<int> column_of(int first, int count) {
  GrowingColumn<int> column;
  for (int i = 0; i < count; ++i)
    column.push_back(first + i);
  return column;
}

std::vector<EventIndex> places_of(const GrowingColumn<int>& column) {
  std::vector<EventIndex> places;
  column.for_each_place([&](EventIndex place) { places.push_back(place); });
  return places;
}

// Of several chunks, joined behind one that is not full.
TEST(GrowingColumnTest, JoinsAnotherOneBehindItsOwnValues) {
  constexpr int kOwn = 100'000;
  constexpr int kOther = 200'001;
  GrowingColumn<int> column = column_of(0, kOwn);
  GrowingColumn<int> other = column_of(kOwn, kOther);
  column.take_over(other);
  column.push_back(kOwn + kOther);
  std::vector<int> expected(kOwn + kOther + 1);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(places_of(other).size(), 0U);
  const std::vector<EventIndex> places = places_of(column);
  EXPECT_EQ(column[places.back()], kOwn + kOther);
  EXPECT_EQ(column.take_in_order(places), expected);
  EXPECT_EQ(places_of(column).size(), 0U);
}

TEST(GrowingColumnTest, GivesItsValuesInTheOrderThatIsAskedFor) {
  GrowingColumn<int> column = column_of(10, 4);
  column.for_each([](int& value) { value *= 2; });
  EXPECT_EQ(column.take_in_order(std::vector<EventIndex>{2, 0, 3}), (std::vector<int>{24, 20, 26}));
}

}  // namespace
}  // namespace swinscope::test
