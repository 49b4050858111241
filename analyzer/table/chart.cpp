#include "analyzer/table/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/table/chart_text.h"
#include "analyzer/table/waterfall.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::size_t kBoxSeries = 5;

// Maps values to pixels.
struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  bool is_log = false;
  double operator()(double value) const {
    const auto place = [&](double v) { return is_log ? std::log10(v) : v; };
    return from + (to - from) * (place(value) - place(low)) / (place(high) - place(low));
  }
};

// Of a logarithmic scale that begins and ends with a whole decade: each decade.
std::vector<double> decade_ticks(const Scale& scale) {
  const auto first = static_cast<int>(std::lround(std::log10(scale.low)));
  const auto last = static_cast<int>(std::lround(std::log10(scale.high)));
  std::vector<double> ticks;
  for (int decade = first; decade <= last; ++decade)
    ticks.push_back(std::pow(10, decade));
  return ticks;
}

void require(bool holds, const Chart& chart, const char* what) {
  if (!holds) throw Error(ErrorKind::kFailure, fmt::format("chart '{}': {}", chart.title, what), {}, {});
}

void check(const Chart& chart) {
  const std::size_t bins = chart.kind == ChartKind::kHistogram ? 1 : 0;
  for (const Series& series : chart.series) {
    require(series.values.size() + bins == chart.categories.size(), chart, "a series has not one value a category");
    require(series.half_widths.empty() || series.half_widths.size() == series.values.size(), chart,
            "a series has not one interval a value");
    require(series.texts.empty() || series.texts.size() == series.values.size(), chart,
            "a series has not one text a value");
  }
  if (chart.kind == ChartKind::kWaterfall || chart.kind == ChartKind::kHistogram) {
    require(chart.series.size() == 1, chart, "it takes exactly one series");
  }
  if (chart.kind == ChartKind::kBox) {
    require(chart.series.size() == kBoxSeries, chart, "it takes minimum, quartiles, median and maximum");
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
      for (std::size_t s = 1; s < kBoxSeries; ++s)
        require(chart.series[s].values[i] >= chart.series[s - 1].values[i], chart, "its quartiles do not ascend");
    }
  }
  for (const ScatterPoint& point : chart.points)
    require(point.x > 0 && point.y > 0, chart, "a point does not lie on logarithmic axes");
}

// The plot of one chart.
class Layouter {
 public:
  Layouter(const Chart& chart, double width, double height) : chart_(chart) {
    layout_.width = width;
    layout_.height = height;
  }

  ChartLayout run() {
    find_range();
    place_plot();
    titles();
    legend();
    switch (chart_.kind) {
      case ChartKind::kLine:
        category_axis();
        value_axis();
        lines();
        break;
      case ChartKind::kGroupedBar:
      case ChartKind::kStackedBar:
        category_axis();
        value_axis();
        bars();
        break;
      case ChartKind::kWaterfall:  // lay_out_waterfall()
        break;
      case ChartKind::kScatter:
        log_axes();
        scatter();
        break;
      case ChartKind::kHeatMap:
        category_axis();
        heat_map();
        break;
      case ChartKind::kHistogram:
        value_axis();
        histogram();
        break;
      case ChartKind::kBox:
        category_axis();
        value_axis();
        boxes();
        break;
    }
    return std::move(layout_);
  }

 private:
  Mark& add(MarkShape shape, MarkRole role, double x, double y, double x2 = 0, double y2 = 0) {
    Mark mark;
    mark.shape = shape;
    mark.role = role;
    mark.x = x;
    mark.y = y;
    mark.x2 = x2;
    mark.y2 = y2;
    return layout_.marks.emplace_back(std::move(mark));
  }
  void text(MarkRole role, double x, double y, const std::string& what, Anchor anchor, bool upwards = false) {
    Mark& mark = add(MarkShape::kText, role, x, y, 0, upwards ? 90 : 0);
    mark.text = what;
    mark.anchor = anchor;
  }
  void series_mark(MarkShape shape, int series, double x, double y, double x2, double y2, std::string what) {
    Mark& mark = add(shape, MarkRole::kSeries, x, y, x2, y2);
    mark.series = series;
    mark.text = std::move(what);
  }

  std::string said(std::size_t series, std::size_t category) const {
    const Series& s = chart_.series[series];
    std::string what = fmt::format("{}: {}", chart_.categories[category],
                                   s.texts.empty() ? number_text(*s.values[category]) : s.texts[category]);
    if (!s.name.empty()) what.insert(0, s.name + ", ");
    if (!s.half_widths.empty() && s.half_widths[category] > 0)
      what += fmt::format(" +- {}", number_text(s.half_widths[category]));
    return what;
  }

  void include(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }

  void find_range() {
    if (chart_.y_min) low_ = high_ = *chart_.y_min;
    if (chart_.y_max) include(*chart_.y_max);
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      double stack = 0;
      for (const Series& series : chart_.series) {
        if (i >= series.values.size() || !series.values[i]) continue;
        const double half = series.half_widths.empty() ? 0 : series.half_widths[i];
        include(*series.values[i] + half);
        include(*series.values[i] - half);
        stack += *series.values[i];
      }
      if (chart_.kind == ChartKind::kStackedBar) include(stack);
    }
    if (high_ <= low_) high_ = low_ + 1;
    constexpr double kTickRoom = 3 * kLineHeight;
    ticks_ = nice_ticks(low_, high_, std::clamp(static_cast<int>(layout_.height / kTickRoom), 2, 5));
  }

  void place_plot() {
    double labels = 0;
    if (chart_.kind == ChartKind::kHeatMap) {
      for (const Series& series : chart_.series)
        labels = std::max(labels, text_width(series.name));
    } else {
      for (const double tick : ticks_)
        labels = std::max(labels, text_width(number_text(tick)));
    }
    left_ = 2 * kLineHeight + labels;
    right_ = layout_.width - kLineHeight;
    top_ = (2 + place_legend()) * kLineHeight;
    bottom_ = layout_.height - 2.6 * kLineHeight;
    const bool has_texts = std::ranges::any_of(chart_.series, [](const Series& s) { return !s.texts.empty(); });
    y_ = {ticks_.front(), ticks_.back(), bottom_, top_ + (has_texts ? kLineHeight / 2 : 0), false};
  }

  static double legend_width(const Series& series) { return 2.4 * kChartFontSize + text_width(series.name); }

  // Where the entries begin; those that do not fit go into another line. Returns the number of lines.
  int place_legend() {
    const bool has_legend = chart_.kind != ChartKind::kHeatMap && chart_.kind != ChartKind::kScatter &&
                            chart_.kind != ChartKind::kBox && chart_.series.size() > 1 && chart_.has_legend;
    if (!has_legend) return 0;
    double x = left_;
    int line = 1;
    for (const Series& series : chart_.series) {
      if (x > left_ && x + legend_width(series) > layout_.width) {
        x = left_;
        ++line;
      }
      legend_.emplace_back(x, (1 + line) * kLineHeight);
      x += legend_width(series);
    }
    return line;
  }

  void titles() {
    text(MarkRole::kTitle, left_, 1.1 * kLineHeight, chart_.title, Anchor::kStart);
    text(MarkRole::kText, (left_ + right_) / 2, layout_.height - 0.5 * kLineHeight, chart_.x_title, Anchor::kMiddle);
    text(MarkRole::kText, kLineHeight, (top_ + bottom_) / 2, chart_.y_title, Anchor::kMiddle, true);
  }

  void legend() {
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const auto [x, y] = legend_[i];
      if (chart_.series[i].is_reference) {
        add(MarkShape::kLine, MarkRole::kReference, x, y, x + kChartFontSize, y);
      } else {
        series_mark(MarkShape::kRect, static_cast<int>(i), x, y - kChartFontSize / 2, x + kChartFontSize,
                    y + kChartFontSize / 2, "");
      }
      text(MarkRole::kText, x + 1.4 * kChartFontSize, y + 0.35 * kChartFontSize, chart_.series[i].name, Anchor::kStart);
    }
  }

  void value_axis() {
    for (const double tick : ticks_) {
      add(MarkShape::kLine, MarkRole::kGrid, left_, y_(tick), right_, y_(tick));
      text(MarkRole::kText, left_ - 6, y_(tick) + 0.35 * kChartFontSize, number_text(tick), Anchor::kEnd);
    }
    add(MarkShape::kLine, MarkRole::kAxis, left_, y_(std::max(0.0, ticks_.front())), right_,
        y_(std::max(0.0, ticks_.front())));
  }

  double slot() const {
    return (right_ - left_) / static_cast<double>(std::max<std::size_t>(1, chart_.categories.size()));
  }
  double centre(std::size_t category) const { return left_ + (static_cast<double>(category) + 0.5) * slot(); }

  // Labels that would touch each other are left out evenly.
  void category_axis() {
    double widest = 1;
    for (const std::string& category : chart_.categories)
      widest = std::max(widest, text_width(category) + kChartFontSize);
    const auto every = static_cast<std::size_t>(std::ceil(widest / slot()));
    for (std::size_t i = 0; i < chart_.categories.size(); i += every)
      text(MarkRole::kText, centre(i), bottom_ + 1.2 * kChartFontSize, chart_.categories[i], Anchor::kMiddle);
  }

  void error_bar(const Series& series, std::size_t category, double x) {
    if (series.half_widths.empty() || series.half_widths[category] <= 0) return;
    const double high = y_(*series.values[category] + series.half_widths[category]);
    const double low = y_(*series.values[category] - series.half_widths[category]);
    add(MarkShape::kLine, MarkRole::kError, x, low, x, high);
    for (const double y : {low, high})
      add(MarkShape::kLine, MarkRole::kError, x - 4, y, x + 4, y);
  }

  void lines() {
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      const Series& series = chart_.series[s];
      std::optional<std::size_t> before;
      for (std::size_t i = 0; i < series.values.size(); ++i) {
        if (!series.values[i]) continue;
        if (before) {
          Mark& line = add(MarkShape::kLine, series.is_reference ? MarkRole::kReference : MarkRole::kSeries,
                           centre(*before), y_(*series.values[*before]), centre(i), y_(*series.values[i]));
          line.series = static_cast<int>(s);
        }
        before = i;
      }
      for (std::size_t i = 0; i < series.values.size() && !series.is_reference; ++i) {
        if (!series.values[i]) continue;
        error_bar(series, i, centre(i));
        series_mark(MarkShape::kCircle, static_cast<int>(s), centre(i), y_(*series.values[i]), 4, 0, said(s, i));
        if (!series.texts.empty()) value_beside(s, i);
      }
    }
  }

  // Above the marks of the first series and below those of the second; none where texts would touch each other.
  void value_beside(std::size_t series, std::size_t category) {
    const std::string& what = chart_.series[series].texts[category];
    if (series > 1 || text_width(what) > slot()) return;
    const double above = -0.7 * kChartFontSize;
    const double below = 1.4 * kChartFontSize;
    const double y = y_(*chart_.series[series].values[category]) + (series == 0 ? above : below);
    text(MarkRole::kText, centre(category), y, what, Anchor::kMiddle);
  }

  void bars() {
    const bool stacked = chart_.kind == ChartKind::kStackedBar;
    const double whole = 0.7 * slot();
    const double width = stacked ? whole : whole / static_cast<double>(std::max<std::size_t>(1, chart_.series.size()));
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      double base = 0;
      for (std::size_t s = 0; s < chart_.series.size(); ++s) {
        const Series& series = chart_.series[s];
        if (!series.values[i]) continue;
        const double x = centre(i) - whole / 2 + (stacked ? 0 : static_cast<double>(s) * width);
        bar(static_cast<int>(s), x, width, base, base + *series.values[i], said(s, i));
        if (stacked) {
          base += *series.values[i];
        } else {
          error_bar(series, i, x + width / 2);
        }
      }
    }
  }

  void bar(int series, double x, double width, double from, double to, std::string what) {
    series_mark(MarkShape::kRect, series, x, y_(std::max(from, to)), x + width, y_(std::min(from, to)),
                std::move(what));
  }

  void log_axes() {
    double low_x = std::numeric_limits<double>::max();
    double low_y = low_x;
    double high_x = 0;
    double high_y = 0;
    for (const ScatterPoint& p : chart_.points) {
      low_x = std::min(low_x, p.x);
      high_x = std::max(high_x, p.x);
      low_y = std::min(low_y, p.y);
      high_y = std::max(high_y, p.y);
    }
    if (chart_.points.empty()) low_x = low_y = high_x = high_y = 1;
    // Whole decades, at least one.
    const auto decades = [](double low, double high, double from, double to) {
      const double first = std::floor(std::log10(low));
      const double last = std::max(first + 1, std::ceil(std::log10(high)));
      return Scale{std::pow(10, first), std::pow(10, last), from, to, true};
    };
    x_ = decades(low_x, high_x, left_, right_);
    y_ = decades(low_y, high_y, bottom_, top_);
    for (const double tick : decade_ticks(x_)) {
      add(MarkShape::kLine, MarkRole::kGrid, x_(tick), bottom_, x_(tick), top_);
      text(MarkRole::kText, x_(tick), bottom_ + 1.2 * kChartFontSize, number_text(tick), Anchor::kMiddle);
    }
    for (const double tick : decade_ticks(y_)) {
      add(MarkShape::kLine, MarkRole::kGrid, left_, y_(tick), right_, y_(tick));
      text(MarkRole::kText, left_ - 6, y_(tick) + 0.35 * kChartFontSize, number_text(tick), Anchor::kEnd);
    }
  }

  void scatter() {
    double largest = 0;
    for (const ScatterPoint& p : chart_.points)
      largest = std::max(largest, p.area);
    for (const ScatterPoint& p : chart_.points) {
      constexpr double kLargestRadius = 14;
      const double radius = std::max(2.0, kLargestRadius * std::sqrt(largest > 0 ? p.area / largest : 0));
      series_mark(MarkShape::kCircle, 0, x_(p.x), y_(p.y), radius, 0,
                  fmt::format("{}: {}, {}", p.name, number_text(p.x), number_text(p.y)));
      layout_.marks.back().is_hollow = p.is_estimated;
    }
  }

  void heat_map() {
    text(MarkRole::kText, right_, 1.1 * kLineHeight,
         fmt::format("faintest: {}, strongest: {}", format_number(low_), format_number(high_)), Anchor::kEnd);
    const double row_height = (bottom_ - top_) / static_cast<double>(std::max<std::size_t>(1, chart_.series.size()));
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      const double y = top_ + static_cast<double>(s) * row_height;
      text(MarkRole::kText, left_ - 6, y + row_height / 2 + 0.35 * kChartFontSize, chart_.series[s].name, Anchor::kEnd);
      for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
        if (!chart_.series[s].values[i]) continue;
        const double x = left_ + static_cast<double>(i) * slot();
        series_mark(MarkShape::kRect, 0, x, y, x + slot(), y + row_height, said(s, i));
        layout_.marks.back().shade = (*chart_.series[s].values[i] - low_) / (high_ - low_);
      }
    }
  }

  void histogram() {
    const Series& series = chart_.series.front();
    const double width = (right_ - left_) / static_cast<double>(std::max<std::size_t>(1, series.values.size()));
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      const double x = left_ + static_cast<double>(i) * width;
      if (series.values[i]) {
        bar(0, x, width, 0, *series.values[i],
            fmt::format("{} to {}: {}", chart_.categories[i], chart_.categories[i + 1],
                        number_text(*series.values[i])));
        layout_.marks.back().category = static_cast<int>(i);
      }
    }
    const std::size_t last = chart_.categories.size() - 1;
    for (const std::size_t i : {std::size_t{0}, chart_.categories.size() / 2, last}) {
      // The last one ends where the plot does: beside it is no room.
      text(MarkRole::kText, left_ + static_cast<double>(i) * width, bottom_ + 1.2 * kChartFontSize,
           chart_.categories[i], i == last ? Anchor::kEnd : Anchor::kMiddle);
    }
  }

  // The box holds the middle half, its line is the median, the whiskers reach to minimum and maximum.
  void boxes() {
    const double half = std::min(0.3 * slot(), 2 * kLineHeight);
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      if (!chart_.series[0].values[i]) continue;
      const auto value = [&](std::size_t s) { return *chart_.series[s].values[i]; };
      const double x = centre(i);
      for (const auto& [from, to] : {std::pair(0, 1), std::pair(4, 3)}) {
        const double y = y_(value(static_cast<std::size_t>(from)));
        add(MarkShape::kLine, MarkRole::kError, x, y, x, y_(value(static_cast<std::size_t>(to))));
        add(MarkShape::kLine, MarkRole::kError, x - half / 2, y, x + half / 2, y);
      }
      bar(0, x - half, 2 * half, value(1), value(3),
          fmt::format("{}: {} to {}, median {}, middle half {} to {}", chart_.categories[i], number_text(value(0)),
                      number_text(value(4)), number_text(value(2)), number_text(value(1)), number_text(value(3))));
      add(MarkShape::kLine, MarkRole::kOnSeries, x - half, y_(value(2)), x + half, y_(value(2)));
    }
  }

  const Chart& chart_;
  ChartLayout layout_;
  double low_ = 0;  // of the values; charts of amounts begin at 0
  double high_ = 0;
  std::vector<double> ticks_;
  std::vector<std::pair<double, double>> legend_;  // of each series: left end, middle
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  Scale x_;
  Scale y_;
};

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double fraction = rough / power;
  const double step = power * (fraction < 1.5 ? 1 : fraction < 3.5 ? 2 : fraction < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  // By whole numbers of steps: adding up would drift.
  const double first = std::floor(low / step + 1e-9);
  const auto steps = static_cast<int>(std::ceil(high / step - 1e-9) - first);
  for (int i = 0; i <= steps; ++i)
    ticks.push_back((first + i) * step);
  return ticks;
}

ChartLayout lay_out(const Chart& chart, double width, double height) {
  check(chart);
  if (chart.kind == ChartKind::kWaterfall) return lay_out_waterfall(chart, width, height);
  return Layouter(chart, width, height).run();
}

}  // namespace swinscope
