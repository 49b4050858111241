#include "store/table_reader.h"

#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

class TableReaderTest : public testing::Test {
 protected:
  Database open(const std::string& sql) { return Database::open_untrusted(make_database(folder_ / "a.db", sql)); }

  TempFolder folder_;
};

TEST_F(TableReaderTest, ATableThatIsNotThereHasNoRows) {
  Database db = open("CREATE TABLE other(x)");
  TableReader rows(db, "events", {"start"}, 1);
  EXPECT_FALSE(rows.exists());
  EXPECT_EQ(rows.missing_column(), "");
  EXPECT_FALSE(rows.next());
}

TEST_F(TableReaderTest, AMissingRequiredColumnMakesItUnusable) {
  Database db = open("CREATE TABLE events(start, stop); INSERT INTO events VALUES(1, 2)");
  TableReader rows(db, "events", {"start", "end", "name"}, 2);
  EXPECT_TRUE(rows.exists());
  EXPECT_EQ(rows.missing_column(), "end");
  EXPECT_FALSE(rows.next());
}

TEST_F(TableReaderTest, AMissingOptionalColumnReadsAsNull) {
  Database db = open("CREATE TABLE events(start, end); INSERT INTO events VALUES(1, 2)");
  TableReader rows(db, "events", {"start", "name", "end"}, 1);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer<int>(0), 1);
  EXPECT_TRUE(rows.is_null(1));
  EXPECT_EQ(rows.integer<int>(1, -7), -7);
  EXPECT_EQ(rows.text(1), "");
  EXPECT_EQ(rows.integer<int>(2), 2);
  EXPECT_FALSE(rows.next());
}

TEST_F(TableReaderTest, ColumnsMayStandInAnyOrderAndCase) {
  Database db = open(R"(CREATE TABLE events("END", Start); INSERT INTO events VALUES(2, 1))");
  TableReader rows(db, "events", {"start", "end"}, 2);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer<int>(0), 1);
  EXPECT_EQ(rows.integer<int>(1), 2);
}

// SQLite reads "name" as a text when there is no such column: only what table_info lists may be named.
TEST_F(TableReaderTest, AColumnIsNeverTakenForAText) {
  Database db = open("CREATE TABLE events(start); INSERT INTO events VALUES(1)");
  TableReader rows(db, "events", {"start", "name"}, 1);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.text(1), "");
}

// Their value is computed by the file's own expression, which may run for as long as it likes.
TEST_F(TableReaderTest, GeneratedColumnsAreNotRead) {
  Database db = open("CREATE TABLE events(start, end AS (hex(zeroblob(1000))) VIRTUAL); INSERT INTO events VALUES(1)");
  TableReader rows(db, "events", {"start", "end"}, 2);
  EXPECT_EQ(rows.missing_column(), "end");
}

TEST_F(TableReaderTest, IntegersSaturate) {
  Database db =
      open("CREATE TABLE t(x); INSERT INTO t VALUES(-9223372036854775808), (9223372036854775807), (4294967296)");
  TableReader rows(db, "t", {"x"}, 1);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer<std::int32_t>(0), INT32_MIN);
  EXPECT_EQ(rows.integer<std::uint32_t>(0), 0U);
  EXPECT_EQ(rows.integer<std::int64_t>(0), INT64_MIN);
  EXPECT_EQ(rows.integer<std::uint64_t>(0), std::uint64_t{1} << 63U);  // ids use all 64 bits
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer<std::int32_t>(0), INT32_MAX);
  EXPECT_EQ(rows.integer<std::uint32_t>(0), UINT32_MAX);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer<std::uint32_t>(0), UINT32_MAX);
  EXPECT_EQ(rows.integer<std::int64_t>(0), std::int64_t{1} << 32);
}

TEST_F(TableReaderTest, TellsTheTypesApart) {
  Database db = open("CREATE TABLE t(x); INSERT INTO t VALUES(1), (1.5), ('1'), (NULL)");
  TableReader rows(db, "t", {"x"}, 1);
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(rows.is_integer(0));
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(rows.is_real(0));
  EXPECT_EQ(rows.real(0), 1.5);
  ASSERT_TRUE(rows.next());
  EXPECT_FALSE(rows.is_integer(0) || rows.is_real(0) || rows.is_null(0));
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(rows.is_null(0));
}

// The parts of a table together are its rows, each once and in order, whatever their ids.
TEST_F(TableReaderTest, PartsHaveEachRowOnce) {
  const std::string extremes =
      "INSERT INTO events(rowid, start) VALUES(-9223372036854775808, 1), (-5, 2), (0, 3), (7, 4), (8, 5), (90, 6), "
      "(9223372036854775807, 7)";
  const std::string dense = "INSERT INTO events(start) VALUES(1), (2), (3), (4), (5), (6), (7)";
  for (const std::string& rows_of_table : {extremes, dense}) {
    fs::remove(folder_ / "a.db");
    Database db = open("CREATE TABLE events(start);" + rows_of_table);
    for (const int count : {1, 2, 3, 5, 7, 20}) {
      std::vector<int> starts;
      for (int index = 0; index < count; ++index) {
        TableReader rows(db, "events", {"start"}, 1, {index, count});
        while (rows.next())
          starts.push_back(rows.integer<int>(0));
      }
      EXPECT_EQ(starts, (std::vector<int>{1, 2, 3, 4, 5, 6, 7})) << rows_of_table << " in " << count;
    }
  }
}

TEST_F(TableReaderTest, OfATableWithoutIdsTheFirstPartIsAll) {
  Database db = open("CREATE TABLE events(start PRIMARY KEY) WITHOUT ROWID; INSERT INTO events VALUES(1), (2)");
  TableReader first(db, "events", {"start"}, 1, {0, 2});
  EXPECT_TRUE(first.next() && first.next());
  EXPECT_FALSE(first.next());
  EXPECT_FALSE(TableReader(db, "events", {"start"}, 1, {1, 2}).next());
}

// A column of that name says nothing of where a row is.
TEST_F(TableReaderTest, OfATableWithAColumnNamedAsItsIdsTheFirstPartIsAll) {
  Database db = open("CREATE TABLE events(start, RowId); INSERT INTO events VALUES(1, 9), (2, NULL), (3, 'x')");
  TableReader first(db, "events", {"start"}, 1, {0, 2});
  for (const int start : {1, 2, 3}) {
    ASSERT_TRUE(first.next());
    EXPECT_EQ(first.integer<int>(0), start);
  }
  EXPECT_FALSE(first.next());
  EXPECT_FALSE(TableReader(db, "events", {"start"}, 1, {1, 2}).next());
}

TEST_F(TableReaderTest, AnEmptyTableHasEmptyParts) {
  Database db = open("CREATE TABLE events(start)");
  for (const int index : {0, 1})
    EXPECT_FALSE(TableReader(db, "events", {"start"}, 1, {index, 2}).next());
  EXPECT_TRUE(has_all_rows(db, "events", 0));
}

TEST_F(TableReaderTest, PartsThatMissRowsAreNotAll) {
  Database db = open(
      "CREATE TABLE dense(x); INSERT INTO dense VALUES(1), (2), (3);"
      "CREATE TABLE gaps(x); INSERT INTO gaps(rowid, x) VALUES(-9223372036854775808, 1), (7, 2), "
      "(9223372036854775807, 3);"
      "CREATE TABLE without(x PRIMARY KEY) WITHOUT ROWID; INSERT INTO without VALUES(1), (2), (3)");
  for (const char* table : {"dense", "gaps", "without"}) {
    EXPECT_TRUE(has_all_rows(db, table, 3)) << table;
    EXPECT_FALSE(has_all_rows(db, table, 2)) << table;
    EXPECT_FALSE(has_all_rows(db, table, 4)) << table;
  }
}

// Of the leaves of a table, which are the pages 3 to 5 with three rows each, another one stands in the second's place:
// SQLite sees no damage.
TEST_F(TableReaderTest, APageInTheWrongPlaceIsSeen) {
  constexpr std::size_t kPage = 512;
  const fs::path file = make_database(folder_ / "a.db",
                                      "PRAGMA page_size=512; CREATE TABLE events(start, filler);"
                                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)"
                                      "INSERT INTO events SELECT i, zeroblob(120) FROM n");
  const std::string whole = read_file(file);
  const auto starts = [](Database& db, ReadPart part) {
    std::vector<int> read;
    TableReader rows(db, "events", {"start"}, 1, part);
    while (rows.next())
      read.push_back(rows.integer<int>(0));
    return read;
  };
  const auto with_second = [&](std::size_t page) {
    write_file(file, std::string(whole).replace(3 * kPage, kPage, whole, (page - 1) * kPage, kPage));
    return Database::open_untrusted(file);
  };
  Database first_twice = with_second(3);
  EXPECT_EQ(starts(first_twice, {}), (std::vector<int>{1, 2, 3, 1, 2, 3, 7, 8, 9}));
  EXPECT_TRUE(first_twice.damage().empty());
  EXPECT_EQ(starts(first_twice, {0, 2}), (std::vector<int>{1, 2, 3}));  // of the ids 1 to 5
  EXPECT_EQ(first_twice.damage(), (std::map<std::string, std::int64_t>{{"events", 3}}));

  Database last_twice = with_second(5);
  EXPECT_EQ(starts(last_twice, {0, 2}), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(last_twice.damage().empty());
  EXPECT_FALSE(has_all_rows(last_twice, "events", 3));  // what it has are 9
}

}  // namespace
}  // namespace swinscope::test
