// A user's SQL reads and does nothing else; it ends when it is asked to, and where the limits are.
#include "analyzer/query/query.h"

#include <algorithm>
#include <thread>

#include <gmock/gmock.h>

#include "analyzer/importers/import.h"
#include "store/database.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

// Two kernels of 3 us in a trace of rank 2 of 4.
class QueryTest : public testing::Test {
 protected:
  fs::path rank_two() {
    const std::string facts = R"("distributedInfo": {"rank": 2, "world_size": 4},)";
    return add("two.json", kineto_document(kernel_event(1, 4, 3) + "," + kernel_event(2, 9, 3, "gelu"), facts));
  }
  fs::path add(std::string_view name, std::string_view bytes) {
    write_file(folder_ / name, bytes);
    return folder_ / name;
  }
  // A file of ours that brings along what could do harm.
  fs::path hostile() {
    import_traces({rank_two()}, folder_ / "run", false);
    const fs::path file = folder_ / "run" / "rank2.db";
    Database database = Database::open_writable(file);
    database.exec("CREATE TABLE victim (a); INSERT INTO victim VALUES (7)");
    database.exec("CREATE VIEW loud AS SELECT load_extension('x') AS v");
    database.exec("CREATE VIEW quiet AS SELECT a FROM victim");
    database.exec("CREATE TRIGGER bomb INSTEAD OF INSERT ON quiet BEGIN DELETE FROM victim; END");
    return file;
  }
  std::optional<Error> refusal(const QueriedRun& run, const std::string& sql) {
    return error_of([&] { run.run(sql); });
  }

  TempFolder folder_;
};

TEST_F(QueryTest, ReadsATraceOfAnotherProgramAndSaysWhoseRowsTheyAre) {
  const QueriedRun run(rank_two());
  const QueryResult result = run.run(
      "SELECT value AS name, end - start AS ns, NULL AS none, 0.5 AS half FROM CUPTI_ACTIVITY_KIND_KERNEL "
      "JOIN StringIds ON id = shortName ORDER BY start");
  ASSERT_EQ(result.table.rows.size(), 2U);
  EXPECT_EQ(result.table.columns[1].key, "ns");
  EXPECT_EQ(result.table.rows[1], (std::vector<Cell>{std::string("gelu"), std::int64_t{3000}, Cell(), 0.5}));
  EXPECT_THAT(result.rank_of_row, ElementsAre(2, 2));
  EXPECT_FALSE(result.is_cut);
  EXPECT_FALSE(run.is_corrupt());
}

TEST_F(QueryTest, WhatIsConvertedIsRemovedAgain) {
  const TempFolder elsewhere;
  setenv("TMPDIR", elsewhere.path().c_str(), 1);
  {
    const QueriedRun run(rank_two());
    EXPECT_FALSE(fs::is_empty(elsewhere.path()));
  }
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
  unsetenv("TMPDIR");
}

TEST_F(QueryTest, NothingButReadingIsDone) {
  const fs::path file = hostile();
  const std::string before = read_file(file);
  const QueriedRun run(file);
  for (const char* sql : {"DELETE FROM victim",
                          "INSERT INTO quiet VALUES (1)",
                          "UPDATE victim SET a = 1",
                          "DROP TABLE victim",
                          "CREATE TABLE t (a)",
                          "CREATE TEMP TABLE t (a)",
                          "CREATE TEMP VIEW w AS SELECT 1",
                          "VACUUM",
                          "VACUUM INTO 'copy.db'",
                          "ATTACH 'other.db' AS other",
                          "BEGIN",
                          "SAVEPOINT s",
                          "REINDEX",
                          "ANALYZE",
                          "PRAGMA writable_schema = 1",
                          "PRAGMA journal_mode = delete",
                          "PRAGMA trusted_schema = 1",
                          "PRAGMA temp_store_directory = '/'",
                          "SELECT load_extension('x')",
                          "SELECT v FROM loud",
                          "EXPLAIN DELETE FROM victim",
                          "UPDATE sqlite_master SET type = 'x'",
                          "INSERT INTO victim VALUES (1) RETURNING a"}) {
    const auto error = refusal(run, sql);
    ASSERT_TRUE(error) << sql;
    EXPECT_EQ(error->kind(), ErrorKind::kUsage) << sql;
  }
  EXPECT_EQ(std::string(refusal(run, "ATTACH 'other.db' AS other")->what()), "only statements that read can be run");
  EXPECT_THAT(refusal(run, "SELECT v FROM loud")->cause(), HasSubstr("load_extension"));
  EXPECT_EQ(run.run("SELECT a FROM quiet").table.rows.size(), 1U) << "a view that only reads";
  EXPECT_EQ(run.run("PRAGMA table_info(victim)").table.rows.size(), 1U);
  EXPECT_EQ(run.run("SELECT value FROM json_each('[1, 2]')").table.rows.size(), 2U);
  EXPECT_EQ(run.run("SELECT name FROM pragma_table_info('victim')").table.rows.size(), 1U);
  EXPECT_EQ(read_file(file), before);
  EXPECT_FALSE(fs::exists("other.db"));
  EXPECT_FALSE(fs::exists("copy.db"));
}

TEST_F(QueryTest, WrongSqlSaysWhatIsWrong) {
  const QueriedRun run(rank_two());
  EXPECT_THAT(refusal(run, "SELEC 1")->cause(), HasSubstr("syntax error"));
  EXPECT_THAT(refusal(run, "SELECT missing FROM StringIds")->cause(), HasSubstr("no such column: missing"));
  EXPECT_THAT(refusal(run, "SELECT 1; SELECT 2")->cause(), HasSubstr("one statement at a time"));
  EXPECT_THAT(refusal(run, " -- nothing")->cause(), HasSubstr("no statement that returns rows"));
  EXPECT_THAT(refusal(run, "SELECT abs(-9223372036854775808)")->cause(), HasSubstr("integer overflow"));
}

TEST_F(QueryTest, EndsWhenItIsCancelled) {
  const QueriedRun run(rank_two());
  std::atomic<bool> cancel = false;
  std::optional<Error> error;
  std::thread asking([&] { error = error_of([&] { run.run(kEndless, {.cancel = &cancel}); }); });
  cancel = true;
  asking.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInterrupted);
}

TEST_F(QueryTest, IsCutWhereTheLimitsAre) {
  const QueriedRun run(rank_two());
  const std::string five = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) ";
  QueryResult result = run.run(five + "SELECT i FROM n", {.most_rows = 3});
  EXPECT_EQ(result.table.rows.size(), 3U);
  EXPECT_EQ(result.rank_of_row.size(), 3U);
  EXPECT_TRUE(result.is_cut);
  EXPECT_FALSE(run.run(five + "SELECT i FROM n", {.most_rows = 5}).is_cut);
  result = run.run(five + "SELECT '0123456789' FROM n", {.most_bytes = 25});
  EXPECT_EQ(result.table.rows.size(), 3U) << "30 bytes are the first sum above 25";
  EXPECT_TRUE(result.is_cut);
}

TEST_F(QueryTest, RowsOfSeveralFilesSayWhichOne) {
  import_traces({rank_two(), add("other.json", kineto_document(kernel_event(1, 4, 3)))}, folder_ / "run", false);
  const QueriedRun run(folder_ / "run");
  const Table table = run.run("SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL").table;
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.columns[0].key, "file");
  EXPECT_NE(table.rows[0][0], table.rows[1][0]);
}

TEST_F(QueryTest, TablesAreListedWithWhatIsInThem) {
  const QueriedRun run(hostile());
  const std::vector<QueryTable> tables = run.tables();
  const auto find = [&](const char* name) { return std::ranges::find(tables, name, &QueryTable::name); };
  ASSERT_NE(find("victim"), tables.end());
  EXPECT_THAT(find("victim")->columns, ElementsAre("a"));
  EXPECT_TRUE(find("victim")->has_rows);
  ASSERT_NE(find("SWINSCOPE_DROPS"), tables.end());
  EXPECT_FALSE(find("SWINSCOPE_DROPS")->has_rows);
  EXPECT_EQ(find("loud"), tables.end()) << "a view may run what it likes";
}

}  // namespace
}  // namespace swinscope::test
