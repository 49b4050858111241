// What users and scripts rely on: exit statuses, options, formats, files, colours.
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Contract : public CliTest {
 protected:
  Contract() { make_database("small.sqlite", small_export_sql()); }

  void expect_usage_error(const std::vector<std::string>& arguments, const std::string& message) const {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "") << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, StartsWith("error: "));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, HasSubstr("\n  hint: "));
  }
};

TEST_F(Contract, WrongCommandLinesAreUsageErrors) {
  expect_usage_error({}, "no command is given");
  expect_usage_error({"analyse", "small.sqlite"}, "there is no command 'analyse'");
  expect_usage_error({"analyze"}, "RUN is required");
  expect_usage_error({"analyze", "small.sqlite", "--colour"}, "--colour");
  expect_usage_error({"analyze", "small.sqlite", "second.sqlite"}, "second.sqlite");
  expect_usage_error({"import", "small.sqlite"}, "--output");
  expect_usage_error({"query", "small.sqlite"}, "SQL is required");
}

TEST_F(Contract, UnknownOptionsAreNamedWithWhatWasMeant) {
  expect_usage_error({"scale", "--gpus", "1", "--repet", "2", "-o", "d", "--", "true", "a", "b"},
                     "error: --repet: unknown; did you mean --repeat?");
  expect_usage_error({"scale", "--gpus", "1", "-o", "d", "python", "train.py", "--lr=3"}, "error: --lr: unknown\n");
  expect_usage_error({"analyze", "small.sqlite", "--fromat=json"}, "error: --fromat: unknown; did you mean --format?");
  expect_usage_error({"kernels", "small.sqlite", "-x"}, "error: -x: unknown");
  expect_usage_error({"--fromat", "json", "analyze", "x.db"}, "error: --fromat: unknown; did you mean --format?");
  expect_usage_error({"analyse", "x.db"}, "error: there is no command 'analyse'; did you mean analyze?");
}

TEST_F(Contract, WrongValuesAreUsageErrors) {
  expect_usage_error({"kernels", "small.sqlite", "--filter", "(gemm"}, "--filter (gemm: not a regular expression");
  expect_usage_error({"kernels", "small.sqlite", "--sort", "speed"}, "there is no column 'speed'");
  expect_usage_error({"kernels", "small.sqlite", "--top", "-3"}, "--top");
  expect_usage_error({"kernels", "small.sqlite", "--top", "many"}, "--top");
  expect_usage_error({"kernels", "small.sqlite", "--by", "colour"}, "--by");
  expect_usage_error({"kernels", "small.sqlite", "--names", "long"}, "--names");
  expect_usage_error({"analyze", "small.sqlite", "--format", "xml"}, "--format");
  expect_usage_error({"analyze", "small.sqlite", "--top", "-1"}, "--top");
  expect_usage_error({"analyze", "small.sqlite", "--color", "green"}, "--color");
  expect_usage_error({"analyze", "small.sqlite", "--definition", "mine"}, "--definition");
}

TEST_F(Contract, HelpAndVersionAreNoErrors) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"--version"}, {"analyze", "--help"}, {"query", "-h"}}) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out, "");
    EXPECT_EQ(result.err, "");
  }
  EXPECT_THAT(run({"--help"}).out, HasSubstr("analyze"));
}

TEST_F(Contract, EveryPublishedValueNamesItsSource) {
  const nlohmann::json data = run_json({"platforms"})["data"];
  std::vector<std::string> sources;
  for (const auto& source : data["sources"])
    sources.push_back(source["key"]);
  ASSERT_FALSE(data["published"].empty());
  for (const auto& row : data["published"]) {
    EXPECT_DOUBLE_EQ(row["efficiency"], row["speedup"].get<double>() / row["gpus"].get<int>());
    const std::string source = row["source"];
    EXPECT_THAT(sources, Contains(source.substr(0, source.find(',')))) << source;
  }
}

TEST_F(Contract, JsonHasTheSameFrameEverywhere) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"info", "small.sqlite"},
                                                    {"analyze", "small.sqlite"},
                                                    {"kernels", "small.sqlite"},
                                                    {"launches", "small.sqlite"},
                                                    {"query", "small.sqlite", "SELECT 1 AS one"},
                                                    {"platforms"},
                                                    {"doctor"}}) {
    SCOPED_TRACE(arguments.front());
    const nlohmann::json json = run_json(arguments);
    EXPECT_EQ(json["schema"], "swinscope." + arguments.front() + "/1");
    EXPECT_EQ(json["run"], arguments.size() > 1 ? "small.sqlite" : "");
    EXPECT_TRUE(json["warnings"].is_array());
    EXPECT_TRUE(json["data"].is_array() || json["data"].is_object());
    EXPECT_FALSE(json["data"].empty());
    EXPECT_TRUE(json["definition"].is_object());
    const bool has_verdict = arguments.front() == "analyze";  // verdict, abstained, confidence, evidence
    EXPECT_EQ(json.size(), has_verdict ? 9U : 5U) << json;
  }
}

TEST_F(Contract, TablesAreListedWithTheirDefinitions) {
  const nlohmann::json listed = run_json({"analyze", "--list"})["data"];
  for (const char* command : {"analyze", "kernels", "launches", "info"}) {
    const nlohmann::json json = run_json({command, "small.sqlite"});
    EXPECT_FALSE(json["definition"].empty()) << command;
    for (const auto& [table, definition] : json["definition"].items())
      EXPECT_EQ(definition, listed[table]) << command << ": " << table;
  }
  EXPECT_THAT(lines_of(run({"analyze", "--list"}).out),
              Contains(StartsWith("idle                Each gap of a device")));
  EXPECT_THAT(run({"analyze", "small.sqlite", "--format", "md"}).out,
              HasSubstr("\n\nEach gap of a device's window has one cause"));
  expect_usage_error({"analyze", "--list", "small.sqlite"}, "--list");
}

TEST_F(Contract, EveryFormatHoldsTheSameRows) {
  const nlohmann::json json = run_json({"kernels", "small.sqlite"});
  ASSERT_EQ(json["data"].size(), 2U);
  EXPECT_EQ(json["data"][0]["full_name"], "void ns::gemm<float>(float const*)");
  EXPECT_EQ(json["data"][0]["total_ns"], 1000);
  const std::vector<std::string> csv = lines_of(run({"kernels", "small.sqlite", "--format", "csv"}).out);
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_THAT(csv[0], StartsWith("name,full_name,rank,"));
  EXPECT_THAT(csv[1], StartsWith("gemm,void ns::gemm<float>(float const*),,gemm,compute,1,1000,"));
  EXPECT_THAT(run({"kernels", "small.sqlite", "--format", "md"}).out,
              HasSubstr("| gemm | void ns::gemm\\<float\\>(float const\\*) |"));
  EXPECT_THAT(lines_of(run({"kernels", "small.sqlite"}).out), Contains(StartsWith("gemm ")));
}

TEST_F(Contract, OutputFilesAreNeverReplacedUnasked) {
  const std::string expected = run({"analyze", "small.sqlite"}).out;
  ProgramResult result = run({"analyze", "small.sqlite", "-o", "out.txt"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(folder() / "out.txt"), expected);

  write("out.txt", "precious");
  result = run({"analyze", "small.sqlite", "-o", "out.txt"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, StartsWith("error: out.txt: the file exists\n"));
  EXPECT_EQ(read_file(folder() / "out.txt"), "precious");

  EXPECT_EQ(run({"analyze", "small.sqlite", "-o", "out.txt", "--force"}).status, 0);
  EXPECT_EQ(read_file(folder() / "out.txt"), expected);
}

TEST_F(Contract, OutputThatCannotBeWrittenIsAFailure) {
  const ProgramResult result = run({"analyze", "small.sqlite", "-o", "no/such/folder/out.txt"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, StartsWith("error: no/such/folder/out.txt: cannot be written"));
  EXPECT_EQ(run({"analyze", "small.sqlite", "-o", "/dev/full", "--force"}).status, 1);
}

TEST_F(Contract, WarningsGoToTheErrorOutputUnlessQuiet) {
  make_database("lossy.sqlite",
                small_export_sql() + "CREATE TABLE OSRT_API (start); INSERT INTO OSRT_API VALUES (1), (2);");
  const ProgramResult loud = run({"kernels", "lossy.sqlite"});
  const ProgramResult quiet = run({"kernels", "lossy.sqlite", "-q"});
  EXPECT_EQ(loud.err, "warning: rank 0: 2 OSRT_API rows left out: this table is not read\n");
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(loud.out, quiet.out);
}

TEST_F(Contract, NamesAreShortFullOrMangled) {
  const auto first_name = [&](const char* style) {
    return run_json({"kernels", "small.sqlite", "--names", style})["data"][0]["name"];
  };
  EXPECT_EQ(first_name("short"), "gemm");
  EXPECT_EQ(first_name("full"), "void ns::gemm<float>(float const*)");
  EXPECT_EQ(first_name("mangled"), "void ns::gemm<float>(float const*)");  // not recorded: the full one stands in
  make_database("mangled.sqlite", small_export_sql() +
                                      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN mangledName INTEGER;"
                                      "INSERT INTO StringIds VALUES (9, '_ZN2ns4gemmIfEEvPKf');"
                                      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET mangledName = 9 WHERE demangledName = 1;");
  EXPECT_EQ(run_json({"kernels", "mangled.sqlite", "--names", "mangled"})["data"][0]["name"], "_ZN2ns4gemmIfEEvPKf");
}

class Appearance : public Contract {
 protected:
  Appearance() {
    make_database("long.sqlite",
                  small_export_sql() + "UPDATE StringIds SET value = '" + long_name_ + "' WHERE id = 1;");
  }
  ProgramResult run_on_terminal(const std::vector<std::string>& arguments, unsigned short columns = 80) const {
    ProgramOptions options = options_;
    options.terminal_columns = columns;
    return run_program(command(arguments), options);
  }

  const std::string long_name_ = "void gemm_" + std::string(300, 'x') + "(float*)";
  const std::string escape_ = "\x1b";
};

TEST_F(Appearance, APipeHasNoColourAndFullNames) {
  const ProgramResult result = run({"kernels", "long.sqlite", "--names", "full"});
  EXPECT_THAT(result.out, Not(HasSubstr(escape_)));
  EXPECT_THAT(result.out, HasSubstr(long_name_));
}

TEST_F(Appearance, ATerminalHasColourAndTablesThatFit) {
  const ProgramResult result = run_on_terminal({"kernels", "long.sqlite", "--names", "full"}, 120);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr(escape_));
  EXPECT_THAT(result.out, Not(HasSubstr(long_name_)));
  EXPECT_THAT(result.out, HasSubstr("…"));
  for (const std::string& line : lines_of(run_on_terminal({"kernels", "long.sqlite", "--color", "never"}, 120).out)) {
    EXPECT_LE(line.size(), 120U + std::string("…\r").size()) << line;
  }
}

TEST_F(Appearance, ColourFollowsTheOptionThenNoColor) {
  EXPECT_THAT(run({"kernels", "small.sqlite", "--color", "always"}).out, HasSubstr(escape_));
  EXPECT_THAT(run_on_terminal({"kernels", "small.sqlite", "--color", "never"}).out, Not(HasSubstr(escape_)));
  options_.environment.emplace_back("NO_COLOR=1");
  EXPECT_THAT(run_on_terminal({"kernels", "small.sqlite"}).out, Not(HasSubstr(escape_)));
  EXPECT_THAT(run_on_terminal({"kernels", "small.sqlite", "--color", "always"}).out, HasSubstr(escape_));
  options_.environment.emplace_back("NO_COLOR=");  // empty is as good as not set
  EXPECT_THAT(run_on_terminal({"kernels", "small.sqlite"}).out, HasSubstr(escape_));
}

TEST_F(Appearance, ColourNeverGetsIntoFilesOrData) {
  EXPECT_THAT(run_on_terminal({"kernels", "small.sqlite", "--format", "json"}).out, Not(HasSubstr(escape_)));
  EXPECT_EQ(run_on_terminal({"kernels", "small.sqlite", "-o", "table.txt"}).status, 0);
  EXPECT_THAT(read_file(folder() / "table.txt"), Not(HasSubstr(escape_)));
}

TEST_F(Contract, DoctorNeedsNoGpu) {
  const ProgramResult result = run({"doctor"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  const nlohmann::json findings = run_json({"doctor"})["data"];
  for (const char* what : {"NVIDIA driver", "CUPTI", "GPU counters", "NCCL"}) {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f["what"] == what; });
    ASSERT_NE(found, findings.end()) << what;
    const std::string state = (*found)["state"];
    EXPECT_TRUE(state == "ok" || state == "missing" || state == "limited") << state;
  }
}

TEST_F(Contract, PeaksAreMeasuredBySwin) {
  expect_usage_error({"peaks", "--seconds", "-1"}, "--seconds");
  expect_usage_error({"peaks", "--rates", "rates.json", "--json"}, "--json excludes --rates");
  expect_usage_error({"peaks", "--rates", "rates.json", "--format", "json"}, "--format excludes --rates");
  expect_usage_error({"peaks", "--format", "csv"}, "--format csv: not a format of peaks");
  const ProgramResult result = run({"peaks", "--seconds", "0.1", "--format", "json"});
  if (result.status == 0) {
    EXPECT_EQ(nlohmann::json::parse(result.out)["schema"], "swin.peaks/1");
    return;
  }
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("error: "));
  EXPECT_THAT(result.err, testing::AnyOf(HasSubstr("no GPU answers"), HasSubstr("no CUDA parts")));
  EXPECT_THAT(result.err, HasSubstr("\n  hint: "));
}

}  // namespace
}  // namespace swinscope::tests
