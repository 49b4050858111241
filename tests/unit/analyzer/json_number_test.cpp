#include "analyzer/base/json_number.h"

#include <gmock/gmock.h>

namespace swinscope::test {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(WholeNumber, IsTakenAsItIsWritten) {
  EXPECT_EQ(whole_number<std::int64_t>(Json::parse("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(whole_number<std::int64_t>(Json::parse("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(whole_number<std::uint64_t>(Json::parse("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(whole_number<int>(Json::parse("2147483647")), INT32_MAX);
  EXPECT_EQ(whole_number<int>(Json::parse("3.0")), 3);
  EXPECT_EQ(whole_number<int>(Json::parse("-1e3")), -1000);
}

TEST(WholeNumber, WhatDoesNotFitIsRefused) {
  for (const char* text : {"9223372036854775808", "1e99", "-1e99", "1e19", "0.5", "1e16"})
    EXPECT_THROW(whole_number<std::int64_t>(Json::parse(text)), Json::type_error) << text;
  for (const char* text : {"2147483648", "-2147483649", "4294967297", "3e9"})
    EXPECT_THROW(whole_number<int>(Json::parse(text)), Json::type_error) << text;
  for (const char* text : {"-1", "-1.0", "18446744073709551616"})
    EXPECT_THROW(whole_number<std::uint64_t>(Json::parse(text)), Json::type_error) << text;
  for (const char* text : {"\"1\"", "null", "true", "[1]", "{}"})
    EXPECT_THROW(whole_number<int>(Json::parse(text)), Json::type_error) << text;
  try {
    whole_number<int>(Json::parse("1e99"));
    FAIL();
  } catch (const Json::type_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this is no whole number that fits: 1e+99"));
  }
}

TEST(WholeNumber, OfAKeyOrAList) {
  const Json json = Json::parse(R"({"a": 1, "b": [2, 3.0], "c": [1e99]})");
  EXPECT_EQ(whole_number(json, "a", 7), 1);
  EXPECT_EQ(whole_number(json, "d", 7), 7);
  EXPECT_THROW(whole_number(json, "b", 7), Json::type_error);
  EXPECT_THAT(whole_numbers<int>(json["b"]), ElementsAre(2, 3));
  EXPECT_THROW(whole_numbers<int>(json["c"]), Json::type_error);
  EXPECT_THROW(whole_numbers<int>(json["a"]), Json::type_error);
}

}  // namespace
}  // namespace swinscope::test
