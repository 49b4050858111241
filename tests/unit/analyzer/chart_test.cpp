// Where the marks of a chart lie, and what its SVG says.
#include "analyzer/table/chart.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/table/svg.h"
#include "analyzer/table/waterfall.h"
#include "store/error.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(NiceTicks, HoldTheRangeWithRoundSteps) {
  EXPECT_THAT(nice_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(nice_ticks(0, 1, 5), ElementsAre(0, testing::DoubleEq(0.2), testing::DoubleEq(0.4),
                                               testing::DoubleNear(0.6, 1e-12), testing::DoubleEq(0.8), 1));
  EXPECT_THAT(nice_ticks(-3, 9, 5), ElementsAre(-4, -2, 0, 2, 4, 6, 8, 10));
  for (const double high : {0.013, 7.0, 99.0, 12345.0}) {
    const auto ticks = nice_ticks(0, high, 5);
    EXPECT_GE(ticks.back(), high);
    EXPECT_LT(ticks[ticks.size() - 2], high);
    EXPECT_GE(ticks.size(), 3U);
    EXPECT_LE(ticks.size(), 11U);
  }
}

Chart chart_of(ChartKind kind, std::vector<std::string> categories,
               std::vector<std::vector<std::optional<double>>> values) {
  Chart chart;
  chart.kind = kind;
  chart.title = "t";
  chart.categories = std::move(categories);
  for (auto& row : values)
    chart.series.push_back({"s" + std::to_string(chart.series.size()), std::move(row), {}, false});
  return chart;
}

std::vector<Mark> series_marks(const ChartLayout& layout, MarkShape shape) {
  std::vector<Mark> marks;
  std::copy_if(layout.marks.begin(), layout.marks.end(), std::back_inserter(marks),
               // The legend's marks say nothing.
               [&](const Mark& m) { return m.role == MarkRole::kSeries && m.shape == shape && !m.text.empty(); });
  return marks;
}

TEST(ChartLayout, BarsAreAsHighAsTheirValues) {
  const auto bars = series_marks(
      lay_out(chart_of(ChartKind::kGroupedBar, {"a", "b"}, {{1, 2}, {4, std::nullopt}}), 400, 300), MarkShape::kRect);
  ASSERT_EQ(bars.size(), 3U) << "what was not measured is not drawn";
  const double unit = bars[0].y2 - bars[0].y;
  EXPECT_NEAR(bars[1].y2 - bars[1].y, 4 * unit, 1e-9);
  EXPECT_NEAR(bars[2].y2 - bars[2].y, 2 * unit, 1e-9);
  EXPECT_NEAR(bars[0].x2, bars[1].x, 1e-9) << "side by side";
  EXPECT_EQ(bars[1].text, "s1, a: 4");
}

TEST(ChartLayout, ABoxReachesFromQuartileToQuartile) {
  const Chart chart =
      chart_of(ChartKind::kBox, {"rank 0", "rank 1"},
               {{1, std::nullopt}, {2, std::nullopt}, {3, std::nullopt}, {5, std::nullopt}, {10, std::nullopt}});
  const ChartLayout layout = lay_out(chart, 400, 300);
  const auto boxes = series_marks(layout, MarkShape::kRect);
  ASSERT_EQ(boxes.size(), 1U) << "a rank without calls has no box";
  EXPECT_EQ(boxes[0].text, "rank 0: 1 to 10, median 3, middle half 2 to 5");
  const double unit = (boxes[0].y2 - boxes[0].y) / 3;
  std::vector<double> ends;  // of what sticks out
  for (const Mark& mark : layout.marks) {
    if (mark.role == MarkRole::kError && mark.x == mark.x2) ends.push_back(mark.y);
  }
  EXPECT_THAT(ends, ElementsAre(testing::DoubleNear(boxes[0].y2 + unit, 1e-6),
                                testing::DoubleNear(boxes[0].y - 5 * unit, 1e-6)));
  Chart turned = chart;
  std::swap(turned.series[0], turned.series[4]);
  EXPECT_THROW(lay_out(turned, 400, 300), Error);
}

TEST(ChartLayout, StackedBarsStandOnEachOther) {
  const auto bars =
      series_marks(lay_out(chart_of(ChartKind::kStackedBar, {"a"}, {{1}, {4}}), 400, 300), MarkShape::kRect);
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(bars[1].y2, bars[0].y, 1e-9);
  EXPECT_GT(bars[1].y, 0);
}

// Marks with a text beside the bars of a waterfall, from the top.
std::vector<std::string> texts_at(const ChartLayout& layout, Anchor anchor) {
  std::vector<std::string> texts;
  for (const Mark& mark : layout.marks) {
    if (mark.shape == MarkShape::kText && mark.role == MarkRole::kText && mark.anchor == anchor)
      texts.push_back(mark.text);
  }
  return texts;
}

TEST(ChartLayout, AWaterfallAddsUp) {
  const ChartLayout layout = lay_out(
      chart_of(ChartKind::kWaterfall, {"T(1)", "communication", "overlap", "T(2)"}, {{10, 5, -3, 12}}), 400, 300);
  const auto bars = series_marks(layout, MarkShape::kRect);
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_NEAR(bars[1].x, bars[0].x2, 1e-9) << "the loss begins where the first bar ends";
  EXPECT_NEAR(bars[2].x2, bars[1].x2, 1e-9) << "the gain goes back from there";
  EXPECT_NEAR(bars[3].x2, bars[2].x, 1e-9) << "and the sum is as long as what it came to";
  EXPECT_NEAR(bars[3].x, bars[0].x, 1e-9);
  EXPECT_LT(bars[0].y2, bars[1].y) << "a row each, from the top";
  EXPECT_NE(bars[1].series, bars[2].series) << "losses and gains differ";
  EXPECT_THAT(texts_at(layout, Anchor::kStart), ElementsAre("10.00", "+5.000", "-3.000", "12.00"));
  EXPECT_THAT(texts_at(layout, Anchor::kEnd), ElementsAre("T(1)", "communication", "overlap", "T(2)"));
}

// All changes have the decimals of the largest one: how small a part is is seen by its digits, and they add up.
TEST(ChartLayout, ChangesOfAWaterfallHaveTheSameDecimals) {
  const ChartLayout layout = lay_out(
      chart_of(ChartKind::kWaterfall, {"T(1)", "waiting", "slowest", "T(2)"}, {{33.97, 0.6433, 0.00009, 34.61339}}),
      400, 300);
  EXPECT_THAT(texts_at(layout, Anchor::kStart), ElementsAre("33.97", "+0.6433", "+0.0001", "34.61"));
}

// Levels are 34.74 to 36.80, so the axis begins at 34.74 - 2.06 / 2 = 33.71 or before it: 33.5, of ticks 0.5 apart.
TEST(ChartLayout, AWaterfallOfSmallPartsDoesNotBeginAtZero) {
  const Chart chart =
      chart_of(ChartKind::kWaterfall, {"T(1)", "transfer", "rest", "T(2)"}, {{34.74, 0.37, 1.69, 36.8}});
  EXPECT_DOUBLE_EQ(waterfall_begin(chart), 33.5);
  const auto bars = series_marks(lay_out(chart, 900, waterfall_height(chart)), MarkShape::kRect);
  const double pixels_a_unit = (bars[3].x2 - bars[0].x2) / (36.8 - 34.74);
  EXPECT_NEAR(bars[1].x2 - bars[1].x, 0.37 * pixels_a_unit, 1e-9);
  EXPECT_NEAR(bars[0].x2 - bars[0].x, (34.74 - 33.5) * pixels_a_unit, 1e-9);
  EXPECT_GT(bars[1].x2 - bars[1].x, 30) << "1 % of the step is seen";
  EXPECT_EQ(waterfall_begin(chart_of(ChartKind::kWaterfall, {"a", "b", "c"}, {{344, -300, 44}})), 0);
  EXPECT_EQ(waterfall_begin(chart_of(ChartKind::kWaterfall, {"a", "c"}, {{344, 344}})), 0);
}

// A bar of a millionth of the axis can be pointed at: its row stands for it.
TEST(ChartLayout, ARowOfAWaterfallStandsForItsBar) {
  const ChartLayout layout =
      lay_out(chart_of(ChartKind::kWaterfall, {"a", "b", "c"}, {{100, 0.0001, 100.0001}}), 400, 200);
  std::vector<int> categories;
  for (const Mark& mark : layout.marks) {
    if (mark.role != MarkRole::kReach) continue;
    categories.push_back(mark.category);
    EXPECT_EQ(mark.x, 0);
    EXPECT_EQ(mark.x2, layout.width);
  }
  EXPECT_THAT(categories, ElementsAre(0, 1, 2));
}

TEST(ChartLayout, LinesSkipWhatIsMissingAndCarryTheirIntervals) {
  Chart chart = chart_of(ChartKind::kLine, {"1", "2", "4"}, {{1, std::nullopt, 3}});
  chart.series[0].half_widths = {0.5, 0, 0};
  const ChartLayout layout = lay_out(chart, 400, 300);
  EXPECT_EQ(series_marks(layout, MarkShape::kCircle).size(), 2U);
  const auto count = [&](MarkRole role, MarkShape shape) {
    return std::count_if(layout.marks.begin(), layout.marks.end(),
                         [&](const Mark& m) { return m.role == role && m.shape == shape; });
  };
  EXPECT_EQ(count(MarkRole::kSeries, MarkShape::kLine), 1);
  EXPECT_EQ(count(MarkRole::kError, MarkShape::kLine), 3) << "a bar with two ends";
}

TEST(ChartLayout, ScatterPlotsAreLogarithmic) {
  Chart chart;
  chart.kind = ChartKind::kScatter;
  chart.points = {{"a", 1, 1, 1, false}, {"b", 10, 10, 4, true}, {"c", 100, 100, 1, false}};
  const auto dots = series_marks(lay_out(chart, 400, 300), MarkShape::kCircle);
  ASSERT_EQ(dots.size(), 3U);
  EXPECT_NEAR(dots[1].x - dots[0].x, dots[2].x - dots[1].x, 1e-9);
  EXPECT_NEAR(dots[1].x2, 2 * dots[0].x2, 1e-9) << "four times the area";
  EXPECT_TRUE(dots[1].is_hollow);
}

TEST(ChartLayout, EverythingLiesInside) {
  for (const ChartKind kind : {ChartKind::kLine, ChartKind::kGroupedBar, ChartKind::kStackedBar, ChartKind::kHeatMap}) {
    const ChartLayout layout =
        lay_out(chart_of(kind, {"1", "2", "4", "8"}, {{1, 7, 3, 900000}, {2, 4, 8, 1}}), 460, 280);
    for (const Mark& mark : layout.marks) {
      EXPECT_GE(mark.x, 0);
      EXPECT_LE(mark.x, layout.width);
      EXPECT_GE(mark.y, 0);
      EXPECT_LE(mark.y, layout.height);
    }
  }
}

TEST(ChartLayout, ALegendThatDoesNotFitGoesOnInAnotherLine) {
  Chart chart = chart_of(ChartKind::kStackedBar, {"a"}, {{1}, {2}, {3}});
  for (Series& series : chart.series)
    series.name = "exposed communication";
  const auto names = [&](double width) {
    std::vector<Mark> found;
    for (const Mark& mark : lay_out(chart, width, 300).marks) {
      if (mark.shape == MarkShape::kText && mark.text == "exposed communication") found.push_back(mark);
    }
    return found;
  };
  EXPECT_EQ(names(900)[0].y, names(900)[2].y);
  const auto wrapped = names(460);
  EXPECT_LT(wrapped[0].y, wrapped[2].y);
  for (const Mark& mark : wrapped)
    EXPECT_LT(mark.x + 21 * 0.56 * kChartFontSize, 460);
}

TEST(ChartLayout, RefusesWhatDoesNotFit) {
  EXPECT_THROW(lay_out(chart_of(ChartKind::kLine, {"a"}, {{1, 2}}), 400, 300), Error);
  EXPECT_THROW(lay_out(chart_of(ChartKind::kWaterfall, {"a"}, {{1}, {2}}), 400, 300), Error);
  Chart chart;
  chart.kind = ChartKind::kScatter;
  chart.points = {{"a", 0, 1, 1, false}};
  EXPECT_THROW(lay_out(chart, 400, 300), Error);
}

TEST(Svg, NamesAreTextAndNothingElse) {
  EXPECT_EQ(escape_markup("<script>\"a\" & 'b'\x01"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\xEF\xBF\xBD");
  Chart chart = chart_of(ChartKind::kGroupedBar, {"<b>"}, {{1}});
  chart.title = "<script>";
  chart.description = "a & b";
  const std::string svg = to_svg(chart, 300, 200, "c1");
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("<title id=\"c1-t\">&lt;script&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr("<desc id=\"c1-d\">a &amp; b</desc>"));
  EXPECT_EQ(svg, to_svg(chart, 300, 200, "c1"));
}

TEST(ChartLayout, ALineChartCanBeginAboveZeroAndSayItsValues) {
  Chart chart = chart_of(ChartKind::kLine, {"1", "2"}, {{1, 0.94}});
  chart.y_min = 0.88;
  chart.y_max = 1;
  chart.series.front().texts = {"1", "0.94"};
  std::vector<std::string> texts;
  for (const Mark& mark : lay_out(chart, 400, 300).marks) {
    if (mark.shape == MarkShape::kText) texts.push_back(mark.text);
  }
  EXPECT_THAT(texts, testing::Contains("0.88")) << "where the axis begins";
  EXPECT_THAT(texts, Not(testing::Contains("0")));
  EXPECT_EQ(std::ranges::count(texts, "0.94"), 2) << "a tick and beside the mark";
  const auto marks = series_marks(lay_out(chart, 400, 300), MarkShape::kCircle);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_GT(marks[1].y - marks[0].y, 60) << "0.94 lies in the middle of 0.88 to 1";
  EXPECT_EQ(marks[1].text, "s0, 2: 0.94");
}

TEST(ChartLayout, TextsOfAWaterfallAreThoseOfItsTable) {
  Chart chart = chart_of(ChartKind::kWaterfall, {"a", "b", "sum"}, {{157.3, 48.61, 205.91}});
  chart.y_min = 0;
  chart.series.front().texts = {"157.3 ms", "48.61 ms", "205.9 ms"};
  std::vector<std::string> texts;
  for (const Mark& mark : lay_out(chart, 600, 200).marks) {
    if (mark.shape == MarkShape::kText) texts.push_back(mark.text);
  }
  EXPECT_THAT(texts, testing::IsSupersetOf({"157.3 ms", "+48.61 ms", "205.9 ms", "0"}));
  EXPECT_EQ(waterfall_begin(chart), 0);
  chart.series.front().texts.pop_back();
  EXPECT_THROW(lay_out(chart, 600, 200), Error);
}

TEST(ChartLayout, ALegendCanBeLeftToOthers) {
  Chart chart = chart_of(ChartKind::kLine, {"1", "2"}, {{1, 2}, {1, 2}});
  const std::size_t with = lay_out(chart, 400, 300).marks.size();
  chart.has_legend = false;
  EXPECT_EQ(lay_out(chart, 400, 300).marks.size(), with - 4) << "a mark and a name for each series";
}

}  // namespace
}  // namespace swinscope
