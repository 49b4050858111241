// Charts are of the tables that stand beside them.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/experiment/difference_tables.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/report/report.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 34.000 ms, 0.600 ms more of transfer and 0.100 ms less of copies: 34.500 ms.
WorkDifference difference_of_parts() {
  WorkDifference work;
  work.is_split = true;
  work.base_step_ns = 34'000'000;
  work.other_step_ns = 34'500'000;
  work.part_ns[static_cast<std::size_t>(LossPart::kWire)] = 600'000;
  work.part_ns[static_cast<std::size_t>(LossPart::kCopies)] = -100'000;
  return work;
}

Document document_of(const std::vector<NamedDifference>& differences) {
  Document document;
  document.schema = "runs";
  document.tables = {waterfall_table("difference", "Why", "run", differences)};
  return document;
}

TEST(ReportCharts, AWaterfallHasTheValuesOfItsTable) {
  const WorkDifference work = difference_of_parts();
  const Document document = document_of({{"b", "step, of a", &work, work.base_step_ns, work.other_step_ns}});
  const std::vector<ReportChart> charts = charts_of(document);
  ASSERT_EQ(charts.size(), 1U);
  const Chart& chart = charts.front().chart;
  EXPECT_EQ(chart.kind, ChartKind::kWaterfall);
  EXPECT_EQ(chart.title, "Why: b");
  EXPECT_EQ(chart.y_title, "ms");
  EXPECT_THAT(chart.categories,
              ElementsAre("step, of a", "transfer of collectives", "exposed copies and sets", "step, of b"));
  EXPECT_THAT(chart.series.front().values, ElementsAre(34.0, 0.6, -0.1, 34.5));
  const Table& table = document.tables.front();
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    EXPECT_EQ(*chart.series.front().values[i], static_cast<double>(std::get<std::int64_t>(table.rows[i][3])) / 1e6);
  EXPECT_THAT(chart.description, HasSubstr("transfer of collectives 600.0 us"));
  // Levels are 34.0 to 34.6; half as much before them is 33.7, and ticks of 0.2 begin at 33.6.
  EXPECT_DOUBLE_EQ(waterfall_begin(chart), 33.6);
  EXPECT_THAT(charts.front().note, HasSubstr("The axis begins at 33.6 ms, not at 0"));
}

TEST(ReportCharts, EachRunHasAWaterfall) {
  const WorkDifference work = difference_of_parts();
  WorkDifference large = difference_of_parts();
  large.other_step_ns = 104'500'000;
  large.part_ns[static_cast<std::size_t>(LossPart::kWork)] = 70'000'000;
  const std::vector<ReportChart> charts =
      charts_of(document_of({{"b", "step, of a", &work, work.base_step_ns, work.other_step_ns},
                             {"c", "step, of a", &large, large.base_step_ns, large.other_step_ns}}));
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].chart.categories.back(), "step, of b");
  EXPECT_EQ(charts[1].chart.categories.back(), "step, of c");
  EXPECT_EQ(charts[1].chart.series.front().values.size(), 5U);
  EXPECT_EQ(charts[1].table.rows.size(), 5U);
  EXPECT_THAT(charts[1].note, Not(HasSubstr("not at 0")));
}

// An experiment with an efficiency of 0.944 at 2 GPUs.
Document scaling_document(std::size_t repeats) {
  std::vector<ScalingRow> rows(2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double gpus = 1.0 + static_cast<double>(i);
    rows[i].point.factors["gpus"] = fmt::format("{:g}", gpus);
    rows[i].uses_gpus = true;
    rows[i].step_ns = i == 0 ? 34'740'000 : 36'800'000;
    rows[i].repeat_step_ns.assign(repeats, rows[i].step_ns);
    rows[i].images_per_second = i == 0 ? 1842 : 3478;
    rows[i].train_time_ns = i == 0 ? 694'900'000'000 : 368'000'000'000;
    rows[i].efficiency = i == 0 ? 1 : 0.944;
    rows[i].speedup = gpus * rows[i].efficiency;
  }
  Document document;
  document.schema = "scaling";
  document.tables = {scaling_rows_table(rows)};
  return document;
}

const ReportChart& named_chart(const std::vector<ReportChart>& charts, std::string_view title) {
  const auto found = std::ranges::find(charts, title, [](const ReportChart& chart) { return chart.chart.title; });
  return charts.at(static_cast<std::size_t>(found - charts.begin()));
}

TEST(ReportCharts, AnEfficiencyNearOneIsSeen) {
  const std::vector<ReportChart> charts = charts_of(scaling_document(1));
  const Chart& chart = named_chart(charts, "Parallel efficiency").chart;
  ASSERT_TRUE(chart.y_min.has_value());
  EXPECT_DOUBLE_EQ(*chart.y_min, 0.888) << "1 - 2 x (1 - 0.944)";
  EXPECT_EQ(chart.y_title, "axis not from 0");
  EXPECT_THAT(chart.series.front().texts, ElementsAre("1", "0.944")) << "as the table has them";
  EXPECT_FALSE(named_chart(charts, "Speedup").chart.y_min.has_value());
}

TEST(ReportCharts, AShortTrainingTimeIsInSecondsAsItsValues) {
  const Chart chart = named_chart(charts_of(scaling_document(1)), "Training time").chart;
  EXPECT_THAT(chart.y_title, testing::StartsWith("seconds"));
  EXPECT_DOUBLE_EQ(*chart.series.front().values.front(), 694.9);
}

TEST(ReportCharts, HowManyRunsAndTheirIntervalAreSaidOnce) {
  EXPECT_EQ(common_note(charts_of(scaling_document(1))),
            "n = 1 run at each point: no confidence interval. Dashed: ideal.");
  EXPECT_EQ(common_note(charts_of(scaling_document(3))),
            "n = 3 runs at each point; bars: 95 % confidence interval (Student's t). Dashed: ideal.");
}

}  // namespace
}  // namespace swinscope
