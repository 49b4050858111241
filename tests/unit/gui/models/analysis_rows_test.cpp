// Rows of the registry's tables as the window shows them, and the facts behind them, which all pages share.
#include "gui/core/analysis_rows.h"

#include <gtest/gtest.h>

#include "analyzer/importers/open.h"
#include "analyzer/report/analysis_documents.h"
#include "gui/core/shared_analysis.h"

namespace swinscope::gui {
namespace {

Table named_table() {
  return {"kernels",
          "Kernels",
          {{"name", "name"}, {"full_name", "full name"}, {"operation", "operation"}},
          {{std::string("gemm"), std::string("void Gemm<float>()"), std::string("gemm")},
           {std::string("Memcpy"), std::string("Memcpy DtoD"), std::string("copy")}}};
}

TEST(AnalysisRows, AreKeptByTheirNamesOnly) {
  Table table = named_table();
  keep_named(table, QStringLiteral("dtod"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "Memcpy");
  table = named_table();
  keep_named(table, QStringLiteral("copy"));  // an operation, which is no name
  EXPECT_TRUE(table.rows.empty());
  table = named_table();
  keep_named(table, {});
  EXPECT_EQ(table.rows.size(), 2U);
  table.columns[0].key = table.columns[1].key = "what";  // a table that names nothing
  keep_named(table, QStringLiteral("nothing"));
  EXPECT_EQ(table.rows.size(), 2U);
}

TEST(AnalysisRows, StandForCallsWhereTheyHaveSome) {
  const Table table = named_table();
  const RowKind& kernels = row_kind("kernels");
  const Called copy = called_by(kernels, table, 1);
  EXPECT_EQ(copy, (Called{"Memcpy DtoD", ""}));
  EXPECT_EQ(find_row(kernels, table, copy), 1);
  EXPECT_EQ(find_row(kernels, table, {"other", ""}), -1);
  EXPECT_EQ(row_kind("environment").calls, nullptr);
  EXPECT_STRNE(row_kind("environment").absence, "");
}

TEST(AnalysisRows, EveryKindIsOneOfTheRegistry) {
  int with_calls = 0;
  for (const Analysis& analysis : analyses())
    with_calls += row_kind(analysis.key).calls != nullptr ? 1 : 0;
  EXPECT_EQ(with_calls, 2);
}

class RecordingTest : public testing::Test {
 protected:
  const Analysis& analysis(std::string_view key) { return *std::ranges::find(analyses(), key, &Analysis::key); }
  const std::shared_ptr<const Trace> trace_ =
      std::make_shared<const Trace>(open_trace(SWINSCOPE_SOURCE_DIR "/data/swinscope_swin_tiny_infer_1gpu.db"));
};

TEST_F(RecordingTest, OfAStreamOnlyWhatRanOnIt) {
  Filter filter;
  const RunFacts all(*trace_, filter.selection());
  const Table layers = rows_of(analysis("layers"), all, filter);
  EXPECT_EQ(layers.rows, table_of(analysis("layers"), all, {}).rows);
  filter.stream = 7;
  const RunFacts of_stream(*trace_, filter.selection());
  const Table on_stream = rows_of(analysis("layers"), of_stream, filter);
  EXPECT_GT(on_stream.rows.size(), 0U);
  EXPECT_LT(on_stream.rows.size(), layers.rows.size());
  for (int row = 0; row < static_cast<int>(on_stream.rows.size()); ++row) {
    const RowKind& kind = row_kind("layers");
    EXPECT_FALSE(kind.calls(of_stream, filter, called_by(kind, on_stream, row), 0).empty()) << row;
  }
}

TEST_F(RecordingTest, FactsAreComputedOnceForASelection) {
  SharedAnalysis shared;
  const auto first = shared.of(trace_, {});
  EXPECT_EQ(shared.of(trace_, {}), first);
  Selection whole;
  whole.scope = Scope::kTrace;
  const auto second = shared.of(trace_, whole);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->scope.title(), RunScope(*trace_, whole).title());
  Selection nobody;
  nobody.rank = 77;
  EXPECT_THROW(shared.of(trace_, nobody), Error);
  EXPECT_EQ(shared.of(trace_, whole), second) << "a failure forgets nothing";
}

// What the window shows of a part of a run is what `kernels`, `layers`, `launches` and `info` print of it; that reports
// say the same is tested in tests/integration/cli/one_scope_test.cpp.
// Whatever rows are made of the kernels, they have the same calls and the same time together.
TEST_F(RecordingTest, GroupsOfKernelsHaveAllTheirCalls) {
  const RunFacts run(*trace_, {});
  const RowKind& kind = row_kind("kernels");
  const Analysis& kernels = analysis("kernels");
  ASSERT_EQ(kind.groupings.size(), 4U);
  std::vector<std::pair<std::size_t, std::int64_t>> sums;
  for (std::size_t grouping = 0; grouping < kind.groupings.size(); ++grouping) {
    const Table table = rows_of(kernels, run, {}, grouping);
    std::size_t calls = 0;
    std::int64_t total = 0;
    for (int row = 0; row < static_cast<int>(table.rows.size()); ++row) {
      const std::vector<Call> some = kind.calls(run, {}, called_by(kind, table, row), grouping);
      const auto& cells = table.rows[static_cast<std::size_t>(row)];
      EXPECT_EQ(Cell(static_cast<std::int64_t>(some.size())), cells[find_column(table, "calls")]);
      calls += some.size();
      for (const Call& call : some)
        total += call.duration_ns;
    }
    sums.emplace_back(calls, total);
  }
  for (const auto& sum : sums)
    EXPECT_EQ(sum, sums.front());
}

TEST(AnalysisRows, OfAPartAreThoseOfTheTerminal) {
  const Trace trace = open_trace(SWINSCOPE_SOURCE_DIR "/data/swinscope_swin_large_weak_2gpu/gpus2/tracing");
  Filter filter;
  filter.rank = 1;
  filter.steps = StepRange{3, 5};
  const RunFacts run(trace, filter.selection());
  const auto expect_same = [&](std::string_view key, const Table& printed) {
    const Analysis& analysis = *std::ranges::find(analyses(), key, &Analysis::key);
    const Table shown = rows_of(analysis, run, filter);
    EXPECT_GT(shown.rows.size(), 0U) << key;
    EXPECT_EQ(shown.rows, printed.rows) << key;
    EXPECT_EQ(shown.columns.size(), printed.columns.size()) << key;
  };
  expect_same("kernels", kernels_document(run, {}, NameStyle::kShort).tables.at(0));
  expect_same("layers", layers_document(run, {}).tables.at(0));
  expect_same("launches", launches_document(run).tables.at(0));
  expect_same("ranges", ranges_document(run, {}).tables.at(0));
  for (const Table& table : info_document(trace, true).tables)
    expect_same(table.key, table);
  EXPECT_EQ(run.scope.title().find("steps 3 to 5"), 0U) << run.scope.title();
}

}  // namespace
}  // namespace swinscope::gui
