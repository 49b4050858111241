// Inputs that are no trace, damaged, or newer: each has its message and exit status, and what could be read is kept.
#include <functional>
#include <random>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<char>(random() & 0xFFU);
  return bytes;
}

class BadInput : public CliTest {
 protected:
  // Every command that opens a trace refuses it with status 3, this message, and no output.
  void expect_refused(const std::string& input, const std::string& message) const {
    std::vector<std::vector<std::string>> commands = {{"query", input, "SELECT 1"},
                                                      {"import", input, "-o", (folder() / "imported").string()}};
    for (const char* name : {"info", "analyze", "kernels", "launches"})
      commands.push_back({name, input});
    for (const auto& command : commands) {
      SCOPED_TRACE(command.front() + " " + input);
      const ProgramResult result = run(command);
      EXPECT_EQ(result.status, 3);
      EXPECT_EQ(result.out, "");
      EXPECT_THAT(result.err, StartsWith("error: "));
      EXPECT_THAT(result.err, HasSubstr(message));
      EXPECT_THAT(result.err, HasSubstr("\n  hint: "));
    }
    const fs::path imported = folder() / "imported";
    EXPECT_TRUE(!fs::exists(imported) || fs::is_empty(imported)) << "the import left files";
  }
};

TEST_F(BadInput, MissingFile) { expect_refused("nothing.json", "nothing.json: no such file or folder"); }

TEST_F(BadInput, EmptyFile) { expect_refused(write("empty.sqlite", ""), "empty.sqlite: the file is empty"); }

TEST_F(BadInput, FolderWithoutTraces) {
  fs::create_directory(folder() / "run");
  write("run/notes.txt", "nothing here");
  expect_refused("run", "run: a folder without traces");
}

TEST_F(BadInput, RandomBytes) { expect_refused(write("noise.bin", random_bytes(5000, 1)), "noise.bin: not a trace"); }

TEST_F(BadInput, RandomBytesThatBeginLikeATrace) {
  expect_refused(write("noise.db", std::string("SQLite format 3\0", 16) + random_bytes(5000, 2)),
                 "noise.db: not a SQLite file");
  expect_refused(write("noise.json.gz", "\x1f\x8b\x08" + random_bytes(5000, 3)), "noise.json.gz: no event can be read");
  expect_refused(write("noise.json", "{" + random_bytes(5000, 4)), "noise.json: no event can be read");
}

// Any bytes at all: an exit status of the contract, and never a signal (128 and above).
TEST_F(BadInput, AnyBytesBehindAnyBeginningEndInAStatusOfTheContract) {
  const std::vector<std::string> heads = {"", "{\"traceEvents\":[", "[", std::string("SQLite format 3\0", 16),
                                          "\x1f\x8b\x08"};
  for (unsigned seed = 10; seed < 20; ++seed) {
    const std::string name =
        write("any.json", heads[seed % heads.size()] + random_bytes(std::size_t{300} * seed, seed));
    const ProgramResult result = run({"analyze", name});
    EXPECT_TRUE(result.status == 0 || result.status == 3) << "seed " << seed << ": " << result.status << "\n"
                                                          << result.err;
  }
}

TEST_F(BadInput, SqliteThatIsNoTrace) {
  expect_refused(make_database("shop.sqlite", "CREATE TABLE orders (id); CREATE TABLE customers (id)"),
                 "shop.sqlite: a SQLite file, but not a trace");
  EXPECT_THAT(run({"info", "shop.sqlite"}).err, HasSubstr("its tables are: customers, orders"));
}

TEST_F(BadInput, DamagedSqlite) {
  make_database("whole.sqlite", small_export_sql());
  std::string bytes = read_file(folder() / "whole.sqlite");
  bytes.replace(4096, 4096, std::string(4096, '\x55'));
  write("damaged.sqlite", bytes);
  expect_refused("damaged.sqlite", "damaged.sqlite: the SQLite file is damaged");
}

// A table is at its end: the others are read.
TEST_F(BadInput, SqliteThatWasCutOffKeepsWhatIsThere) {
  make_database("whole.sqlite", small_export_sql());
  const std::string bytes = read_file(folder() / "whole.sqlite");
  write("cut.sqlite", bytes.substr(0, bytes.size() - 4096));  // the calls
  const nlohmann::json json = run_json({"info", "cut.sqlite"}, 3);
  EXPECT_EQ(json["data"]["gpu_events"], 2);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("0 rows of CUPTI_ACTIVITY_KIND_RUNTIME could be read"));
}

TEST_F(BadInput, NewerSchema) {
  expect_refused(make_database("own.db", own_trace_sql(99)), "own.db: made by a newer swinscope");
  EXPECT_THAT(run({"info", "own.db"}).err, HasSubstr("its schema version is 99"));
  expect_refused(make_database("nsys.sqlite",
                               small_export_sql() +
                                   "UPDATE META_DATA_EXPORT SET value = '4.0.1' WHERE name = 'EXPORT_SCHEMA_VERSION';"),
                 "nsys.sqlite: a newer Nsight Systems export");
}

TEST_F(BadInput, JsonThatIsNoTrace) {
  expect_refused(write("config.json", R"({"name": "x", "values": [1, 2]})"),
                 "config.json: JSON, but not a PyTorch trace");
}

TEST_F(BadInput, TruncatedGzipKeepsWhatWasRead) {
  const std::string whole = read_file(recording());
  write("cut.json.gz", whole.substr(0, whole.size() * 9 / 10));
  const nlohmann::json cut = run_json({"info", "cut.json.gz"}, 3);
  EXPECT_GT(cut["data"]["gpu_events"], 1000);
  EXPECT_LT(cut["data"]["gpu_events"], 17895);
  EXPECT_THAT(cut["warnings"].dump(), HasSubstr("the compressed file is truncated"));
  for (const char* name : {"analyze", "kernels"}) {
    const ProgramResult result = run({name, "cut.json.gz"});
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("warning: cut.json.gz: the compressed file is truncated"));
    EXPECT_THAT(result.out, HasSubstr("upsample_bilinear2d_backward"));
  }
  // The import keeps it too, and says so again when the run is opened.
  EXPECT_EQ(run({"import", "cut.json.gz", "-o", "run"}).status, 3);
  EXPECT_EQ(run_json({"info", "run"})["data"]["gpu_events"], cut["data"]["gpu_events"]);
  EXPECT_THAT(run({"info", "run"}).err, HasSubstr("the recording was cut off"));
  const ProgramResult count =
      run({"query", "cut.json.gz", "SELECT count(*) > 1000 AS many FROM CUPTI_ACTIVITY_KIND_KERNEL"});
  EXPECT_EQ(count.status, 3);
  EXPECT_THAT(count.err, HasSubstr("the compressed file is truncated"));
  EXPECT_THAT(count.out, HasSubstr("many\n   1\n"));
}

TEST_F(BadInput, TruncatedJsonKeepsTheEventsBefore) {
  const std::string text =
      kineto({kineto_kernel("a", "10", "5"), kineto_kernel("b", "20", "7"), kineto_kernel("c", "30", "9")});
  write("cut.json", text.substr(0, text.find("\"c\"") + 2));
  const nlohmann::json json = run_json({"kernels", "cut.json"}, 3);
  ASSERT_EQ(json["data"].size(), 2U);
  EXPECT_EQ(json["data"][0]["name"], "b");
  EXPECT_EQ(json["data"][0]["total_ns"], 7000);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("the 2 events before it were read"));
}

TEST_F(BadInput, UnreadableFileInAFolderIsAWarning) {
  fs::create_directory(folder() / "run");
  make_database("run/a.sqlite", small_export_sql());
  write("run/b.sqlite", random_bytes(100, 5));
  const nlohmann::json json = run_json({"analyze", "run"}, 3);
  EXPECT_EQ(json["data"]["gpu_events"], 2);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("b.sqlite: not a trace"));
}

TEST_F(BadInput, TraceWithoutKernels) {
  const std::string trace = make_database("idle.db", own_trace_sql());
  const ProgramResult analyze = run({"analyze", trace});
  EXPECT_EQ(analyze.status, 0);
  EXPECT_THAT(analyze.out, StartsWith("no GPU activity was recorded\n  evidence: swinscope ranges idle.db\n"));
  for (const char* name : {"kernels", "launches"}) {
    const ProgramResult result = run({name, trace});
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "error: idle.db: has no kernel records\n  cause: no GPU activity was recorded\n"
              "  hint: run `swinscope info` to see what the trace holds\n");
  }
}

TEST_F(BadInput, ExportWithoutARowIsATraceWithoutKernels) {
  const std::string trace =
      make_database("bare.sqlite", "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId)");
  EXPECT_EQ(run({"analyze", trace}).status, 0);
  EXPECT_EQ(run({"info", trace}).status, 0);
  EXPECT_EQ(run({"kernels", trace}).status, 1);
}

TEST_F(BadInput, NanAndNegativeDurationsAreDroppedAndCounted) {
  const std::string trace =
      write("odd.json", kineto({kineto_kernel("good", "10", "5"), kineto_kernel("nan", "20", "NaN"),
                                kineto_kernel("nan", "30", "-NaN"), kineto_kernel("negative", "40", "-1"),
                                kineto_kernel("infinite", "50", "1e999"), kineto_kernel("text", "60", "\"long\"")}));
  const nlohmann::json kernels = run_json({"kernels", trace});
  ASSERT_EQ(kernels["data"].size(), 1U);
  EXPECT_EQ(kernels["data"][0]["name"], "good");

  const nlohmann::json info = run_json({"info", trace});
  std::int64_t dropped = 0;
  for (const auto& row : info["data"]["drops"])
    dropped += row["count"].get<std::int64_t>();
  EXPECT_EQ(dropped, 5) << info["data"]["drops"];
  EXPECT_THAT(info["warnings"].dump(), HasSubstr("1 kernel event left out: the duration is negative"));
  EXPECT_THAT(info["warnings"].dump(), HasSubstr("left out: the time or duration is not a number"));
}

TEST_F(BadInput, NamesThatAreNotUtf8AreRepaired) {
  const std::string sqlite =
      make_database("names.sqlite", small_export_sql() +
                                        "UPDATE StringIds SET value = CAST(x'67ff656d6d' AS TEXT) WHERE id IN (1, 2);");
  EXPECT_EQ(run_json({"kernels", sqlite})["data"][0]["name"], "g\uFFFDemm");
  EXPECT_THAT(run({"kernels", sqlite}).out, HasSubstr("g\uFFFDemm"));

  const std::string json = write("names.json", kineto({kineto_kernel("g\xC3"
                                                                     "emm",
                                                                     "10", "5")}));
  EXPECT_EQ(run_json({"kernels", json})["data"][0]["name"], "g\uFFFDemm");
}

// Characters that steer a terminal: C0 but the line end, DEL, C1 and what turns text around.
std::string steering_characters(const std::string& text) {
  std::string found;
  for (const char c : text) {
    if ((c >= 0 && c < 0x20 && c != '\n') || c == 0x7F) found += c;
  }
  const std::string first_of_three = "\xE2";
  for (const std::string& sequence :
       {std::string("\xC2\x9B"), first_of_three + "\x80\xAE", first_of_three + "\x81\xA6"}) {
    if (text.find(sequence) != std::string::npos) found += sequence;
  }
  return found;
}

// A name must not be able to move the cursor or change colours of the reader's terminal, wherever it is said.
TEST_F(BadInput, ControlCharactersInNamesDoNotReachTheTerminal) {
  const std::string evil = "'g' || char(27) || '[31mm' || char(10) || 'x' || char(7) || char(155) || char(8238)";
  const std::string trace = make_database(
      "names.sqlite", small_export_sql() + "UPDATE StringIds SET value = " + evil +
                          " WHERE id = 1; CREATE TABLE \"\x1b[5mT\" (x); INSERT INTO \"\x1b[5mT\" VALUES (1);");
  EXPECT_THAT(run({"kernels", trace, "--names", "full"}).out, HasSubstr("g\\x1b[31mm x\\x07\\x9b\\u202e"));
  EXPECT_THAT(run({"info", trace}).err, HasSubstr("\\x1b[5mT row"));
  const std::string category = R"({"ph":"X","cat":"\u001b]0;title\u0007","name":"n","pid":1,"tid":1,"ts":1,"dur":1})";
  const std::string events = write("events.json", kineto({kineto_kernel("\\u001b[2Jk", "10", "5"), category}));
  const std::string no_trace = make_database("none.sqlite", "CREATE TABLE \"\x1b[5mT\" (x);");
  for (const std::string& run_of : {trace, events, no_trace, std::string("\x1b[5mmissing.db")}) {
    for (const char* command : {"info", "analyze", "kernels", "report"}) {
      for (const char* format : {"table", "csv", "md"}) {
        const bool is_report = std::string_view(command) == "report";
        std::vector<std::string> words = {command, run_of, "--format", format};
        if (is_report) words = {command, run_of, "-o", "r.md", "--force"};
        const ProgramResult result = run(words);
        EXPECT_EQ(steering_characters(result.out), "") << command << ' ' << run_of << ' ' << format;
        EXPECT_EQ(steering_characters(result.err), "") << command << ' ' << run_of << ' ' << format;
        if (!is_report || result.status != 0) continue;
        EXPECT_EQ(steering_characters(read_file(folder() / "r.md")), "") << run_of;
      }
    }
  }
}

TEST_F(BadInput, NamesAreNoLinksOfMarkdownAndNoFormulasOfSpreadsheets) {
  const std::string trace =
      make_database("names.sqlite", small_export_sql() +
                                        "UPDATE StringIds SET value = '=1+2' WHERE id = 1;"
                                        "UPDATE StringIds SET value = '[x](javascript:1)' WHERE id = 2;");
  const std::string markdown = run({"kernels", trace, "--names", "full", "--format", "md"}).out;
  EXPECT_THAT(markdown, Not(ContainsRegex(R"((^|[^\\])\[x)")));
  const std::string table = run({"kernels", trace, "--names", "full", "--format", "csv"}).out;
  EXPECT_THAT(table, AnyOf(HasSubstr("'=1+2"), HasSubstr("[x](javascript:1)")));
  EXPECT_THAT(table, Not(ContainsRegex("(^|[\n,])=1")));
}

TEST_F(BadInput, RecordingThatWasCutOffIsReadAndSaid) {
  const std::string trace = make_database("cut.db", own_trace_sql() + "UPDATE SWINSCOPE_RUN SET complete = 0;");
  const ProgramResult result = run({"info", trace});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: rank 0: the recording was cut off"));
}

}  // namespace
}  // namespace swinscope::tests
