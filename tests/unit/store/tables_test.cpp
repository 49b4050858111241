// The declarations of the tables agree with the schema, and what is declared goes through writer and reader unchanged.
// Nothing here names a kind of record: one that is added is tested.
#include "store/tables.h"

#include <gmock/gmock.h>

#include "store/reader.h"
#include "store/recovery.h"
#include "store/writer.h"
#include "tests/unit/store/describe.h"
#include "tests/unit/store/records.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

// Calls visit.operator()<Record>() for every kind of record.
template <typename Visit, std::size_t... kKinds>
void for_each_kind(Visit visit, std::index_sequence<kKinds...> /*all*/) {
  (visit.template operator()<RecordOfKind<kKinds>>(), ...);
}
template <typename Visit>
void for_each_kind(Visit visit) {
  for_each_kind(visit, std::make_index_sequence<kRecordKinds>());
}

// A row with another value in every column, none of them NULL.
class MadeUpRow {
 public:
  explicit MadeUpRow(RecordSink& sink) : sink_(sink) {}

  bool is_null(int /*i*/) const { return false; }
  bool is_integer(int /*i*/) const { return true; }
  template <typename T>
  T integer(int i, T /*none*/) const {
    constexpr int kFirst = 1'000;  // that start, end and the others differ from every default
    return static_cast<T>(kFirst + i);
  }
  double real(int i) const { return i + 0.5; }
  std::string text(int i) const { return fmt::format("text {}", i); }
  std::string_view blob(int /*i*/) const { return "payload"; }
  StringId string_of_id(int i) const { return sink_.intern(fmt::format("string {}", i)); }
  StringId string_of_text(int i) const { return sink_.intern(text(i)); }
  void name_by_text(int i, NvtxRecord& r) const { r.text = string_of_text(i); }
  void name_by_id(int i, NvtxRecord& r) const { r.text = string_of_id(i); }

 private:
  RecordSink& sink_;
};

template <typename Record>
Record made_up(RecordSink& sink) {
  Record record;
  const MadeUpRow row(sink);
  using Columns = tables::Selection<tables::kTable<Record>, ReadScope::kAll>;
  EXPECT_EQ(Columns::read_times(row, record), nullptr);
  Columns::template read<tables::ReadGroup::kValues>(row, record);
  Columns::template read<tables::ReadGroup::kStrings>(row, record);
  Columns::template read<tables::ReadGroup::kName>(row, record);
  return record;
}

// Of every kind a record with every column and one with none but those that it must have.
void add_every_kind(RecordSink& sink) {
  for_each_kind([&]<typename Record>() {
    sink.add(made_up<Record>(sink));
    sink.add(Record());
  });
}

class Tables : public testing::Test {
 protected:
  Tables() {
    TraceWriter writer(path_, WriteMode::kImport);
    add_every_kind(writer);
    add_full_process(writer);
    writer.finish();
  }

  TempFolder folder_;
  fs::path path_ = folder_ / "rank0.db";
};

TEST_F(Tables, HaveTheColumnsOfTheSchemaInItsOrder) {
  Sqlite db(path_);
  const auto expect_columns = [&](const auto& table) {
    std::vector<std::string> declared;
    tables::for_each_column(table, [&](const auto& column) { declared.emplace_back(column.name); });
    EXPECT_EQ(declared, db.values(fmt::format("SELECT name FROM pragma_table_info('{}')", table.name))) << table.name;
  };
  for_each_kind([&]<typename Record>() { expect_columns(tables::kTable<Record>); });
  expect_columns(tables::kProfilerOverheads);
}

// A column that is NULL in every row has no value to compare.
TEST_F(Tables, MadeUpRecordsFillEveryColumnThatIsRead) {
  Sqlite db(path_);
  for_each_kind([&]<typename Record>() {
    tables::for_each_column(tables::kTable<Record>, [&]<typename Column>(const Column& column) {
      if (Column::kGroup == tables::ReadGroup::kNever || column.name == std::string_view("jsonText")) return;
      const char* table = tables::kTable<Record>.name;
      EXPECT_NE(db.value(fmt::format("SELECT count(\"{}\") FROM {}", column.name, table)), "0")
          << table << "." << column.name;
    });
  });
}

TEST_F(Tables, EveryKindIsReadBack) {
  KeptProcess written;
  add_every_kind(written);
  add_full_process(written);
  KeptTrace trace;
  TraceFile(path_).read(trace);
  ASSERT_EQ(trace.processes.size(), 1U);
  // An empty payload makes a range without one.
  EXPECT_THAT(describe(trace.processes[0]), testing::UnorderedElementsAreArray(describe(written)));
}

// The rows of the tables of a file, each with its table. Ids of strings are as the writer came upon them.
std::vector<std::string> rows_of(const fs::path& path, const std::string& which) {
  Sqlite db(path);
  std::vector<std::string> rows;
  for (const std::string& table :
       db.values(fmt::format("SELECT name FROM sqlite_master WHERE type = 'table' AND {} ORDER BY name", which))) {
    std::string columns;
    for (const std::string& column : db.values(fmt::format("SELECT name FROM pragma_table_info('{}')", table)))
      columns += fmt::format("{}quote(\"{}\")", columns.empty() ? "" : " || ', ' || ", column);
    for (const std::string& row : db.values(fmt::format("SELECT {} FROM {}", columns, table)))
      rows.push_back(fmt::format("{}: {}", table, row));
  }
  return rows;
}

TEST_F(Tables, AFileThatIsReadAndWrittenAgainIsTheSame) {
  class Copy : public TraceSink {
   public:
    explicit Copy(const fs::path& path) : writer(path, WriteMode::kImport) {}
    RecordSink& add_process() override { return writer; }
    void remove_last_process() override {}
    TraceWriter writer;
  };
  const auto copy = [](const fs::path& from, const fs::path& to) {
    Copy sink(to);
    TraceFile(from).read(sink);
    sink.writer.finish();
  };
  copy(path_, folder_ / "again.db");
  copy(folder_ / "again.db", folder_ / "third.db");
  // The first copy has the strings in the order in which the reader comes upon them, and those that rows refer to only.
  const std::string but_strings = "name <> 'StringIds'";
  EXPECT_EQ(rows_of(folder_ / "again.db", but_strings).size(), rows_of(path_, but_strings).size());
  EXPECT_EQ(rows_of(folder_ / "again.db", "1"), rows_of(folder_ / "third.db", "1"));
}

// The writer takes the span from records as they come, who finishes the file of a process that was killed from its
// tables.
TEST_F(Tables, TheSpanOfAFileIsTheSameWhoeverFinishesIt) {
  const auto span = [&](auto add, bool by_writer) {
    const fs::path path = folder_ / "live.db";
    fs::remove(path);
    {
      TraceWriter writer(path, WriteMode::kLive);
      writer.set_run(full_run());
      add(writer);
      writer.flush();
      if (by_writer) writer.finish();
    }
    if (!by_writer) finish_trace_file(path);
    return Sqlite(path).values("SELECT duration || ' ' || startTime || ' ' || stopTime FROM ANALYSIS_DETAILS");
  };
  for_each_kind([&]<typename Record>() {
    const auto add = [](RecordSink& sink) { sink.add(made_up<Record>(sink)); };
    EXPECT_EQ(span(add, false), span(add, true)) << tables::kTable<Record>.name;
  });
  const auto all = [](RecordSink& sink) { add_full_process(sink); };
  EXPECT_THAT(span(all, false), testing::SizeIs(1));
  EXPECT_EQ(span(all, false), span(all, true));
}

}  // namespace
}  // namespace swinscope::test
