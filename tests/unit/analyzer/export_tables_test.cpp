// The tables of an export: CSV as RFC 4180 has it, no text that a spreadsheet takes for a formula, every row as wide as
// its table, and a page of documentation that says the same.
#include <set>
#include <sstream>

#include "analyzer/export/csv_file.h"
#include "analyzer/export/table_folder.h"
#include "analyzer/export/tables.h"
#include "tests/unit/analyzer/export_support.h"

namespace swinscope::test {
namespace {

std::string csv_of(const std::function<void(CsvFile&)>& fill, std::span<const ExportColumn> columns) {
  const TempFolder folder;
  ExportOutput output(folder / "t.csv", false);
  CsvFile file(output, columns);
  fill(file);
  file.finish();
  output.finish();
  return read_file(folder / "t.csv");
}

TEST(ExportCsv, FieldsAreQuotedWhereTheyMustBe) {
  const std::vector<ExportColumn> columns = {{"name", ExportType::kText, false, ""},
                                             {"n", ExportType::kInt64, true, ""}};
  const auto fill = [](CsvFile& file) {
    for (const std::string_view text :
         {"plain", "a,b", "say \"x\"", "two\nlines", "", "=1+1", "-x", "@x", "+x", "\tx"}) {
      file.text(text);
      file.null();
      file.end_row();
    }
    file.text("bad \xFF");
    file.integer(-5);
    file.end_row();
  };
  EXPECT_EQ(
      csv_of(fill, columns),
      "name,n\nplain,\n\"a,b\",\n\"say \"\"x\"\"\",\n\"two\nlines\",\n,\n\"'=1+1\",\n\"'-x\",\n\"'@x\",\n\"'+x\",\n"
      "\"'\tx\",\nbad \xEF\xBF\xBD,-5\n");
}

// Counts rows, and values that are missing where none may be.
class CheckingFile : public TableFile {
 public:
  explicit CheckingFile(const ExportTable& table) : table_(table) {}
  void integer(std::int64_t) override { expect(ExportType::kInt32, ExportType::kInt64); }
  void real(double) override { expect(ExportType::kDouble, ExportType::kDouble); }
  void text(std::string_view) override { expect(ExportType::kText, ExportType::kText); }
  void null() override {
    EXPECT_TRUE(column().is_optional) << table_.name << "." << column().name;
    ++at_;
  }
  void end_row() override {
    EXPECT_EQ(at_, table_.columns.size()) << table_.name;
    at_ = 0;
    ++rows;
  }
  void finish() override {}
  int rows = 0;

 private:
  const ExportColumn& column() const { return table_.columns.at(at_); }
  void expect(ExportType one, ExportType other) {
    EXPECT_TRUE(column().type == one || column().type == other) << table_.name << "." << column().name;
    ++at_;
  }

  const ExportTable& table_;
  std::size_t at_ = 0;
};

std::map<std::string, int> rows_of(const Trace& trace, const Selection& selection) {
  std::map<std::string, int> rows;
  const ExportSource source(trace, selection, {});
  for (const ExportTable& table : export_tables()) {
    CheckingFile file(table);
    table.fill(source, file);
    rows[std::string(table.name)] = file.rows;
  }
  return rows;
}

TEST(ExportTables, EveryRecordIsARow) {
  const Trace trace = random_full_trace(11, 80);
  std::map<std::string, std::size_t> expected;
  for (const Rank& rank : trace.ranks) {
    expected["gpu_events"] += rank.gpu.size();
    expected["cuda_calls"] += rank.api.size();
    expected["ranges"] += rank.ranges.size();
    expected["marks"] += rank.marks.size();
    expected["synchronizations"] += rank.syncs.size();
    expected["overheads"] += rank.overheads.size();
    expected["thread_cpu"] += rank.thread_cpu.size();
    expected["environment"] += rank.run.environment.size();
    expected["lost_records"] += rank.run.drops.size();
    expected["gpus"] += rank.run.gpus.size();
  }
  expected["ranks"] = trace.ranks.size();
  const std::map<std::string, int> rows = rows_of(trace, whole_trace());
  for (const auto& [table, count] : expected)
    EXPECT_EQ(rows.at(table), static_cast<int>(count)) << table;
}

TEST(ExportTables, ASelectionCutsThem) {
  const Trace trace = random_full_trace(11, 80);
  Selection selection = whole_trace();
  selection.rank = 1;
  selection.name = "gemm<3>";
  std::map<std::string, int> rows = rows_of(trace, selection);
  int named = 0;
  for (const StringId name : trace.ranks.at(1).gpu.name)
    named += trace.text(name).find("gemm<3>") != std::string_view::npos ? 1 : 0;
  ASSERT_GT(named, 0);
  EXPECT_EQ(rows["gpu_events"], named);
  EXPECT_LE(rows["cuda_calls"], named);
  EXPECT_EQ(rows["ranks"], 1);
}

// A kernel and a copy of 1000 bytes in 500 ns, which is 2e9 bytes/s, by hand.
TEST(ExportTables, AKernelAndACopy) {
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  KernelRecord kernel;
  kernel.start_ns = 100;
  kernel.end_ns = 250;
  kernel.stream = 7;
  kernel.demangled_name = sink.intern("void a::gemm<int, 3>(int)");
  kernel.short_name = sink.intern("gemm");
  kernel.grid = {1, 2, 3};
  kernel.block = {4, 5, 6};
  kernel.registers_per_thread = 32;
  sink.add(kernel);
  MemcpyRecord copy;
  copy.start_ns = 300;
  copy.end_ns = 800;
  copy.stream = 7;
  copy.bytes = 1'000;
  copy.kind = CopyKind::kHostToDevice;
  copy.src_kind = MemoryKind::kPinned;
  copy.dst_kind = MemoryKind::kDevice;
  sink.add(copy);
  sink.set_run({});
  Trace trace;
  builder.move_into(trace);
  const TempFolder folder;
  const ExportSource source(trace, whole_trace(), {});
  export_table_folder(source, folder / "out", TableFormat::kCsv, false);
  std::istringstream lines(read_file(folder / "out" / "gpu_events.csv"));
  std::string header;
  std::string first;
  std::string second;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_TRUE(header.starts_with("rank,device,context,stream,start_ns,end_ns,duration_ns,kind,name,short_name,"))
      << header;
  EXPECT_EQ(first,
            "0,0,0,7,100,250,150,kernel,\"void a::gemm<int, 3>(int)\",gemm,gemm,compute,1,2,3,4,5,6,32,0,0"
            ",,,,,,,,,,,,,,,,,,");
  EXPECT_EQ(second,
            "0,0,0,7,300,800,500,copy,Memcpy HtoD (Pinned -> Device),Memcpy HtoD (Pinned -> Device),copy,memory"
            ",,,,,,,,,,1000,2000000000,,,,,,,,,,,,,,,,");
}

TEST(ExportTables, NamesAreUniqueAndDocumented) {
  std::set<std::string_view> tables;
  for (const ExportTable& table : export_tables()) {
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.description.empty()) << table.name;
    std::set<std::string_view> columns;
    for (const ExportColumn& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.description.empty()) << table.name << "." << column.name;
    }
  }
}

// scripts/export-docs.sh writes the page.
TEST(ExportTables, ThePageIsUpToDate) {
  const fs::path page = fs::path(SWINSCOPE_SOURCE_DIR) / "docs" / "export-tables.md";
  if (std::getenv("SWINSCOPE_WRITE_DOCS") != nullptr) write_file(page, export_tables_document());
  EXPECT_EQ(read_file(page), export_tables_document()) << "run scripts/export-docs.sh and commit the result";
}

TEST(ExportOutput, NothingIsReplacedOrLeftBehind) {
  const TempFolder folder;
  write_file(folder / "there", "before");
  EXPECT_THROW(ExportOutput(folder / "there", false), Error);
  {
    ExportOutput output(folder / "new", false);
    output.write("half");  // and then it fails: finish() is not reached
    EXPECT_FALSE(fs::exists(folder / "new"));
  }
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"there"}));
  {
    ExportOutput output(folder / "new", false);
    output.write("whole");
    write_file(folder / "new", "of another program");
    EXPECT_THROW(output.finish(), Error);
  }
  EXPECT_EQ(read_file(folder / "new"), "of another program");
  ExportOutput output(folder / "there", true);
  output.write("after");
  EXPECT_EQ(read_file(folder / "there"), "before");
  output.finish();
  EXPECT_EQ(read_file(folder / "there"), "after");
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"new", "there"}));
}

TEST(ExportOutput, AFolderWithFilesIsRefused) {
  const TempFolder folder;
  write_file(folder / "there", "before");
  EXPECT_THROW(prepare_export_folder(folder.path(), false), Error);
  EXPECT_THROW(prepare_export_folder(folder / "there", true), Error);
  prepare_export_folder(folder.path(), true);
  prepare_export_folder(folder / "deep" / "new", false);
  EXPECT_TRUE(fs::is_directory(folder / "deep" / "new"));
}

}  // namespace
}  // namespace swinscope::test
