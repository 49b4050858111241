// swinscope query: any reading SQL, nothing else, on any trace.
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Query : public CliTest {
 protected:
  Query() { make_database("small.sqlite", small_export_sql()); }

  // The statement is refused with status 2, and the trace stays as it is.
  void expect_refused(const std::string& sql, const std::string& message) const {
    const std::string before = read_file(folder() / "small.sqlite");
    const ProgramResult result = run({"query", "small.sqlite", sql});
    EXPECT_EQ(result.status, 2) << sql;
    EXPECT_EQ(result.out, "") << sql;
    EXPECT_THAT(result.err, HasSubstr(message)) << sql;
    EXPECT_EQ(read_file(folder() / "small.sqlite"), before) << sql;
  }
};

TEST_F(Query, PrintsRowsInEveryFormat) {
  const std::string sql =
      "SELECT shortName AS id, end - start AS dur, NULL AS none, 0.5 AS half FROM CUPTI_ACTIVITY_KIND_KERNEL";
  EXPECT_EQ(run({"query", "small.sqlite", sql, "--format", "csv"}).out, "id,dur,none,half\n2,1000,,0.5\n4,500,,0.5\n");
  const nlohmann::json data = run_json({"query", "small.sqlite", sql})["data"];
  EXPECT_EQ(data, nlohmann::json::parse(R"([{"id": 2, "dur": 1000, "none": null, "half": 0.5},
                                            {"id": 4, "dur": 500, "none": null, "half": 0.5}])"));
  EXPECT_EQ(run({"query", "small.sqlite", "SELECT 1 WHERE 0"}).status, 0);
}

// A statement runs on each file of a run, its LIMIT, too: that is said.
TEST_F(Query, SaysThatALimitIsOfEachFile) {
  const std::string path = std::string(SWINSCOPE_SOURCE_DIR) + "/data/swinscope_swin_tiny_ddp_2gpu";
  const std::string sql = "SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 3";
  EXPECT_EQ(run_json({"query", path, sql})["data"].size(), 6U);
  const std::string note =
      "The statement ran on each of the 2 files: a LIMIT, a sum or an order is of each, not of all.";
  EXPECT_THAT(run({"query", path, sql}).out, HasSubstr(note));
  EXPECT_THAT(run({"query", "small.sqlite", "SELECT 1"}).out, testing::Not(HasSubstr("LIMIT")));
}

TEST_F(Query, StatementsThatWriteAreRefused) {
  for (const char* sql : {"DELETE FROM StringIds", "INSERT INTO StringIds VALUES (77, 'x')", "CREATE TABLE t (a)",
                          "CREATE TEMP TABLE t (a)", "DROP TABLE StringIds", "VACUUM INTO 'copy.db'",
                          "PRAGMA user_version = 7", "UPDATE StringIds SET value = 'x'"}) {
    expect_refused(sql, "only statements that read can be run");
  }
  for (const char* sql : {"BEGIN IMMEDIATE", "BEGIN", "REINDEX", "SAVEPOINT s"})
    expect_refused(sql, "error: ");
  expect_refused("ATTACH 'other.db' AS other", "only statements that read can be run");
  expect_refused("SELECT 1; DELETE FROM StringIds", "one statement at a time");
  EXPECT_FALSE(fs::exists(folder() / "copy.db"));
  EXPECT_FALSE(fs::exists(folder() / "other.db"));
}

TEST_F(Query, SqlThatIsWrongIsAUsageError) {
  expect_refused("SELEC 1", "syntax error");
  expect_refused("SELECT missing FROM StringIds", "no such column: missing");
  expect_refused("SELECT * FROM nowhere", "no such table: nowhere");
  expect_refused("", "the SQL cannot be run");
  expect_refused("-- a comment", "the SQL cannot be run");
  // Found only while it runs.
  expect_refused("SELECT abs(-9223372036854775808)", "integer overflow");
  expect_refused("SELECT json_extract('{', '$')", "malformed JSON");
  expect_refused("SELECT load_extension('x')", "not authorized");
}

TEST_F(Query, WorksOnAPyTorchTrace) {
  write("trace.json", kineto({kineto_kernel("a", "10", "5"), kineto_kernel("a", "20", "7.125")}));
  const ProgramResult result =
      run({"query", "trace.json", "SELECT sum(end - start) AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL", "--format", "csv"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "ns\n12125\n");
}

TEST_F(Query, AFolderSaysWhichFileARowIsFrom) {
  EXPECT_EQ(
      run({"import", "small.sqlite", write("trace.json", kineto({kineto_kernel("a", "10", "5")})), "-o", "run"}).status,
      0);
  const ProgramResult result =
      run({"query", "run", "SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL", "--format", "csv"});
  EXPECT_EQ(result.out, "file,n\nrank0.db,2\nrank1.db,1\n");
}

// A foreign file may hold views and triggers: nothing in them runs unless the user's own SQL names it, and then only
// what cannot do harm.
TEST_F(Query, ViewsAndTriggersInAFileAreHarmless) {
  make_database("views.sqlite", small_export_sql() +
                                    "CREATE VIEW loud AS SELECT load_extension('x') AS v;"
                                    "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end, 59 AS eventType;"
                                    "CREATE TRIGGER bomb AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;");
  const std::string before = read_file(folder() / "views.sqlite");
  const nlohmann::json info = run_json({"info", "views.sqlite"});
  EXPECT_EQ(info["data"]["ranks"][0]["kernels"], 2);
  EXPECT_EQ(info["data"]["ranks"][0]["ranges"], 0) << "a view is no table of the trace";
  EXPECT_EQ(run({"query", "views.sqlite", "SELECT v FROM loud"}).status, 2);
  EXPECT_EQ(run({"query", "views.sqlite", "INSERT INTO StringIds VALUES (99, 'x')"}).status, 2);
  EXPECT_EQ(read_file(folder() / "views.sqlite"), before);

  make_database("only_views.sqlite",
                "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end, 0 AS deviceId");
  const ProgramResult refused = run({"analyze", "only_views.sqlite"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, StartsWith("error: only_views.sqlite: a SQLite file without tables"));
}

TEST_F(Query, TheTraceIsNeverTouched) {
  const auto written = fs::last_write_time(folder() / "small.sqlite");
  for (const char* name : {"info", "analyze", "kernels", "launches"})
    EXPECT_EQ(run({name, "small.sqlite"}).status, 0);
  EXPECT_EQ(run({"query", "small.sqlite", "SELECT * FROM StringIds"}).status, 0);
  EXPECT_EQ(fs::last_write_time(folder() / "small.sqlite"), written);
  for (const auto& entry : fs::directory_iterator(folder())) {
    EXPECT_TRUE(entry.path().filename() == "small.sqlite" || entry.path().filename() == "home") << entry.path();
  }
}

}  // namespace
}  // namespace swinscope::tests
