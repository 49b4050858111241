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

TEST_F(TableReaderTest, AnEmptyTableHasEmptyParts) {
  Database db = open("CREATE TABLE events(start)");
  for (const int index : {0, 1})
    EXPECT_FALSE(TableReader(db, "events", {"start"}, 1, {index, 2}).next());
}

}  // namespace
}  // namespace swinscope::test
