#include "analyzer/base/text.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

TEST(Text, NumbersHaveNoExponent) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.83333), "0.8333");
  EXPECT_EQ(format_number(13.5), "13.5");
  EXPECT_EQ(format_number(9999.4), "9999");
  EXPECT_EQ(format_number(9999.5), "10,000");
  EXPECT_EQ(format_number(14340.2), "14,340");
  EXPECT_EQ(format_number(-1234567), "-1,234,567");
  EXPECT_EQ(format_number(2e18), "2e+18");
}

}  // namespace
}  // namespace swinscope
