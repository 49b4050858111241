// Charts: what they show, and where their marks lie. Laid out once, here; drawn as SVG (svg.h) by reports and by the
// desktop program's painter alike, so that a figure looks the same everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swinscope {

enum class ChartKind : std::uint8_t {
  kLine,        // a series over categories, in order
  kGroupedBar,  // the series of a category side by side
  kStackedBar,  // on top of each other
  kWaterfall,   // one series: the first value stands, further ones are added to it, the last is the sum (waterfall.h)
  kScatter,     // points on two logarithmic axes
  kHeatMap,     // a row a series, a column a category
  kHistogram,   // one series: counts of equal bins; categories are the bins' bounds, one more than values
  kBox,         // five series: minimum, lower quartile, median, upper quartile and maximum of each category
};

struct Series {
  std::string name;
  std::vector<std::optional<double>> values;  // one a category; none: not measured, and not drawn
  std::vector<double> half_widths;            // of the confidence intervals, one a category; empty: none
  bool is_reference = false;                  // what would be ideal: drawn dashed, without marks
  // How the values are written beside their marks (kLine, where there is room; kWaterfall), so that a chart says them
  // as its table does; empty: lines have no values beside them, waterfalls those of their axis.
  std::vector<std::string> texts = {};
};

struct ScatterPoint {
  std::string name;
  double x = 0;  // above 0
  double y = 0;
  double area = 1;  // relative: the largest one is drawn largest
  bool is_estimated = false;
};

struct Chart {
  ChartKind kind = ChartKind::kLine;
  std::string title;
  std::string description;  // what is to be seen, for those who cannot see it
  std::string x_title;      // with units
  std::string y_title;
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::vector<ScatterPoint> points;  // kScatter
  std::optional<double> y_max;       // of the axis, e.g. 1 for an efficiency
  std::optional<double> y_min;       // likewise; otherwise amounts begin at 0
  bool has_legend = true;            // where there are several series; false: whoever shows the chart says it
};

enum class MarkShape : std::uint8_t { kLine, kRect, kCircle, kText };
enum class MarkRole : std::uint8_t {
  kGrid,
  kAxis,
  kSeries,
  kReference,
  kError,
  kText,
  kTitle,
  kReach,     // not drawn: where a category can be pointed at
  kOnSeries,  // on a bar, to stand out from it
};
enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

// One thing to draw. Coordinates in pixels from the upper left corner.
struct Mark {
  MarkShape shape = MarkShape::kLine;
  MarkRole role = MarkRole::kAxis;
  double x = 0;  // line: one end; rectangle: upper left; circle: centre; text: baseline at the anchor
  double y = 0;
  double x2 = 0;      // line: other end; rectangle: lower right; circle: x2 is the radius
  double y2 = 0;      // text: 90 is turned upwards
  int series = 0;     // colour and pattern (kSeries)
  int category = -1;  // that it stands for, where its place does not say so
  double shade = 1;   // heat map: 0..1 of the colour
  bool is_hollow = false;
  Anchor anchor = Anchor::kStart;
  std::string text;  // of a text; of other shapes what is said when pointed at
};

struct ChartLayout {
  double width = 0;
  double height = 0;
  std::vector<Mark> marks;  // in drawing order
};

inline constexpr double kChartFontSize = 12;

// Throws Error(kFailure) when the data do not fit the kind (a value too many, a point that is not positive).
ChartLayout lay_out(const Chart& chart, double width, double height);

// Between `count` / 2 and 2 `count` round numbers (1, 2 or 5 times a power of ten) that hold low..high between the
// first and the last (Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990).
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace swinscope
