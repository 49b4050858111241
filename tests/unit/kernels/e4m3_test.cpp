// The 8-bit numbers of kernels/e4m3.h, against the format's description.
#include "kernels/e4m3.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

TEST(E4m3, EveryNumberComesBack) {
  for (int bits = 0; bits < 256; ++bits) {
    const float value = from_e4m3(static_cast<std::uint8_t>(bits));
    if (std::isnan(value)) {
      EXPECT_EQ(bits & 0x7f, 0x7f);
      continue;
    }
    EXPECT_EQ(to_e4m3(value), bits) << value;
  }
}

TEST(E4m3, NumbersAreThoseOfTheFormat) {
  EXPECT_EQ(from_e4m3(0x00), 0.0F);
  EXPECT_EQ(from_e4m3(0x01), 0x1p-9F);  // the smallest
  EXPECT_EQ(from_e4m3(0x07), 7 * 0x1p-9F);
  EXPECT_EQ(from_e4m3(0x08), 0x1p-6F);  // the smallest normal one
  EXPECT_EQ(from_e4m3(0x38), 1.0F);
  EXPECT_EQ(from_e4m3(0x39), 1.125F);
  EXPECT_EQ(from_e4m3(0x7e), 448.0F);
  EXPECT_EQ(from_e4m3(0xfe), -448.0F);
}

TEST(E4m3, TiesGoToTheEvenNumber) {
  EXPECT_EQ(from_e4m3(to_e4m3(1.0625F)), 1.0F);   // between 1 and 1.125
  EXPECT_EQ(from_e4m3(to_e4m3(1.1875F)), 1.25F);  // between 1.125 and 1.25
  EXPECT_EQ(from_e4m3(to_e4m3(1.0626F)), 1.125F);
  EXPECT_EQ(from_e4m3(to_e4m3(0x1p-10F)), 0.0F);  // half of the smallest
  EXPECT_EQ(from_e4m3(to_e4m3(0x1.8p-9F)), 0x1p-8F);
  EXPECT_EQ(from_e4m3(to_e4m3(1.96875F)), 2.0F);  // into the next exponent
}

TEST(E4m3, WhatIsBeyondTheLargestBecomesThat) {
  EXPECT_EQ(from_e4m3(to_e4m3(1e6F)), 448.0F);
  EXPECT_EQ(from_e4m3(to_e4m3(-std::numeric_limits<float>::infinity())), -448.0F);
  EXPECT_TRUE(std::isnan(from_e4m3(to_e4m3(std::nanf("")))));
}

TEST(E4m3, ScalesAreNeverZero) {
  EXPECT_EQ(e4m3_scale(896.0F), 2.0F);
  EXPECT_EQ(e4m3_scale(0.0F), kLeastE4m3Scale);
}

}  // namespace
}  // namespace swinscope
