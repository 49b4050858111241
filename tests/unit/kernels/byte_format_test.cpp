// The 8-bit numbers of kernels/byte_format.h, against the formats' descriptions.
#include "kernels/byte_format.h"

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

TEST(Int8, EveryNumberComesBack) {
  for (int number = -127; number <= 127; ++number) {
    const auto value = static_cast<float>(number);
    EXPECT_EQ(to_int8(value), static_cast<std::uint8_t>(number));
    EXPECT_EQ(from_int8(to_int8(value)), value);
  }
}

TEST(Int8, TiesGoToTheEvenNumber) {
  EXPECT_EQ(from_int8(to_int8(0.5F)), 0.0F);
  EXPECT_EQ(from_int8(to_int8(1.5F)), 2.0F);
  EXPECT_EQ(from_int8(to_int8(-2.5F)), -2.0F);
  EXPECT_EQ(from_int8(to_int8(-2.501F)), -3.0F);
  EXPECT_EQ(from_int8(to_int8(126.5F)), 126.0F);
}

// Both ways alike: -128 is never made. What is no number becomes the largest, as it does on the GPU.
TEST(Int8, WhatIsBeyondTheLargestBecomesThat) {
  EXPECT_EQ(from_int8(to_int8(127.6F)), 127.0F);
  EXPECT_EQ(from_int8(to_int8(-128.0F)), -127.0F);
  EXPECT_EQ(from_int8(to_int8(1e30F)), 127.0F);
  EXPECT_EQ(from_int8(to_int8(-std::numeric_limits<float>::infinity())), -127.0F);
  EXPECT_EQ(from_int8(to_int8(std::nanf(""))), 127.0F);
}

TEST(ByteFormat, ScalesAreNeverZero) {
  EXPECT_EQ(byte_scale(ByteFormat::kE4m3, 896.0F), 2.0F);
  EXPECT_EQ(byte_scale(ByteFormat::kInt8, 254.0F), 2.0F);
  for (const ByteFormat format : {ByteFormat::kE4m3, ByteFormat::kInt8}) {
    EXPECT_EQ(byte_scale(format, 0.0F), kLeastByteScale);
    EXPECT_EQ(from_byte(format, to_byte(format, 3.0F)), 3.0F);
  }
}

}  // namespace
}  // namespace swinscope
