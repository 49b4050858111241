// Opening files from anywhere: nothing in them runs, nothing beside them is touched, every failure says what it is.
#include "store/database.h"

#include <algorithm>
#include <thread>

#include "store/reader.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

TEST(DatabaseCreate, RefusesAnExistingFile) {
  const TempFolder folder;
  write_file(folder / "taken.db", "precious");
  const auto error = error_of([&] { Database::create(folder / "taken.db"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
  EXPECT_EQ(error->cause(), "File exists");
  EXPECT_NE(error->hint().find("--force"), std::string::npos);
  EXPECT_EQ(read_file(folder / "taken.db"), "precious");
}

TEST(DatabaseCreate, NamesTheFolderThatCannotBeWritten) {
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Unprivileged user;
  const auto error = error_of([&] { Database::create(folder / "new.db"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), (folder / "new.db").string() + ": cannot be created");
  EXPECT_EQ(error->cause(), "Permission denied");
}

TEST(DatabaseOpenWritable, NeedsTheFile) {
  const TempFolder folder;
  const auto error = error_of([&] { Database::open_writable(folder / "none.db"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
  EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST(DatabaseOpenUntrusted, NamesAMissingFile) {
  const TempFolder folder;
  const auto error = error_of([&] { Database::open_untrusted(folder / "none.db"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder / "none.db").string() + ": cannot be read");
  EXPECT_EQ(error->cause(), "No such file or directory");
}

TEST(DatabaseOpenUntrusted, RefusesAFolder) {
  const TempFolder folder;
  const auto error = error_of([&] { Database::open_untrusted(folder.path()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

TEST(DatabaseOpenUntrusted, RefusesWhatIsNoSqliteFile) {
  const TempFolder folder;
  write_file(folder / "text.db", std::string(5000, 'x'));
  const auto error = error_of([&] { Database::open_untrusted(folder / "text.db").has_table("t"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder / "text.db").string() + ": not a SQLite file");
}

TEST(DatabaseOpenUntrusted, ReportsDamage) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  std::string bytes = read_file(path);
  std::fill(bytes.begin() + 100, bytes.begin() + 140, '\xFF');  // the header of the b-tree that holds the schema
  write_file(path, bytes);
  const auto error = error_of([&] { Database::open_untrusted(path).has_table("t"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(std::string(error->what()).find("is damaged"), std::string::npos);
}

// The number of a file format that does not exist yet: SQLite reports it as a plain error.
TEST(DatabaseOpenUntrusted, AnUnknownFileFormatIsAnInputError) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x)");
  std::string bytes = read_file(path);
  bytes[47] = 9;  // schema format number, 1 to 4
  write_file(path, bytes);
  const auto error = error_of([&] { Database::open_untrusted(path).has_table("t"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->cause(), "unsupported file format");
}

TEST(DatabaseOpenUntrusted, IsReadOnly) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  const std::string before = read_file(path);
  Database db = Database::open_untrusted(path);
  EXPECT_TRUE(error_of([&] { db.exec("DELETE FROM t"); }));
  EXPECT_TRUE(error_of([&] { db.exec("CREATE TABLE u(x)"); }));
  EXPECT_TRUE(error_of([&] { db.exec("ATTACH ':memory:' AS other"); }));
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"a.db"});
}

TEST(DatabaseOpenUntrusted, ReadsInAFolderThatCannotBeWritten) {
  const TempFolder folder;
  const fs::path path =
      make_database(folder / "a.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(7)");
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms{0555});
  const Unprivileged user;
  Database db = Database::open_untrusted(path);
  Statement rows = db.prepare("SELECT x FROM t");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.integer(0), 7);
}

TEST(DatabaseOpenUntrusted, TakesPathsWithEveryCharacter) {
  const TempFolder folder;
  for (const char* name :
       {"a b.db", "50%.db", "what?.db", "#1.db", "a&mode=memory.db", "\xC3\xBC.db", "a'b\"c.db", "file:x.db"}) {
    const fs::path path = make_database(folder.path() / name, "CREATE TABLE t(x)");
    EXPECT_TRUE(Database::open_untrusted(path).has_table("t")) << name;
    // Two slashes at the front must not be read as the name of a host.
    EXPECT_TRUE(Database::open_untrusted("/" + path.string()).has_table("t")) << name;
  }
}

TEST(DatabaseOpenUntrusted, TakesARelativePath) {
  const TempFolder folder;
  make_database(folder / "a.db", "CREATE TABLE t(x)");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const bool found = Database::open_untrusted("a.db").has_table("t");
  fs::current_path(before);
  EXPECT_TRUE(found);
}

TEST(DatabaseHasTable, CountsNeitherViewsNorVirtualTables) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db",
                                      "CREATE TABLE plain(x);"
                                      "CREATE VIEW seen AS SELECT * FROM plain;"
                                      "CREATE VIRTUAL TABLE searched USING fts5(x);"
                                      "CREATE INDEX indexed ON plain(x)");
  Database db = Database::open_untrusted(path);
  EXPECT_TRUE(db.has_table("plain"));
  EXPECT_FALSE(db.has_table("seen"));
  EXPECT_FALSE(db.has_table("searched"));
  EXPECT_FALSE(db.has_table("indexed"));
  EXPECT_FALSE(db.has_table("none"));
  EXPECT_FALSE(db.has_table("plain'; DROP TABLE plain; --"));
}

// A row of sqlite_master can say that it is a table while its SQL makes a view.
TEST(DatabaseHasTable, LooksAtTheSqlToo) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db",
                                      "CREATE TABLE plain(x);"
                                      "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end, 59 AS eventType;"
                                      "PRAGMA writable_schema=ON;"
                                      "UPDATE sqlite_master SET type = 'table' WHERE name = 'NVTX_EVENTS'");
  const auto error = error_of([&] { EXPECT_FALSE(Database::open_untrusted(path).has_table("NVTX_EVENTS")); });
  // Newer versions of SQLite refuse the schema itself.
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kInput);
}

// Of a file that was cut off SQLite passes over what it cannot understand in the list of tables.
TEST(DatabaseHasTable, ATableThatSqliteDoesNotKnowIsDamage) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db",
                                      "CREATE TABLE kept(x); CREATE TABLE lost(x); CREATE TABLE large(x);"
                                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
                                      "INSERT INTO large SELECT i FROM n;"
                                      "PRAGMA writable_schema=ON;"
                                      "UPDATE sqlite_master SET sql = 'CREATE TABLE lost(' WHERE name = 'lost'");
  fs::resize_file(path, fs::file_size(path) - 4096);
  Database db = Database::open_untrusted(path);
  ASSERT_TRUE(db.is_cut());
  EXPECT_TRUE(db.has_table("kept"));
  EXPECT_TRUE(db.damage().empty());
  EXPECT_FALSE(db.has_table("lost"));
  EXPECT_TRUE(db.damage().contains("lost"));
  EXPECT_EQ(std::ranges::count(db.tables(), "lost"), 0);
}

TEST(DatabaseOpenUntrusted, FunctionsThatTouchFilesDoNotRunInViews) {
  const TempFolder folder;
  const fs::path path =
      make_database(folder / "a.db",
                    "CREATE VIEW v AS SELECT * FROM pragma_database_list; CREATE VIEW l AS SELECT load_extension('x')");
  Database db = Database::open_untrusted(path);
  for (const char* view : {"v", "l"}) {
    EXPECT_TRUE(error_of([&] { db.prepare(std::string("SELECT * FROM ") + view).step(); })) << view;
  }
}

TEST(DatabaseOpenUntrusted, StopsAStatementThatDoesNotEnd) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x)");
  Database db = Database::open_untrusted(path);
  const auto error = error_of([&] {
    Statement endless =
        db.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
    endless.step();
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(std::string(error->what()).find("reading was stopped"), std::string::npos);
}

TEST(DatabaseOpenUntrusted, CancelStopsAStatement) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x)");
  std::atomic<bool> cancel = false;
  UntrustedOptions options;
  options.cancel = &cancel;
  options.unlimited = true;
  Database db = Database::open_untrusted(path, options);
  Statement endless = db.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n");
  ASSERT_TRUE(endless.step());  // it runs
  std::thread canceller([&] { cancel = true; });
  const auto error = error_of([&] {
    while (endless.step())
      continue;
  });
  canceller.join();
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("reading was stopped"), std::string::npos);
}

TEST(DatabaseOpenUntrusted, RefusesValuesBeyondTheLimit) {
  const TempFolder folder;
  const fs::path path = make_database(folder / "a.db", "CREATE TABLE t(x)");
  Database db = Database::open_untrusted(path);
  EXPECT_TRUE(error_of([&] { db.prepare("SELECT zeroblob(100000000)").step(); }));
}

TEST(TransactionTest, RollsBackUnlessCommitted) {
  const TempFolder folder;
  Database db = Database::create(folder / "a.db");
  db.exec("CREATE TABLE t(x)");
  {
    const Transaction abandoned(db);
    db.exec("INSERT INTO t VALUES(1)");
  }
  {
    Transaction kept(db);
    db.exec("INSERT INTO t VALUES(2)");
    kept.commit();
  }
  EXPECT_EQ(Sqlite(folder / "a.db").values("SELECT x FROM t"), std::vector<std::string>{"2"});
}

TEST(StatementTest, BindsAndReadsEveryType) {
  const TempFolder folder;
  Database db = Database::create(folder / "a.db");
  Statement echo = db.prepare("SELECT ?1, ?2, ?3, ?4, x'4142'");
  echo.bind(1, std::int64_t{INT64_MIN});
  echo.bind(2, 0.1);
  echo.bind(3, std::string_view("a\0b", 3));
  echo.bind_null(4);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(echo.step());
    EXPECT_EQ(echo.columns(), 5);
    EXPECT_TRUE(echo.is_integer(0));
    EXPECT_EQ(echo.integer(0), INT64_MIN);
    EXPECT_TRUE(echo.is_real(1));
    EXPECT_EQ(echo.real(1), 0.1);
    EXPECT_EQ(echo.text(2), std::string_view("a\0b", 3));
    EXPECT_TRUE(echo.is_null(3));
    EXPECT_EQ(echo.text(3), "");
    EXPECT_EQ(echo.text(4), "AB");
    EXPECT_FALSE(echo.step());
  }
}

TEST(StatementTest, ReadsTextOfADatabaseInUtf16) {
  const TempFolder folder;
  make_database(folder / "a.db", "PRAGMA encoding='UTF-16'; CREATE TABLE t(x); INSERT INTO t VALUES('gemm')");
  Database db = Database::open_untrusted(folder / "a.db");
  EXPECT_TRUE(db.has_table("t"));
  Statement rows = db.prepare("SELECT x FROM t");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.text(0), "gemm");
}

TEST(StatementTest, ReportsBrokenSql) {
  const TempFolder folder;
  Database db = Database::create(folder / "a.db");
  const auto error = error_of([&] { db.prepare("SELEKT 1"); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->cause().find("SELEKT"), std::string::npos);
}

}  // namespace
}  // namespace swinscope::test
