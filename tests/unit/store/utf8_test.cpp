#include "store/utf8.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope::test {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

std::string encode(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](unsigned shift) { return byte(0x80U | ((code_point >> shift) & 0x3FU)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0U | (code_point >> 6U)), tail(0)};
  if (code_point < 0x10000) return {byte(0xE0U | (code_point >> 12U)), tail(6), tail(0)};
  return {byte(0xF0U | (code_point >> 18U)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointButTheSurrogatesIsValid) {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(is_valid_utf8(encode(c)), !surrogate) << c;
  }
  EXPECT_FALSE(is_valid_utf8(encode(0x110000)));
}

TEST(Utf8, ValidTextStaysAsItIs) {
  for (const std::string& text : {std::string(), std::string("plain"), std::string("a\0b", 3),
                                  std::string("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")}) {
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_EQ(replace_invalid_utf8(text), text);
  }
}

TEST(Utf8, EachByteOfAnIllFormedSequenceIsReplaced) {
  const std::vector<std::pair<std::string, int>> cases = {{"\x80", 1},  // a continuation alone
                                                          {"\xC3", 1},  // cut off
                                                          {"\xE2\x82", 2},
                                                          {"\xF0\x9F\x98", 3},
                                                          {"\xC0\x80", 2},  // overlong
                                                          {"\xC1\xBF", 2},
                                                          {"\xE0\x9F\xBF", 3},
                                                          {"\xF0\x8F\xBF\xBF", 4},
                                                          {"\xED\xA0\x80", 3},      // surrogate
                                                          {"\xF4\x90\x80\x80", 4},  // beyond the last code point
                                                          {"\xF5\x80\x80\x80", 4},
                                                          {"\xFE\xFF", 2}};
  for (const auto& [bytes, count] : cases) {
    EXPECT_FALSE(is_valid_utf8(bytes));
    std::string expected = "<";
    for (int i = 0; i < count; ++i)
      expected += kReplacement;
    EXPECT_EQ(replace_invalid_utf8("<" + bytes + ">"), expected + ">");
  }
}

// Every sequence of two bytes, alone and with text around it: what comes out is valid, and ASCII is never lost.
TEST(Utf8, TheResultIsAlwaysValid) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second), 'z'};
      const std::string valid = replace_invalid_utf8(bytes);
      ASSERT_TRUE(is_valid_utf8(valid)) << first << " " << second;
      ASSERT_EQ(valid.back(), 'z') << first << " " << second;
      ASSERT_EQ(is_valid_utf8(bytes), valid == bytes) << first << " " << second;
    }
  }
}

TEST(Utf8, PrintableTextSteersNoTerminal) {
  EXPECT_EQ(printable("gemm<float>[é]"), "gemm<float>[é]");
  EXPECT_EQ(printable("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(printable(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("one\ttwo\r\nthree"), "one two  three");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");                                       // CSI of C1
  EXPECT_EQ(printable(encode(0xA0)), encode(0xA0));            // the first behind C1
  EXPECT_EQ(printable(encode(0x202E) + "txt"), "\\u202etxt");  // right to left from here
  EXPECT_EQ(printable(encode(0x2066) + encode(0x2069)), "\\u2066\\u2069");
  EXPECT_EQ(printable(encode(0x2028)), "\\u2028");
  EXPECT_EQ(printable(encode(0x1F600)), encode(0x1F600));
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            std::string(kReplacement) + "31m");
  EXPECT_EQ(printable(printable("\x1b")), "\\x1b");
}

}  // namespace
}  // namespace swinscope::test
