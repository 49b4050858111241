// swinscope export: files for other tools, which an import reads back, and nothing replaced or half-made.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Export : public CliTest {
 protected:
  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    if (!fs::exists(folder() / name)) return names;
    for (const auto& entry : fs::directory_iterator(folder() / name))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  // All but what names the files.
  nlohmann::json figures(const std::vector<std::string>& command) const {
    nlohmann::json data = run_json(command)["data"];
    if (data.is_object()) {
      for (const char* key : {"kind", "evidence_command", "path", "files"})
        data.erase(key);
    }
    return data;
  }

  std::string small() const { return make_database("small.sqlite", small_export_sql()); }
  static std::string two_ranks() { return (recording().parent_path() / "pytorch_swin_tiny_ddp_2gpu").string(); }
};

TEST_F(Export, ATraceForPerfettoGoesToTheStandardOutput) {
  const ProgramResult result = run({"export", small(), "--format", "perfetto", "-o", "-"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  const nlohmann::json document = nlohmann::json::parse(result.out);
  std::set<std::string> names;
  for (const nlohmann::json& event : document["traceEvents"]) {
    if (event["ph"] == "X") names.insert(event["name"]);
  }
  EXPECT_EQ(names.size(), 3U);  // two kernels and a call
}

TEST_F(Export, AFileIsReplacedOnlyWithForce) {
  const std::string trace = small();
  EXPECT_EQ(run({"export", trace, "--format", "perfetto", "-o", "t.json"}).status, 0);
  write("t.json", "mine");
  const ProgramResult refused = run({"export", trace, "--format", "perfetto", "-o", "t.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, StartsWith("error: t.json: the file exists"));
  EXPECT_EQ(read_file(folder() / "t.json"), "mine");
  EXPECT_EQ(run({"export", trace, "--format", "perfetto", "-o", "t.json", "--force"}).status, 0);
  EXPECT_THAT(read_file(folder() / "t.json"), StartsWith("{"));
}

TEST_F(Export, WhatIsMissingOrWrongIsSaid) {
  const std::string trace = small();
  const auto error_of = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"export", trace});
    const ProgramResult result = run(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(error_of({"--format", "perfetto"}), StartsWith("error: export needs -o"));
  EXPECT_THAT(error_of({"-o", "x"}), StartsWith("error: export needs --format"));
  EXPECT_THAT(error_of({"--format", "xml", "-o", "x"}), StartsWith("error: --format xml: not a format of export"));
  EXPECT_THAT(error_of({"--format", "csv", "-o", "-"}), StartsWith("error: -o -: --format csv is a folder"));
  EXPECT_THAT(error_of({"--format", "perfetto", "-o", "x", "--rank", "7"}), HasSubstr("no such rank"));
  EXPECT_THAT(error_of({"--format", "perfetto", "-o", "x", "--whole-trace", "--scope", "steps"}),
              HasSubstr("choose one"));
  EXPECT_FALSE(fs::exists(folder() / "x"));
}

TEST_F(Export, TheRanksOfARunSayTheSameWhenTheyAreReadBack) {
  ASSERT_EQ(run({"export", two_ranks(), "--format", "kineto", "-o", "out"}).status, 0);
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"rank0.kineto.json.gz", "rank1.kineto.json.gz"}));
  ASSERT_EQ(run({"import", "out", "-o", "imported"}).status, 0);
  for (const char* command : {"analyze", "kernels", "launches", "info"}) {
    const nlohmann::json expected = figures({command, two_ranks()});
    EXPECT_EQ(figures({command, "out"}), expected) << command;
    EXPECT_EQ(figures({command, "imported"}), expected) << command;
  }
}

TEST_F(Export, AFileIsOfOneRank) {
  const ProgramResult refused = run({"export", two_ranks(), "--format", "kineto", "-o", "t.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--rank"));
  EXPECT_EQ(run({"export", two_ranks(), "--format", "kineto", "-o", "t.json", "--rank", "1"}).status, 0);
  EXPECT_EQ(run_json({"info", "t.json"})["data"]["ranks"][0]["rank"], 1);
}

TEST_F(Export, TablesGoIntoAFolder) {
  const std::string trace = small();
  for (const std::string format : {"csv", "parquet"}) {
    EXPECT_EQ(run({"export", trace, "--format", format, "-o", format}).status, 0);
    const std::vector<std::string> files = files_in(format);
    EXPECT_NE(std::ranges::find(files, "gpu_events." + format), files.end());
    EXPECT_EQ(files.size(), 14U);
  }
  const std::vector<std::string> rows = lines_of(read_file(folder() / "csv" / "gpu_events.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[0], StartsWith("rank,device,context,stream,start_ns,"));
  EXPECT_THAT(read_file(folder() / "parquet" / "gpu_events.parquet"), StartsWith("PAR1"));

  const ProgramResult refused = run({"export", trace, "--format", "csv", "-o", "csv"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, StartsWith("error: csv: the folder is not empty"));
  EXPECT_EQ(run({"export", trace, "--format", "csv", "-o", "csv", "--force"}).status, 0);
}

// Three training steps; each launches its own kernels, so that the parts add up to the steps.
TEST_F(Export, AStepIsAPartOfTheTrace) {
  const auto rows_of = [&](const std::vector<std::string>& selection) {
    std::vector<std::string> words = {"export", recording().string(), "--format", "csv", "-o", "out", "--force"};
    words.insert(words.end(), selection.begin(), selection.end());
    EXPECT_EQ(run(words).status, 0);
    return lines_of(read_file(folder() / "out" / "gpu_events.csv")).size() - 1;
  };
  const std::size_t all = rows_of({});
  EXPECT_EQ(all, rows_of({"--whole-trace"}));
  const std::size_t steps = rows_of({"--scope", "steps"});
  EXPECT_EQ(rows_of({"--steps", "1"}) + rows_of({"--steps", "2"}) + rows_of({"--steps", "3"}), steps);
  EXPECT_LE(steps, all);
  EXPECT_LT(rows_of({"--steps", "2"}), steps);
  EXPECT_EQ(rows_of({"--name", "no such kernel"}), 0U);
}

// A default format for the tables of all commands is none of export's business.
TEST_F(Export, SettingsOfOtherCommandsDoNotHinder) {
  const std::string trace = small();
  write(".swinscope.toml", "format = \"json\"\n");
  options_.environment.emplace_back("SWINSCOPE_FORMAT=json");
  EXPECT_EQ(run({"export", trace, "--format", "perfetto", "-o", "t.json"}).status, 0);
  EXPECT_EQ(run({"info", trace}).status, 0);
}

TEST_F(Export, WhatCouldBeReadOfADamagedTraceIsExported) {
  const std::string whole = kineto({kineto_kernel("a", "10", "5"), kineto_kernel("b", "20", "5")});
  write("cut.json", whole.substr(0, whole.find("\"b\"")));
  const ProgramResult result = run({"export", "cut.json", "--format", "perfetto", "-o", "-", "-q"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.out, HasSubstr("\"name\": \"a\""));
  EXPECT_TRUE(nlohmann::json::accept(result.out));
}

}  // namespace
}  // namespace swinscope::tests
