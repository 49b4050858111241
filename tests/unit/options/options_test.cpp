// What every command relies on: values and their limits, defaults and where they come from, refusals.
#include "options/options.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// A program with one command of each kind of option.
class OptionsTest : public ::testing::Test {
 protected:
  OptionsTest() : command_(program_.add_command("run", "Runs")) {
    command_.option("RUN", run_).required();
    command_.option("--format", format_).one_of({"table", "csv"}).variable("OPTIONS_TEST_FORMAT");
    command_.option("--top", top_).not_negative();
    command_.option("--share", share_).within(0.0, 1.0);
    command_.option("--counts", counts_).separated_by(',').positive();
    command_.option("--class", classes_).one_word_each();
    command_.option("--size", size_).size_in_bytes();
    command_.flag("-f,--force", force_);
    command_.does([this] { return force_ ? 1 : 0; });
    unsetenv("OPTIONS_TEST_FORMAT");
  }

  // Why the words are refused; "": they are not.
  std::string refusal(const Words& words) {
    try {
      program_.parse(words);
      return "";
    } catch (const OptionError& error) {
      return error.what();
    }
  }

  std::string run_;
  std::string format_ = "table";
  std::optional<std::uint64_t> top_;
  double share_ = 0.5;
  std::vector<int> counts_;
  Words classes_;
  std::uint64_t size_ = 0;
  bool force_ = false;
  Program program_{"program", "For tests"};
  Command& command_;
};

TEST_F(OptionsTest, GivesValuesAndRunsTheCommand) {
  ASSERT_TRUE(program_.parse({"run", "--class", "a", "--class", "b", "trace.db", "--counts", "1,2", "--size=2k",
                              "--format", "csv", "--top", "3", "-f"}));
  EXPECT_EQ(run_, "trace.db");
  EXPECT_EQ(format_, "csv");
  EXPECT_EQ(top_, 3U);
  EXPECT_DOUBLE_EQ(share_, 0.5);
  EXPECT_THAT(counts_, ElementsAre(1, 2));
  EXPECT_THAT(classes_, ElementsAre("a", "b"));
  EXPECT_EQ(size_, 2048U);
  ASSERT_NE(program_.chosen(), nullptr);
  EXPECT_EQ(program_.chosen()->run(), 1);
  EXPECT_TRUE(command_.get("--force").is_given());
  EXPECT_FALSE(command_.get("--share").is_given());
}

TEST_F(OptionsTest, RefusesWhatAnOptionDoesNotTake) {
  EXPECT_THAT(refusal({"run", "x", "--format", "xml"}), HasSubstr("xml not in {table,csv}"));
  EXPECT_THAT(refusal({"run", "x", "--top", "-1"}), HasSubstr("--top"));
  EXPECT_THAT(refusal({"run", "x", "--share", "1.5"}), HasSubstr("1.5 is not in the range"));
  EXPECT_THAT(refusal({"run", "x", "--counts", "1,0"}), HasSubstr("--counts"));
  EXPECT_THAT(refusal({"run", "x", "--size", "2Q"}), HasSubstr("--size"));
  EXPECT_THAT(refusal({"run"}), HasSubstr("RUN is required"));
  EXPECT_THAT(refusal({"run", "x", "--nonsense"}), HasSubstr("--nonsense"));
  EXPECT_NE(refusal({}), "");
  EXPECT_EQ(refusal({"run", "x"}), "");
}

TEST_F(OptionsTest, KnowsTheCommandOfRefusedWords) {
  EXPECT_NE(refusal({"run", "--nonsense"}), "");
  EXPECT_EQ(program_.chosen(), &command_);
}

TEST_F(OptionsTest, OptionsThatExcludeEachOtherAreNotGivenTogether) {
  command_.get("--top").excludes(command_.get("--share"));
  EXPECT_THAT(refusal({"run", "x", "--top", "1", "--share", "1"}), HasSubstr("--top excludes --share"));
}

TEST_F(OptionsTest, AVariableStandsForAnOption) {
  setenv("OPTIONS_TEST_FORMAT", "csv", 1);
  ASSERT_TRUE(program_.parse({"run", "x"}));
  EXPECT_EQ(format_, "csv");
  EXPECT_EQ(command_.get("--format").variable(), "OPTIONS_TEST_FORMAT");
  ASSERT_TRUE(program_.parse({"run", "x", "--format", "table"}));
  EXPECT_EQ(format_, "table");
  unsetenv("OPTIONS_TEST_FORMAT");
}

TEST_F(OptionsTest, ADefaultIsCheckedAndGivesWay) {
  const Option format = command_.get("--format");
  EXPECT_THROW(format.set_default("xml"), OptionError);
  format.set_default("csv");
  EXPECT_EQ(format_, "csv");
  EXPECT_FALSE(format.is_given());
  ASSERT_TRUE(program_.parse({"run", "x", "--format", "table"}));
  EXPECT_EQ(format_, "table");
}

TEST_F(OptionsTest, OptionsAreFoundByTheirNames) {
  EXPECT_TRUE(command_.find("RUN"));
  EXPECT_FALSE(command_.find("--nonsense"));
  EXPECT_THAT(command_.get("-f").long_names(), ElementsAre("--force"));
  EXPECT_FALSE(command_.get("-f").takes_value());
  EXPECT_TRUE(command_.get("--top").takes_value());
  EXPECT_TRUE(command_.get("--class").is_one_word_each());
  EXPECT_FALSE(command_.get("--counts").is_one_word_each());
  command_.remove("--top");
  EXPECT_FALSE(command_.find("--top"));
}

TEST_F(OptionsTest, HelpIsPrintedAndNothingRuns) {
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(program_.parse({"run", "--help"}));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("--format TEXT:{table,csv}"));
}

TEST(SettingsTest, AreReadWithTheirSections) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "options_test.toml";
  std::ofstream(file) << "top = 3\n[run]\nclass = [\"a\", \"b\"]\n";
  const std::vector<Setting> settings = read_settings(file);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_THAT(settings[0].sections, ElementsAre());
  EXPECT_EQ(settings[0].full_name, "top");
  EXPECT_THAT(settings[0].values, ElementsAre("3"));
  EXPECT_EQ(settings[1].full_name, "run.class");
  EXPECT_THAT(settings[1].values, ElementsAre("a", "b"));
  EXPECT_THROW(read_settings(file.string() + ".not"), OptionError);
}

TEST(SplitWordsTest, QuotesKeepSpaces) {
  EXPECT_THAT(split_words("--a 'b c' \"d e\""), ElementsAre("--a", "b c", "d e"));
  EXPECT_THAT(split_words("  -x A='b  c'd\t'' \"it's\" \\\"f\\ g 'h\\i' "),
              ElementsAre("-x", "A=b  cd", "", "it's", "\"f g", "h\\i"));
  EXPECT_THAT(split_words(" \n"), ElementsAre());
  EXPECT_THROW(split_words("a 'b"), OptionError);
}

}  // namespace
}  // namespace swinscope
