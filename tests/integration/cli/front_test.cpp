// The words before a command, unknown words, and what happens when nobody takes what the program says.
#include <algorithm>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Front : public CliTest {
 protected:
  // The shell redirects, as a user would; `script` sees the program as $SWINSCOPE.
  ProgramResult shell(const std::string& script) const {
    return run_program({"bash", "-c", "SWINSCOPE='" + command({}).front() + "'; " + script}, options_);
  }
};

TEST_F(Front, HelpAndVersionAreWordsToo) {
  const ProgramResult help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(run({"help"}).out, help.out);
  EXPECT_EQ(run({"help", "analyze"}).out, run({"analyze", "--help"}).out);
  EXPECT_THAT(run({"help", "analyze"}).out, HasSubstr("--definition"));
  EXPECT_EQ(run({"help", "analyze"}).status, 0);
  const ProgramResult version = run({"--version"});
  EXPECT_THAT(version.out, StartsWith("swinscope "));
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(run({"version"}).out, version.out);
  EXPECT_EQ(run({"-V"}).out, version.out);
}

TEST_F(Front, EveryCommandSaysTheVersion) {
  const std::string version = run({"--version"}).out;
  for (const char* command : {"analyze", "record", "gate"}) {
    EXPECT_EQ(run({command, "--version"}).out, version) << command;
    EXPECT_EQ(run({command, "-V"}).out, version) << command;
  }
  write(".swinscope.toml", "nonsense = = 3");
  EXPECT_EQ(run({"--version"}).out, version);
  EXPECT_EQ(run({"doctor"}).status, 0);
}

// Of every command that `swinscope --help` lists: lines to copy, whose options the command has.
TEST_F(Front, EveryHelpHasExamples) {
  const std::vector<std::string> lines = lines_of(run({"--help"}).out);
  int commands = 0;
  for (auto line = std::find(lines.begin(), lines.end(), "Subcommands:") + 1; line < lines.end() && !line->empty();
       ++line) {
    const std::string name = line->substr(2, line->find(' ', 2) - 2);
    const std::string help = run({name, "--help"}).out;
    const std::size_t begin = help.find("Examples:\n  swinscope " + name);
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string options = help.substr(0, begin);
    std::istringstream words(help.substr(begin));
    for (std::string word; words >> word && word != "--";) {
      if (!word.starts_with("--")) continue;
      EXPECT_THAT(options, HasSubstr(word)) << name;
    }
    ++commands;
  }
  EXPECT_GT(commands, 25);
}

// Whatever a command prints can be sorted, filtered and cut.
TEST_F(Front, TablesAreSortedFilteredAndCut) {
  make_database("small.sqlite", small_export_sql());
  const auto names = [&](const std::vector<std::string>& words) {
    std::string all;
    const nlohmann::json data = run_json(words)["data"];
    for (const nlohmann::json& row : data.is_array() ? data : data["kernels"])
      all += row["name"].get<std::string>() + " ";
    return all;
  };
  EXPECT_EQ(names({"analyze", "small.sqlite"}), "gemm gelu ");
  EXPECT_EQ(names({"analyze", "small.sqlite", "--sort", "name"}), "gelu gemm ");
  EXPECT_EQ(names({"analyze", "small.sqlite", "--filter", "GEMM"}), "");
  EXPECT_EQ(names({"analyze", "small.sqlite", "--filter", "GEMM", "-i"}), "gemm ");
  EXPECT_EQ(names({"kernels", "small.sqlite", "--filter", "GE[LM]", "--ignore-case", "--top", "1"}), "gemm ");
  const std::string sql = "SELECT 'b7' AS name, 1 AS n UNION SELECT 'a', 2";
  EXPECT_EQ(names({"query", "small.sqlite", sql, "--sort", "name"}), "a b7 ");
  EXPECT_EQ(names({"query", "small.sqlite", sql, "--filter", "b\\d"}), "b7 ");
  EXPECT_EQ(names({"query", "small.sqlite", sql, "--top", "1"}), "a ");
  EXPECT_THAT(run({"info", "small.sqlite", "--sort", "nothing"}).err, HasSubstr("nothing"));
  EXPECT_EQ(run({"info", "small.sqlite", "--sort", "nothing"}).status, 2);
}

TEST_F(Front, OptionsMayStandBeforeTheCommand) {
  make_database("small.sqlite", small_export_sql());
  const std::string behind = run({"kernels", "small.sqlite", "--format", "json", "--top", "1"}).out;
  EXPECT_THAT(behind, StartsWith("{"));
  EXPECT_EQ(run({"--format", "json", "--top", "1", "kernels", "small.sqlite"}).out, behind);
  EXPECT_EQ(run({"--format=json", "-q", "kernels", "small.sqlite", "--top", "1"}).out, behind);
  // A value may be the name of a command.
  EXPECT_EQ(run({"-o", "report", "kernels", "small.sqlite"}).status, 0);
  EXPECT_THAT(read_file(folder() / "report"), HasSubstr("gemm"));
}

TEST_F(Front, UnknownWordsAreNamedWithTheNearest) {
  const auto refusal = [&](const std::vector<std::string>& words) {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(refusal({"analyse", "x"}), StartsWith("error: there is no command 'analyse'; did you mean analyze?\n"));
  EXPECT_THAT(refusal({"help", "kernel"}), StartsWith("error: there is no command 'kernel'; did you mean kernels?\n"));
  EXPECT_THAT(refusal({"-q", "verison"}), StartsWith("error: there is no command 'verison'; did you mean version?\n"));
  EXPECT_THAT(refusal({"--formt", "json", "analyze", "x"}),
              StartsWith("error: --formt: unknown; did you mean --format?\n"));
  EXPECT_THAT(refusal({"--format", "json"}), StartsWith("error: no command is given\n"));
  EXPECT_THAT(refusal({}), StartsWith("error: no command is given\n  hint: try `swinscope analyze FILE`"));
}

// Whatever else is wrong with the line: the option that does not exist is what the user must see.
TEST_F(Front, EveryCommandNamesAnUnknownOption) {
  const std::string help = run({"--help"}).out;
  int commands = 0;
  bool is_list = false;
  for (const std::string& line : lines_of(help)) {
    if (is_list && line.size() > 2 && line.compare(0, 2, "  ") == 0 && line[2] != ' ') {
      const std::string command = line.substr(2, line.find(' ', 2) - 2);
      ++commands;
      for (const std::vector<std::string>& rest :
           {std::vector<std::string>{"--no-such-thing"}, {"--no-such-thing", "3", "--", "true", "a", "b"}}) {
        std::vector<std::string> words = {command};
        words.insert(words.end(), rest.begin(), rest.end());
        const ProgramResult result = run(words);
        EXPECT_EQ(result.status, 2) << command;
        EXPECT_THAT(result.err, AllOf(StartsWith("error: --no-such-thing: unknown"), HasSubstr("\n  hint: ")));
      }
    }
    is_list = is_list ? !line.empty() : line == "Subcommands:";
  }
  EXPECT_GE(commands, 19) << help;
}

TEST_F(Front, NumbersOutOfRangeAreSaidShortly) {
  for (const auto& [words, what] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"kernels", "x", "--top", "-3"}, "error: --top: -3 is too small\n"},
           {{"kernels", "x", "--top", "many"}, "error: --top: many is no number\n"},
           {{"record", "--duration", "0", "--", "true"}, "error: --duration: 0 is too small\n"},
           {{"launch", "--ranks", "0", "--", "true"}, "error: --ranks: 0 is not in the range 1 to 4096\n"}}) {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, StartsWith(what));
  }
}

// A full disk below a log, a closed stream, a reader that has gone: the command's status is what counts.
TEST_F(Front, NobodyNeedsToTakeWhatItSays) {
  make_database("lossy.sqlite", small_export_sql() + "CREATE TABLE OSRT_API (start); INSERT INTO OSRT_API VALUES (1);");
  for (const char* stderr_is : {"2>/dev/full", "2>&-", "2> >(exec true)"}) {
    const std::string to = stderr_is;
    EXPECT_EQ(shell("$SWINSCOPE record -o 'run " + to.substr(2, 4) + "' -- sh -c 'exit 7' " + to).status, 7) << to;
    EXPECT_EQ(shell("$SWINSCOPE record -o /proc/none -- sh -c 'exit 8' " + to).status, 8) << to;
    EXPECT_EQ(shell("$SWINSCOPE launch --ranks 2 --grace 600 -- sh -c 'test $RANK = 0 || exit 5' " + to).status, 5)
        << to;
    EXPECT_EQ(shell("$SWINSCOPE record -- /no/such " + to).status, 127) << to;
    EXPECT_EQ(shell("$SWINSCOPE info lossy.sqlite " + to).status, 0) << to;
    EXPECT_THAT(shell("$SWINSCOPE info lossy.sqlite " + to).out, HasSubstr("ranks"));
    EXPECT_EQ(shell("$SWINSCOPE kernels lossy.sqlite --top x " + to).status, 2) << to;
    EXPECT_EQ(shell("$SWINSCOPE info none " + to).status, 3) << to;
    EXPECT_EQ(shell("$SWINSCOPE import lossy.sqlite --force -o imported " + to).status, 0) << to;
  }
}

TEST_F(Front, NorDoTheWorkloads) {
  for (const std::string to : {"2>/dev/full", "2>&-"})
    EXPECT_EQ(shell("${SWINSCOPE%scope} make-data pictures --force --images 24 " + to).status, 0) << to;
}

// What the program itself reads and writes is as without us.
TEST_F(Front, ClosedStreamsStayClosedForTheProgram) {
  const std::string look = "ls -l /proc/$$/fd | grep -c ' [012] ->'";
  EXPECT_EQ(shell("$SWINSCOPE record -q -o run -- sh -c \"" + look + "\" 2>&- <&-").out,
            shell("sh -c \"" + look + "\" 2>&- <&-").out);
}

TEST_F(Front, AClosedOutputIsAFailure) {
  make_database("small.sqlite", small_export_sql());
  for (const char* to : {">&-", ">/dev/full"}) {
    const ProgramResult result = shell("$SWINSCOPE info small.sqlite " + std::string(to));
    EXPECT_EQ(result.status, 1) << to;
    EXPECT_THAT(result.err, StartsWith("error: the standard output cannot be written\n"));
  }
}

// Somebody else may have prepared the folder.
TEST_F(Front, ALinkThatLeadsNowhereIsNotFollowed) {
  make_database("small.sqlite", small_export_sql());
  std::filesystem::create_symlink(folder() / "elsewhere", folder() / "table.txt");
  const ProgramResult result = run({"kernels", "small.sqlite", "-o", "table.txt"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, StartsWith("error: table.txt: the file exists\n"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "elsewhere"));
}

}  // namespace
}  // namespace swinscope::tests
