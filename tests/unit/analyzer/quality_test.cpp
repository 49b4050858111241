// How good results are, beside how fast they come: one table, and a chart of it.
#include "analyzer/experiment/quality.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "analyzer/experiment/scaling.h"
#include "analyzer/report/report.h"
#include "store/error.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Row = std::vector<Cell>;

// images: of a step; 0: not known.
ScalingRow point(int gpus, const std::string& precision, std::int64_t step_ns, std::int64_t images) {
  ScalingRow row;
  row.point.factors = {{"gpus", std::to_string(gpus)}, {"precision", precision}};
  row.step_ns = step_ns;
  row.images_per_step = images;
  row.images_per_second = 1e9 * static_cast<double>(images) / static_cast<double>(step_ns);
  return row;
}

Document experiment(const std::vector<ScalingRow>& rows) {
  Document document;
  document.tables = {scaling_rows_table(rows)};
  return document;
}

const Quality kTop1{"precision", "top-1 [%]", {{"fp16", {77.0, 75.0, 76.0}}, {"fp8", {75.5}}}};

// fp16: 75 to 77, 76 on average. fp8 is faster; of int8 nothing was measured.
TEST(Quality, StandsBesideTheSpeedOfItsPoints) {
  Document document = experiment(
      {point(1, "fp8", 10'000'000, 128), point(1, "fp16", 16'000'000, 128), point(1, "int8", 9'000'000, 128)});
  ASSERT_TRUE(add_quality(kTop1, document));
  const Table& table = document.tables.back();
  EXPECT_EQ(table.title, "Speed and top-1 [%]");
  EXPECT_THAT(
      table.rows,
      ElementsAre(Row{"fp16", std::int64_t{16'000'000}, 8000.0, 76.0, 75.0, 77.0, std::int64_t{3}, std::int64_t{1}},
                  Row{"fp8", std::int64_t{10'000'000}, 12800.0, 75.5, 75.5, 75.5, std::int64_t{1}, std::int64_t{1}}));
  std::vector<ReportChart> charts = charts_of(document);
  const auto found = std::ranges::find(charts, table.title, [](const ReportChart& one) { return one.chart.title; });
  ASSERT_NE(found, charts.end());
  const Chart& chart = found->chart;
  EXPECT_THAT(chart.categories, ElementsAre("fp16: 8000", "fp8: 12,800"));
  EXPECT_EQ(chart.x_title, "precision: images/s");
  EXPECT_EQ(chart.y_title, "top-1 [%]");
  EXPECT_THAT(chart.series.front().values, ElementsAre(76.0, 75.5));
  EXPECT_THAT(chart.series.front().half_widths, ElementsAre(1.0, 0.0));
  EXPECT_LT(*chart.y_min, 75.0);
  EXPECT_GT(*chart.y_max, 77.0);
  EXPECT_GT(*chart.y_min, 70.0);  // two points differ by half a point: an axis from 0 would not show it
}

TEST(Quality, SaysGpusWhereTheyDifferAndStepsWithoutImages) {
  Document document = experiment({point(1, "fp16", 16'000'000, 0), point(2, "fp16", 17'000'000, 0)});
  ASSERT_TRUE(add_quality({"precision", "top-1 [%]", {{"fp16", {77.0}}}}, document));
  const Chart chart = charts_of(document).back().chart;
  EXPECT_THAT(chart.categories, ElementsAre("fp16 x2: 17.00 ms", "fp16 x1: 16.00 ms"));
  EXPECT_EQ(chart.x_title, "precision: step");
}

TEST(Quality, IsOfPointsThatThereAre) {
  Document document = experiment({point(1, "fp16", 16'000'000, 0), point(1, "int8", 9'000'000, 0)});
  try {
    add_quality(kTop1, document);
    FAIL() << "fp8 is none of the points";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("precision fp8: no point of the experiment has it"));
  }
  EXPECT_FALSE(add_quality({"level", "top-1 [%]", {{"eager", {77.0}}}}, document));
  Document run;
  EXPECT_FALSE(add_quality(kTop1, run));
}

}  // namespace
}  // namespace swinscope
