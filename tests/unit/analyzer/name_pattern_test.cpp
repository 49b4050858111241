// Regular expressions of users: what they match, and that none of them takes the program down.
#include "analyzer/base/name_pattern.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/error.h"

namespace swinscope {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return NamePattern("--filter", pattern).matches(text);
}

TEST(NamePattern, MatchesSomewhereInTheText) {
  EXPECT_TRUE(matches("tile\\d+", "gemm_tile128_kernel"));
  EXPECT_TRUE(matches("^[\\w:]+<[[:alpha:]]+>$", "ns::kernel<half>"));
  EXPECT_FALSE(matches("GEMM", "gemm"));
  EXPECT_TRUE(matches("(?i)GEMM", "gemm"));
  EXPECT_TRUE(NamePattern("--filter", "GEMM", true).matches("gemm"));
  EXPECT_TRUE(matches("^caf.$", "caf\u00e9")) << "a character of two bytes";
  EXPECT_TRUE(matches("b", std::string("a\0b", 3)));
  EXPECT_TRUE(matches("", "anything"));
}

// Of the first, glibc's matcher dies; the others take it, or one that goes back, exponential time.
TEST(NamePattern, NoExpressionExhaustsTheProgram) {
  EXPECT_THROW(NamePattern("--name", "(((a{0,255}){0,255}){0,255})"), Error);
  EXPECT_THROW(NamePattern("--name", std::string(100'000, '(')), Error);
  const std::string name(20'000, 'a');
  for (const char* pattern : {"(a|a)*b", "(a*)*b", "(a|aa)+$b", "(.*)(.*)(.*)(.*)(.*)x"})
    EXPECT_FALSE(matches(pattern, name)) << pattern;
}

TEST(NamePattern, SaysWhatIsWrong) {
  try {
    const NamePattern pattern("--name", "(a)\\1");
    FAIL() << "a back reference was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("--name (a)\\1: not a regular expression"));
  }
}

}  // namespace
}  // namespace swinscope
