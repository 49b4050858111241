// What the tables of kernels and layers say of the advisor's cards, worked out by hand; that the page of figures says
// what it is.
#include "advisor/advice_columns.h"

#include <gmock/gmock.h>

#include "analyzer/report/analysis_documents.h"
#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using testing::HasSubstr;

// By them 8 bits take half of the time of fp16.
constexpr const char* kRates = R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
  "bytes": [{"bytes": 65536, "ns": 4000}, {"bytes": 1048576, "ns": 16000}],
  "products": {"fp16": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 50000}],
               "fp8": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 25000}]}})";
constexpr std::string_view kProduct =
    R"("class": "gemm", "flops": 33554432, "input_shape": [64, 256], "output_shape": [64, 1024], "precision": "fp16")";
constexpr std::string_view kPlain = R"("class": "other", "precision": "fp16")";

// A product of 60 (30 less in 8 bits), an add that fits behind it or into the norm.
class AdviceColumns : public testing::Test {
 protected:
  AdviceColumns() {
    write_file(folder_ / "rates.json", kRates);
    options_.peaks = folder_ / "rates.json";
  }
  static Trace made() {
    return trace_of_step([](HandStep& step) {
      step.at("block.fc1").kernel(kGemm, 60, {}, kProduct);
      step.at("block.gelu").kernel(kAdd, 40, {}, kPlain);
      step.at("block.norm").kernel(kNorm, 70, {}, kPlain);
    });
  }
  // Of the row with that text in the first column.
  static Cell cell(const Table& table, std::string_view row, std::string_view column) {
    for (const std::vector<Cell>& cells : table.rows)
      if (std::get<std::string>(cells.front()) == row) return cells[find_column(table, column)];
    ADD_FAILURE() << "no row " << row;
    return {};
  }

  TempFolder folder_;
  AdviceOptions options_;
  Trace trace_ = made();
  RunFacts run_{trace_, {}};
};

TEST_F(AdviceColumns, OfKernels) {
  const Advisor advisor(run_, options_);
  Table table = kernels_document(run_, {}, NameStyle::kFull).tables.front();
  const std::size_t before = table.columns.size();
  add_advice_columns(table, run_, &advisor);
  ASSERT_EQ(table.columns.size(), before + 2);
  EXPECT_EQ(cell(table, kGemm, "gain_8bit_ns"), Cell(std::int64_t{30'000}));
  EXPECT_EQ(cell(table, kAdd, "gain_8bit_ns"), Cell());
  EXPECT_EQ(cell(table, kGemm, "fusable_with"), Cell(std::string(kAdd) + " (epilogue-1)"));
  EXPECT_EQ(cell(table, kAdd, "fusable_with"), Cell(std::string(kGemm) + " (epilogue-1)"));
  EXPECT_EQ(cell(table, kNorm, "fusable_with"), Cell(std::string(kAdd) + " (fusion-1)"));
  EXPECT_FALSE(table.columns[before].detail);
  EXPECT_THAT(table.definition, HasSubstr(std::string(kAdviceColumnsDefinition)));
}

TEST_F(AdviceColumns, OfLayersNameLayers) {
  const Advisor advisor(run_, options_);
  Table table = layers_document(run_, {}).tables.front();
  add_advice_columns(table, run_, &advisor);
  EXPECT_EQ(cell(table, "block.fc1", "gain_8bit_ns"), Cell(std::int64_t{30'000}));
  EXPECT_EQ(cell(table, "block.fc1", "fusable_with"), Cell(std::string("block.gelu (epilogue-1)")));
  EXPECT_EQ(cell(table, "block.norm", "fusable_with"), Cell(std::string("block.gelu (fusion-1)")));
  Table joined = layers_document(run_, {.depth = 1}).tables.front();
  add_advice_columns(joined, run_, &advisor);
  EXPECT_EQ(cell(joined, "block", "gain_8bit_ns"), Cell(std::int64_t{30'000}));
  EXPECT_EQ(cell(joined, "block", "fusable_with"), Cell(std::string(kAdd) + " (fusion-1)"))
      << "the kernel of most time";
}

TEST_F(AdviceColumns, AreEmptyAndHiddenWithoutAdvice) {
  std::vector<Table> tables = {kernels_document(run_, {}, NameStyle::kFull).tables.front(), {"others", "", {}, {}}};
  add_advice_columns(tables, run_, nullptr);
  const std::size_t column = find_column(tables[0], "gain_8bit_ns");
  EXPECT_TRUE(tables[0].columns[column].detail);
  for (const std::vector<Cell>& row : tables[0].rows)
    EXPECT_EQ(row[column], Cell());
  EXPECT_TRUE(tables[1].columns.empty());
}

TEST(AdviceColumnsDefinition, StandsOnThePageOfFigures) {
  const std::string page = read_file(std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "docs/metrics.md");
  EXPECT_THAT(page, HasSubstr(std::string(kAdviceColumnsDefinition)));
}

}  // namespace
}  // namespace swinscope::test
