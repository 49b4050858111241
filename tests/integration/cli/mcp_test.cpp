// swinscope mcp, as a client sees it: a session over pipes, documents that are those of the commands, and a folder that
// nothing leads out of.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Mcp : public CliTest {
 protected:
  Mcp() {
    fs::create_directory(folder() / "served");
    make_database("served/small.sqlite", small_export_sql());
    make_database("outside.sqlite", small_export_sql());
  }

  // The answers to these lines, by line; the program ends with the input.
  std::vector<json> session(const std::string& lines) const {
    write("input", lines);
    const ProgramResult result =
        run_program({"sh", "-c", "exec \"$0\" mcp --root served < input", command({}).front()}, options_);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    std::vector<json> answers;
    for (const std::string& line : lines_of(result.out))
      answers.push_back(json::parse(line, nullptr, false));
    return answers;
  }

  static std::string request(const std::string& method, const json& params) {
    return json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump() + "\n";
  }
  static std::string hello() { return request("initialize", {{"protocolVersion", "2025-06-18"}}); }

  // What a tool answers.
  json call(const std::string& tool, const json& arguments) const {
    const std::vector<json> answers =
        session(hello() + request("tools/call", {{"name", tool}, {"arguments", arguments}}));
    EXPECT_EQ(answers.size(), 2U);
    return answers.back();
  }
  std::string text(const std::string& tool, const json& arguments) const {
    const json answer = call(tool, arguments);
    EXPECT_FALSE(answer["result"]["isError"].get<bool>()) << answer;
    return answer["result"]["content"][0]["text"].get<std::string>();
  }
  void expect_refused(const std::string& tool, const json& arguments, const std::string& message) const {
    const json answer = call(tool, arguments);
    EXPECT_TRUE(answer["result"]["isError"].get<bool>()) << answer;
    EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(), HasSubstr(message));
  }
};

TEST_F(Mcp, EveryAnalysisIsATool) {
  std::set<std::string> names;
  const json tools = session(hello() + request("tools/list", json::object())).back()["result"]["tools"];
  for (const json& tool : tools)
    names.insert(tool["name"]);
  for (const std::string& line : lines_of(run({"analyze", "--list"}).out)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const std::string key = line.substr(begin, line.find(' ', begin) - begin);
    EXPECT_TRUE(names.contains(key)) << key;
  }
  for (const char* name : {"list_runs", "info", "analyze", "advise", "compare", "gate", "query"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(Mcp, DocumentsAreThoseOfTheCommands) {
  const std::string path = fs::canonical(folder() / "served" / "small.sqlite").string();
  const auto printed = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "json"});
    return run(words).out;
  };
  EXPECT_EQ(text("analyze", {{"run", "small.sqlite"}}), printed({"analyze", path, "--top", "100"}));
  EXPECT_EQ(text("info", {{"run", "small.sqlite"}}), printed({"info", path}));
  EXPECT_EQ(text("kernels", {{"run", "small.sqlite"}, {"name", "gemm"}}),
            printed({"analyze", path, "--table", "kernels", "--top", "100", "--name", "gemm"}));
  EXPECT_EQ(text("launches", {{"run", path}, {"scope", "trace"}}), printed({"launches", path, "--scope", "trace"}));
  EXPECT_EQ(text("compare", {{"base", path}, {"runs", json::array({path})}}),
            printed({"compare", path, path, "--top", "100"}));
  EXPECT_EQ(text("gate", {{"base", path}, {"run", path}}),
            run({"gate", path, path, "--top", "100", "--format", "json"}).out);
  EXPECT_EQ(text("query", {{"run", path}, {"sql", "SELECT 1 AS one"}}), printed({"query", path, "SELECT 1 AS one"}));
}

TEST_F(Mcp, RunsAreListed) {
  const json list = json::parse(text("list_runs", json::object()));
  ASSERT_EQ(list["data"].size(), 1U);
  EXPECT_EQ(list["data"][0]["run"], "small.sqlite");
}

TEST_F(Mcp, NothingOutsideOfTheFolderIsRead) {
  fs::create_symlink("../outside.sqlite", folder() / "served" / "link.sqlite");
  for (const std::string& path : {std::string("../outside.sqlite"), (folder() / "outside.sqlite").string(),
                                  std::string("link.sqlite"), std::string("/etc/passwd")}) {
    expect_refused("info", {{"run", path}}, "not below ");
    expect_refused("query", {{"run", path}, {"sql", "SELECT 1"}}, "not below ");
  }
  expect_refused("info", {{"run", "none.db"}}, "no such file or folder");
}

TEST_F(Mcp, QueriesOnlyReadAndAreBounded) {
  expect_refused("query", {{"run", "small.sqlite"}, {"sql", "DELETE FROM StringIds"}}, "only statements that read");
  const char* const many =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n";
  const json document = json::parse(text("query", {{"run", "small.sqlite"}, {"sql", many}}));
  EXPECT_EQ(document["data"].size(), 1000U);
  EXPECT_THAT(document["warnings"].dump(), HasSubstr("the first 1000 rows"));
}

TEST_F(Mcp, HostileLinesAreAnsweredAndTheNextOneToo) {
  const std::string huge(3U << 20U, 'a');
  const std::vector<json> answers = session(
      "nothing\n" + huge + "\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": 3}\n" + request("ping", json::object()));
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0]["error"]["code"], -32700);
  EXPECT_EQ(answers[1]["error"]["code"], -32600);
  EXPECT_EQ(answers[2]["error"]["code"], -32600);
  EXPECT_EQ(answers[3]["result"], json::object());
}

TEST_F(Mcp, AFolderThatIsNotThereIsSaid) {
  const ProgramResult result = run({"mcp", "--root", "none"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("no such folder"));
}

}  // namespace
}  // namespace swinscope::tests
