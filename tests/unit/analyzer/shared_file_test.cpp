// Several threads read one file: what comes of it is what one thread reads, of files as they should be and of others.
#include "analyzer/analyses/run_facts.h"
#include "analyzer/importers/open.h"
#include "analyzer/report/documents.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/analyzer/view.h"

namespace swinscope::test {
namespace {

constexpr std::uint64_t kFirst = make_global_pid(100);
constexpr std::uint64_t kSecond = make_global_pid(101);

// As many readers as threads, however small the file.
OpenOptions with_threads(int threads) {
  OpenOptions options;
  options.threads = threads;
  options.bytes_per_thread = 1;
  return options;
}

// All that is read of a file, or the error.
std::vector<std::string> lines_of(const fs::path& path, const OpenOptions& options) {
  std::vector<std::string> lines;
  const auto error = error_of([&] {
    const Trace trace = open_trace(path, options);
    lines = describe(trace);
    std::ranges::copy(trace.warnings, std::back_inserter(lines));
    std::ranges::copy(trace.doubts, std::back_inserter(lines));
    lines.push_back(fmt::format("{} corrupt {} files {}", trace.description, trace.corrupt, trace.files));
  });
  if (error) lines = {error->what(), error->cause(), error->hint()};
  return lines;
}

void expect_same(const fs::path& path, bool spans_only = false) {
  OpenOptions alone = with_threads(1);
  alone.spans_only = spans_only;
  const std::vector<std::string> expected = lines_of(path, alone);
  for (const int threads : {2, 3, 8}) {
    OpenOptions options = with_threads(threads);
    options.spans_only = spans_only;
    EXPECT_EQ(first_difference(expected, lines_of(path, options)), "") << path << " by " << threads;
  }
}

// Row i of a process; the second one's rows are mixed with those of the first.
std::uint64_t process_of(int i) { return i % 3 < 2 ? kFirst : kSecond; }

std::string kernel_row(int i) {
  const int start = 1000 - 10 * i;
  const int end = i % 20 == 19 ? start - 1 : start + 5;  // some end before they start
  return fmt::format("({}, {}, {}, 1, {}, {}, {}, {}, {}, {})", start, end, i % 3 / 2, 7 + i % 2, i + 1, process_of(i),
                     1 + i / 30, i / 30 % 2 == 0 ? "NULL" : "5", 1 + i % 4);
}

// The first is at the same time, on the same stream and of the same id as the last kernel.
std::string copy_row(int i, int rows) {
  const int twin = i == 0 ? rows - 1 : i;
  return fmt::format("({}, {}, {}, 1, {}, {}, {}, {}, {})", i == 0 ? 1000 - 10 * twin : 2000 + i,
                     i == 0 ? 1005 - 10 * twin : 2001 + i, twin % 3 / 2, 7 + twin % 2, twin + 1, process_of(twin), i,
                     1 + i / 31 % 2);
}

std::string call_row(int i) {
  return fmt::format("({}, {}, {}, {}, 3)", 900 - 10 * i, 903 - 10 * i,
                     process_of(i) + 1 + static_cast<unsigned>(i % 2), i + 1);
}

// Nested, in two domains; some without an end.
std::string range_row(int i) {
  return fmt::format("({}, {}, 59, 'range {}', {}, {})", i, i % 25 == 24 ? "NULL" : std::to_string(400 - i), i % 7,
                     process_of(i) + 1, i % 2 * 3);
}

// An export whose parts have all that they could disagree about: processes, names, ids, ties, rows that are left out.
std::string mixed_export(int rows, const std::string& end_of_kernels = ")", const std::string& end_of_calls = ")") {
  std::string sql =
      "PRAGMA page_size=512; BEGIN; CREATE TABLE StringIds(id, value);"
      "INSERT INTO StringIds VALUES(1, 'gemm<1>(int)'), (2, 'softmax<2>(int)'), (3, 'cudaLaunchKernel'), "
      "(4, '_Z3addPf'), (5, 'gemm_symbol');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, "
      "demangledName, mangledName, gridX" +
      end_of_kernels +
      ";CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, correlationId, globalPid, "
      "bytes, copyKind);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, globalPid, graphId);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId" +
      end_of_calls +
      ";CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, domainId);"
      "CREATE TABLE OF_ANOTHER_TOOL(x); INSERT INTO OF_ANOTHER_TOOL VALUES(1), (2);"
      "INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, 'mine', 0, 3);";
  for (int i = 0; i < rows; ++i) {
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES" + kernel_row(i) + ";";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES" + copy_row(i, rows) + ";";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId) VALUES" +
           call_row(i) + ";";
    sql += "INSERT INTO NVTX_EVENTS VALUES" + range_row(i) + ";";
  }
  // Found by the last part alone: whole graphs, of the second process, and a reason to leave a row out.
  for (int i = 0; i < 10; ++i) {
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES({}, {}, 0, {}, 9);", 5000 + i,
                       i == 9 ? "9223372036854775807" : std::to_string(5001 + i), i < 8 ? kFirst : kSecond);
  }
  return sql + "COMMIT;";
}

std::string many_kernels() {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid);"
         "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 40000)"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 500, 0, 5 FROM n";
}

class SharedFile : public testing::Test {
 protected:
  fs::path make(const std::string& sql) {
    fs::remove(folder_ / "a.sqlite");
    return make_database(folder_ / "a.sqlite", sql);
  }

  TempFolder folder_;
};

TEST_F(SharedFile, RowsOfProcessesThatAreMixed) {
  const fs::path file = make(mixed_export(60));
  const Trace trace = open_trace(file, with_threads(3));
  ASSERT_EQ(trace.ranks.size(), 2U);
  // 3 of the 60 kernels end before they start, 1 of the 10 graphs ends at no possible time.
  EXPECT_EQ(trace.ranks[0].gpu.size() + trace.ranks[1].gpu.size(), 60U - 3 + 60 + 10 - 1);
  EXPECT_TRUE(trace.ranks[1].run.graph_level_only);
  EXPECT_FALSE(trace.corrupt);
  expect_same(file);
  expect_same(file, true);
}

TEST_F(SharedFile, IdsWithGaps) {
  expect_same(make(mixed_export(60) + "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 7 < 3;"
                                      "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid < 50;"
                                      "UPDATE NVTX_EVENTS SET rowid = rowid * 100000 - 3000000"));
}

// By one thread alone.
TEST_F(SharedFile, TablesWithoutIds) {
  const fs::path file = make(mixed_export(60, ", PRIMARY KEY(start)) WITHOUT ROWID", ", rowid)"));
  expect_same(file);
}

// A view is no table: it is not read by anybody.
TEST_F(SharedFile, AView) {
  const fs::path file = make(mixed_export(60) +
                             "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO calls;"
                             "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT * FROM calls");
  EXPECT_EQ(open_trace(file, with_threads(3)).ranks.at(0).api.size(), 0U);
  expect_same(file);
}

// What is not yet in the file itself is read from a copy, by one thread.
TEST_F(SharedFile, AFileThatIsStillWritten) {
  Sqlite writer(folder_ / "a.sqlite");
  writer.run("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;" + mixed_export(60));
  EXPECT_EQ(open_trace(folder_ / "a.sqlite", with_threads(3)).ranks.size(), 2U);
  expect_same(folder_ / "a.sqlite");
}

TEST_F(SharedFile, CancelStops) {
  const fs::path file = make(many_kernels());
  const std::atomic<bool> cancel = true;
  OpenOptions options = with_threads(3);
  options.cancel = &cancel;
  EXPECT_TRUE(error_of([&] { open_trace(file, options); }));
}

// A reader tells of each 4,096 records of a process: of six readers each has them once.
TEST_F(SharedFile, EachThreadReadsAPart) {
  const fs::path file = make(many_kernels());
  const auto told = [&](int threads, std::uintmax_t bytes_per_thread) {
    std::atomic<std::uint64_t> records = 0;
    OpenOptions options = with_threads(threads);
    options.bytes_per_thread = bytes_per_thread;
    options.on_records = [&](std::uint64_t more) { records += more; };
    EXPECT_EQ(open_trace(file, options).gpu_event_count(), 40'000);
    return records.load();
  };
  EXPECT_EQ(told(1, 1), 9 * 4096U);
  EXPECT_EQ(told(6, 1), 6 * 4096U);
  EXPECT_EQ(told(6, fs::file_size(file)), 9 * 4096U);      // too small for two
  EXPECT_EQ(told(6, fs::file_size(file) / 2), 8 * 4096U);  // for two: 20,000 each
}

// Wherever a page is overwritten: by what is no page, by nothing, or by another page of the file, of which SQLite says
// nothing where it is one of the same kind.
class DamagedPages : public SharedFile, public testing::WithParamInterface<const char*> {};

TEST_P(DamagedPages, AreReadAsByOne) {
  constexpr std::size_t kPage = 512;
  const fs::path file = make(mixed_export(150));
  const std::string whole = read_file(file);
  const std::size_t pages = whole.size() / kPage;
  ASSERT_GT(pages, 40U);
  for (std::size_t page = 1; page < pages; ++page) {
    std::string damaged = whole;
    const std::string_view how = GetParam();
    const std::string bytes = how == "overwritten" ? std::string(kPage, '\xFF')
                              : how == "empty"     ? std::string(kPage, '\0')
                              : how == "of_before" ? whole.substr((page > 8 ? page - 8 : 1) * kPage, kPage)
                                                   : whole.substr(std::min(page + 20, pages - 1) * kPage, kPage);
    damaged.replace(page * kPage, kPage, bytes);
    write_file(file, damaged);
    expect_same(file);
    if (HasFailure()) FAIL() << "page " << page;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, DamagedPages, testing::Values("overwritten", "empty", "of_before", "of_behind"),
                         [](const auto& way) { return std::string(way.param); });

// All that `analyze` says of recordings.
TEST(SharedRecordings, HaveTheSameTables) {
  const auto said = [](const std::string& name, int threads) {
    const Trace trace = open_trace(SWINSCOPE_SOURCE_DIR "/data/" + name, with_threads(threads));
    const Document document = analyze_document(RunFacts(trace, {}), {.top = 20, .thesis = true, .verdict_facts = true});
    return render(document, {.format = Format::kJson});
  };
  for (const std::string name : {"swinscope_swin_tiny_graph_1gpu.db", "swinscope_captured_allreduce_2gpu"}) {
    const std::string alone = said(name, 1);
    EXPECT_EQ(said(name, 2), alone) << name;
    EXPECT_EQ(said(name, 8), alone) << name;
  }
}

}  // namespace
}  // namespace swinscope::test
