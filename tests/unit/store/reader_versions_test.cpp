// What kind of file it is, and which versions are read.
#include <fmt/format.h>

#include "store/reader.h"
#include "store/schema.h"
#include "store/writer.h"
#include "tests/unit/store/describe.h"
#include "tests/unit/store/records.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

constexpr const char* kKernelTable =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER);";

class ReaderVersions : public testing::Test {
 protected:
  fs::path make(const std::string& sql) { return make_database(folder_ / "a.db", sql); }
  std::optional<Error> refusal(const std::string& sql) {
    const fs::path path = make(sql);
    return error_of([&] { TraceFile{path}; });
  }
  static std::string with_schema(const std::string& version) {
    return kKernelTable + fmt::format(
                              "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
                              "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION', '2027.1'),"
                              "('EXPORT_SCHEMA_VERSION', '{}')",
                              version);
  }

  TempFolder folder_;
};

TEST_F(ReaderVersions, ANewerFileOfOursIsRefused) {
  {
    TraceWriter writer(folder_ / "a.db", WriteMode::kImport);
    add_full_process(writer);
    writer.finish();
  }
  EXPECT_FALSE(error_of([&] { TraceFile(folder_ / "a.db"); }));
  Sqlite(folder_ / "a.db").run(fmt::format("UPDATE SWINSCOPE_RUN SET schemaVersion = {}", kSchemaVersion + 1));
  const auto error = error_of([&] { TraceFile(folder_ / "a.db"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder_ / "a.db").string() + ": made by a newer swinscope");
  EXPECT_EQ(error->cause(),
            fmt::format("its schema version is {}, this program reads up to {}", kSchemaVersion + 1, kSchemaVersion));
  EXPECT_EQ(error->hint(), "install a newer swinscope");
}

TEST_F(ReaderVersions, AnOlderFileOfOursIsRead) {
  TraceFile file(make("CREATE TABLE SWINSCOPE_RUN(schemaVersion INTEGER); INSERT INTO SWINSCOPE_RUN VALUES(0)"));
  EXPECT_TRUE(file.is_own());
  KeptTrace trace;
  file.read(trace);
  EXPECT_EQ(trace.processes.size(), 1U);
}

TEST_F(ReaderVersions, AVersionThatIsNoNumberIsRead) {
  EXPECT_FALSE(refusal("CREATE TABLE SWINSCOPE_RUN(schemaVersion); INSERT INTO SWINSCOPE_RUN VALUES('x')"));
}

TEST_F(ReaderVersions, ADescriptionNamesTheVersions) {
  EXPECT_EQ(TraceFile(make(with_schema("3.25.0"))).description(), "Nsight Systems 2027.1, schema 3.25.0");
}

TEST_F(ReaderVersions, AnyMinorVersionOf3IsRead) {
  for (const char* version : {"3.0.0", "3.1", "3.999.12", "3"}) {
    EXPECT_FALSE(refusal(with_schema(version))) << version;
    fs::remove(folder_ / "a.db");
  }
}

TEST_F(ReaderVersions, ANewerExportIsRefused) {
  for (const char* version : {"4.0.0", "10.1", "4"}) {
    const auto error = refusal(with_schema(version));
    ASSERT_TRUE(error) << version;
    EXPECT_EQ(error->kind(), ErrorKind::kInput);
    EXPECT_EQ(error->what(), (folder_ / "a.db").string() + ": a newer Nsight Systems export");
    EXPECT_EQ(error->cause(), fmt::format("its schema version is {}, this program reads 3.x", version));
    fs::remove(folder_ / "a.db");
  }
}

TEST_F(ReaderVersions, AnExportWithoutAVersionIsRead) {
  TraceFile file(make(kKernelTable));
  EXPECT_FALSE(file.is_own());
  EXPECT_EQ(file.description(), "Nsight Systems, schema unknown");
}

TEST_F(ReaderVersions, ADatabaseThatIsNoTraceIsRefused) {
  const auto error = refusal("CREATE TABLE customers(id); CREATE TABLE orders(id)");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder_ / "a.db").string() + ": a SQLite file, but not a trace");
  EXPECT_EQ(error->cause(), "its tables are: customers, orders");
  EXPECT_NE(error->hint().find("nsys export --type sqlite"), std::string::npos);
}

TEST_F(ReaderVersions, ADatabaseWithoutTablesIsRefused) {
  const auto error = refusal("PRAGMA user_version=1");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what(), (folder_ / "a.db").string() + ": a SQLite file without tables");
  EXPECT_NE(error->cause().find("a `swinscope record` that was killed, or an export"), std::string::npos);
  EXPECT_EQ(error->hint().find("nothing of it can be read; record the program again, or export"), 0U);
}

// A view of that name is none of our tables: reading it would run the file's own SQL.
TEST_F(ReaderVersions, ViewsDoNotMakeATrace) {
  EXPECT_TRUE(
      refusal("CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end, 59 AS eventType;"
              "CREATE VIEW SWINSCOPE_RUN AS SELECT 1 AS schemaVersion"));
}

TEST_F(ReaderVersions, ATraceMayHaveHostRowsOnly) {
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
    EXPECT_FALSE(refusal(fmt::format("CREATE TABLE {}(start INTEGER)", table))) << table;
    fs::remove(folder_ / "a.db");
  }
}

}  // namespace
}  // namespace swinscope::test
