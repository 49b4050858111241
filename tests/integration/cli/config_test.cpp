// Settings: the command line > SWINSCOPE_* > ./.swinscope.toml > ~/.config/swinscope/config.toml.
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Config : public CliTest {
 protected:
  Config() {
    make_database("small.sqlite", small_export_sql());
    fs::create_directories(home() / ".config" / "swinscope");
  }
  void user_file(const std::string& content) const { write("home/.config/swinscope/config.toml", content); }
  void folder_file(const std::string& content) const { write(".swinscope.toml", content); }

  // Which format `kernels` prints in.
  std::string format(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"kernels", "small.sqlite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    if (result.out.compare(0, 1, "{") == 0) return "json";
    if (result.out.compare(0, 5, "name,") == 0) return "csv";
    if (result.out.compare(0, 3, "###") == 0) return "md";
    return result.out.compare(0, 7, "Kernels") == 0 ? "table" : result.out;
  }
};

TEST_F(Config, EachSourceWinsOverTheOnesBelow) {
  EXPECT_EQ(format(), "table");
  user_file("[kernels]\nformat = \"json\"\n");
  EXPECT_EQ(format(), "json");
  folder_file("[kernels]\nformat = \"csv\"\n");
  EXPECT_EQ(format(), "csv");
  options_.environment.emplace_back("SWINSCOPE_FORMAT=md");
  EXPECT_EQ(format(), "md");
  EXPECT_EQ(format({"--format", "table"}), "table");
}

TEST_F(Config, BothFilesCount) {
  user_file("[kernels]\ntop = 1\nformat = \"csv\"\n");
  folder_file("[kernels]\nnames = \"full\"\n");
  const ProgramResult result = run({"kernels", "small.sqlite"});
  ASSERT_EQ(lines_of(result.out).size(), 2U) << result.out;
  EXPECT_THAT(lines_of(result.out)[1], StartsWith("void ns::gemm<float>(float const*),"));
  EXPECT_EQ(lines_of(run({"kernels", "small.sqlite", "--top", "2"}).out).size(), 3U);
}

TEST_F(Config, ASettingAboveAllSectionsIsForEveryCommandThatHasIt) {
  user_file("format = \"json\"\n[info]\nformat = \"csv\"\n");
  EXPECT_EQ(format(), "json");
  EXPECT_THAT(run({"doctor"}).out, StartsWith("{"));
  EXPECT_THAT(run({"info", "small.sqlite"}).out, StartsWith("# facts"));
}

TEST_F(Config, FlagsCanBeSet) {
  make_database("lossy.sqlite", small_export_sql() + "CREATE TABLE OSRT_API (start); INSERT INTO OSRT_API VALUES (1);");
  EXPECT_NE(run({"info", "lossy.sqlite"}).err, "");
  folder_file("quiet = true\n");
  EXPECT_EQ(run({"info", "lossy.sqlite"}).err, "");
}

TEST_F(Config, RulesForKernelsMayBeAList) {
  const auto by_operation = [&](const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"kernels", "small.sqlite", "--by", "operation", "--format", "csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  folder_file("operation = [\"gemm=conv\", \"^void.ns::gelu=attention\"]\n[kernels]\nclass = \"gelu=memory\"\n");
  EXPECT_THAT(by_operation(), HasSubstr("conv,conv,,conv,compute,1,1000"));
  EXPECT_THAT(by_operation(), HasSubstr("attention,attention,,attention,memory,1,500"));
  // The command line replaces the list.
  EXPECT_THAT(by_operation({"--operation", "gelu=norm"}), HasSubstr("norm,norm,,norm,memory,1,500"));
  EXPECT_THAT(by_operation({"--operation", "gelu=norm"}), HasSubstr("gemm,gemm,,gemm,compute,1,1000"));
  folder_file("operation = [\"gemm=conv\", \"gelu\"]\n");
  EXPECT_EQ(run({"kernels", "small.sqlite"}).status, 2);
}

TEST_F(Config, XdgConfigHomeReplacesTheUsersFolder) {
  user_file("format = \"json\"\n");
  fs::create_directories(folder() / "xdg" / "swinscope");
  write("xdg/swinscope/config.toml", "format = \"csv\"\n");
  options_.environment.push_back("XDG_CONFIG_HOME=" + (folder() / "xdg").string());
  EXPECT_EQ(format(), "csv");
}

TEST_F(Config, MistakesAreNamedWithTheirFile) {
  const auto expect_refused = [&](const std::string& content, const std::string& message) {
    folder_file(content);
    const ProgramResult result = run({"kernels", "small.sqlite"});
    EXPECT_EQ(result.status, 2) << content;
    EXPECT_EQ(result.out, "") << content;
    EXPECT_THAT(result.err, StartsWith("error: .swinscope.toml: ")) << content;
    EXPECT_THAT(result.err, HasSubstr(message)) << content;
  };
  expect_refused("[kernels]\nformat = \"xml\"\n", "format = xml");
  expect_refused("[kernels]\ncolour = \"always\"\n", "there is no option 'kernels.colour'");
  expect_refused("[colonels]\nformat = \"csv\"\n", "there is no option 'colonels.format'");
  expect_refused("format = [\"csv\", \"json\"]\n", "format takes one value");
  expect_refused("this is no TOML [[[\n", "there is no option");
}

// It may have come with a stranger's trace.
TEST_F(Config, TheFileOfAFolderSetsNoPathsAndReplacesNothing) {
  fs::create_directory(folder() / "theirs");
  write("precious", "mine");
  write(".swinscope.toml", "output = \"precious\"\nforce = true\n[kernels]\nformat = \"csv\"\nfilter = \"gelu\"\n");
  const ProgramResult result = run({"kernels", "small.sqlite"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(read_file(folder() / "precious"), "mine");
  EXPECT_THAT(result.out, StartsWith("name,"));
  EXPECT_THAT(result.out, HasSubstr("gemm")) << "no event is hidden";
  for (const char* key : {"output", "force", "kernels.filter"})
    EXPECT_THAT(result.err, HasSubstr(std::string("warning: .swinscope.toml: ") + key + " is ignored"));
  EXPECT_THAT(result.err, HasSubstr((home() / ".config/swinscope/config.toml").string()));
  // What concerns another command is not said with this one; nor may the file lead a recording elsewhere.
  EXPECT_EQ(run({"info", "small.sqlite"}).err.find("kernels.filter"), std::string::npos);
  folder_file("[record]\noutput = \"theirs/run\"\nforce = true\ntorch-modules = true\nsample = 0\n");
  const ProgramResult recorded = run({"record", "-o", "run", "--", "true"});
  EXPECT_EQ(recorded.status, 0);
  EXPECT_THAT(recorded.err, HasSubstr("record.output is ignored"));
  EXPECT_TRUE(fs::is_empty(folder() / "theirs"));
}

TEST_F(Config, TheUsersOwnFileMaySetAll) {
  user_file("[kernels]\noutput = \"table.txt\"\nforce = true\n");
  write("table.txt", "old");
  const ProgramResult result = run({"kernels", "small.sqlite"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(read_file(folder() / "table.txt"), HasSubstr("gemm"));
}

TEST_F(Config, AMistakeStopsOnlyWhatItConcerns) {
  for (const std::string& content : {std::string("formt = \"csv\"\n"), std::string("format = \"xml\"\n")}) {
    folder_file(content);
    EXPECT_EQ(run({"kernels", "small.sqlite"}).status, 2) << content;
    for (const char* word : {"--version", "version", "--help", "help"}) {
      EXPECT_EQ(run({word}).status, 0) << word;
      EXPECT_EQ(run({word}).err, "") << word;
    }
    const ProgramResult doctor = run({"doctor"});
    EXPECT_EQ(doctor.status, 0);
    EXPECT_THAT(doctor.err, StartsWith("warning: .swinscope.toml: "));
    const ProgramResult recorded = run({"record", "--force", "-o", "run", "--", "sh", "-c", "exit 6"});
    EXPECT_EQ(recorded.status, 6);
    EXPECT_THAT(recorded.err, StartsWith("warning: .swinscope.toml: "));
  }
  folder_file("[kernels]\nformat = \"xml\"\n");
  EXPECT_EQ(run({"info", "small.sqlite"}).status, 0);
  EXPECT_EQ(run({"kernels", "small.sqlite"}).status, 2);
}

TEST_F(Config, AWrongVariableIsAUsageError) {
  options_.environment.emplace_back("SWINSCOPE_FORMAT=xml");
  const ProgramResult result = run({"kernels", "small.sqlite"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("xml"));
}

}  // namespace
}  // namespace swinscope::tests
