// Keys that are looked up by their length first.
#include "analyzer/importers/key_table.h"

#include <string>

#include <gtest/gtest.h>

namespace swinscope::test {
namespace {

constexpr KeyTable kTable(std::to_array<std::pair<std::string_view, int>>(
    {{"device", 1}, {"ts", 2}, {"stream", 3}, {"ph", 4}, {"x", 5}, {"wait_on_cuda_event_record_corr_id", 6}}));

int value_of(std::string_view key) {
  const int* const found = kTable.find(key);
  return found == nullptr ? 0 : *found;
}

TEST(KeyTable, FindsEachKeyAmongThoseOfItsLength) {
  EXPECT_EQ(value_of("device"), 1);
  EXPECT_EQ(value_of("stream"), 3);
  EXPECT_EQ(value_of("ts"), 2);
  EXPECT_EQ(value_of("ph"), 4);
  EXPECT_EQ(value_of("x"), 5);
  EXPECT_EQ(value_of("wait_on_cuda_event_record_corr_id"), 6);
}

TEST(KeyTable, OtherKeysAreNotThere) {
  for (std::size_t length = 0; length <= 300; ++length)
    EXPECT_EQ(value_of(std::string(length, 'y')), 0) << length;
  EXPECT_EQ(value_of("devicE"), 0);
  EXPECT_EQ(value_of("t"), 0);
}

}  // namespace
}  // namespace swinscope::test
