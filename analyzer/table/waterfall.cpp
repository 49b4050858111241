#include "analyzer/table/waterfall.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/table/chart_text.h"

namespace swinscope {
namespace {

constexpr double kRowHeight = 1.25 * kLineHeight;
constexpr double kBarHeight = 0.7;  // of the row
constexpr double kGap = 6;          // between a text and what it is of
constexpr double kWidestNames = 0.5;
constexpr int kTicks = 5;
constexpr double kSmall = 0.5;         // changes below this share of the highest level are enlarged
constexpr double kStandingPart = 0.5;  // of what stands, this much of the changes' range is seen then

// From where to where each bar reaches; the first and the last begin at 0.
std::vector<std::pair<double, double>> bars_of(const Chart& chart) {
  std::vector<std::pair<double, double>> bars;
  const std::vector<std::optional<double>>& values = chart.series.front().values;
  double level = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool stands = i == 0 || i + 1 == values.size();
    const double from = stands ? 0 : level;
    level = from + values[i].value_or(0);
    bars.emplace_back(from, level);
  }
  return bars;
}

std::pair<double, double> range_of(const Chart& chart) {
  const std::vector<std::pair<double, double>> bars = bars_of(chart);
  if (bars.empty()) return {0, 1};
  double low = bars.front().second;
  double high = low;
  for (const auto& [from, to] : bars) {
    low = std::min(low, to);
    high = std::max(high, to);
  }
  const double changes = high - low;
  const bool is_enlarged = low > 0 && changes > 0 && changes < kSmall * high;
  const double begin = chart.y_min ? *chart.y_min : is_enlarged ? low - kStandingPart * changes : std::min(0.0, low);
  return {begin, high > begin ? high : begin + 1};
}

std::vector<double> ticks_of(const Chart& chart) {
  const auto [low, high] = range_of(chart);
  return nice_ticks(low, high, kTicks);
}

// Cut at its end where there is no room for it.
std::string shortened(const std::string& text, double width) {
  if (text_width(text) <= width) return text;
  std::size_t end = 0;
  for (double used = 2 * kLetterWidth; end < text.size() && used <= width; used += kLetterWidth) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
      ++end;
  }
  return text.substr(0, end) + "…";
}

// Decimals with which the largest change has four digits: with these all changes can be compared and added up.
int change_decimals(const Chart& chart) {
  constexpr int kDigits = 4;
  double largest = 0;
  const auto& values = chart.series.front().values;
  for (std::size_t row = 1; row + 1 < values.size(); ++row)
    largest = std::max(largest, std::abs(values[row].value_or(0)));
  if (largest == 0) return 0;
  return std::max(0, kDigits - 1 - static_cast<int>(std::floor(std::log10(largest))));
}

// "34.74" of what stands, "+0.2860" of a change.
std::string value_text(const Chart& chart, std::size_t row) {
  const std::optional<double>& value = chart.series.front().values[row];
  if (!value) return {};
  const bool stands = row == 0 || row + 1 == chart.categories.size();
  const std::vector<std::string>& texts = chart.series.front().texts;
  if (!texts.empty()) return (stands || texts[row].starts_with('-') ? "" : "+") + texts[row];
  if (!stands) return fmt::format("{:+.{}f}", *value, change_decimals(chart));
  std::string text = fmt::format("{:#.4g}", *value);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class WaterfallLayouter {
 public:
  WaterfallLayouter(const Chart& chart, double width, double height) : chart_(chart), ticks_(ticks_of(chart)) {
    layout_.width = width;
    layout_.height = height;
    double names = 0;
    double values = 0;
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
      names = std::max(names, text_width(chart.categories[i]));
      values = std::max(values, text_width(value_text(chart, i)));
    }
    left_ = kLineHeight / 2 + std::min(names, kWidestNames * width) + kGap;
    right_ = width - values - 2 * kGap;
    top_ = 1.8 * kLineHeight;
    bottom_ = height - 2.6 * kLineHeight;
  }

  ChartLayout run() {
    texts();
    axis();
    const std::vector<std::pair<double, double>> bars = bars_of(chart_);
    for (std::size_t i = 0; i < bars.size(); ++i)
      row(i, bars[i].first, bars[i].second);
    return std::move(layout_);
  }

 private:
  Mark& add(MarkShape shape, MarkRole role, double x, double y, double x2, double y2) {
    Mark mark;
    mark.shape = shape;
    mark.role = role;
    mark.x = x;
    mark.y = y;
    mark.x2 = x2;
    mark.y2 = y2;
    return layout_.marks.emplace_back(std::move(mark));
  }
  Mark& text(MarkRole role, double x, double y, const std::string& what, Anchor anchor) {
    Mark& mark = add(MarkShape::kText, role, x, y, 0, 0);
    mark.text = what;
    mark.anchor = anchor;
    return mark;
  }

  double x_of(double value) const {
    const double part = (value - ticks_.front()) / (ticks_.back() - ticks_.front());
    return left_ + (right_ - left_) * std::clamp(part, 0.0, 1.0);
  }
  double row_height() const {
    return (bottom_ - top_) / static_cast<double>(std::max<std::size_t>(1, chart_.categories.size()));
  }
  double row_top(std::size_t row) const { return top_ + static_cast<double>(row) * row_height(); }
  double baseline(std::size_t row) const { return row_top(row) + row_height() / 2 + 0.35 * kChartFontSize; }

  void texts() {
    text(MarkRole::kTitle, kLineHeight / 2, 1.1 * kLineHeight, chart_.title, Anchor::kStart);
    text(MarkRole::kText, (left_ + right_) / 2, layout_.height - 0.5 * kLineHeight, chart_.y_title, Anchor::kMiddle);
  }

  void axis() {
    for (const double tick : ticks_) {
      add(MarkShape::kLine, MarkRole::kGrid, x_of(tick), top_, x_of(tick), bottom_);
      text(MarkRole::kText, x_of(tick), bottom_ + 1.2 * kChartFontSize, number_text(tick), Anchor::kMiddle);
    }
    add(MarkShape::kLine, MarkRole::kAxis, left_, top_, left_, bottom_);
  }

  void row(std::size_t i, double from, double to) {
    const bool is_first = i == 0;
    const bool is_last = i + 1 == chart_.categories.size();
    const std::string value = value_text(chart_, i);
    const std::string unit = chart_.series.front().texts.empty() ? " " + chart_.y_title : "";
    const std::string said = fmt::format("{}: {}{}", chart_.categories[i], value, unit);
    // Thin bars are hard to point at: the whole row stands for them.
    Mark& reach = add(MarkShape::kRect, MarkRole::kReach, 0, row_top(i), layout_.width, row_top(i) + row_height());
    reach.text = said;
    reach.category = static_cast<int>(i);
    text(MarkRole::kText, left_ - kGap, baseline(i), shortened(chart_.categories[i], left_ - kGap), Anchor::kEnd);
    if (value.empty()) return;
    const double room = (1 - kBarHeight) / 2 * row_height();
    Mark& bar = add(MarkShape::kRect, MarkRole::kSeries, x_of(std::min(from, to)), row_top(i) + room,
                    x_of(std::max(from, to)), row_top(i + 1) - room);
    bar.series = is_first || is_last ? 0 : to >= from ? 1 : 2;  // losses and gains differ in colour and pattern
    bar.text = said;
    bar.category = static_cast<int>(i);
    if ((is_first || is_last) && ticks_.front() > 0) cut_off(row_top(i) + room, row_top(i + 1) - room);
    text(MarkRole::kText, x_of(std::max(from, to)) + kGap, baseline(i), value, Anchor::kStart);
    if (!is_last)
      add(MarkShape::kLine, MarkRole::kReference, x_of(to), row_top(i + 1) - room, x_of(to), row_top(i + 1) + room);
  }

  // Two strokes through a bar that begins before the axis does.
  void cut_off(double top, double bottom) {
    for (const double x : {left_ + 8, left_ + 13})
      add(MarkShape::kLine, MarkRole::kError, x, bottom, x + 5, top);
  }

  const Chart& chart_;
  std::vector<double> ticks_;
  ChartLayout layout_;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace

double waterfall_begin(const Chart& chart) { return ticks_of(chart).front(); }

double waterfall_height(const Chart& chart) {
  return 4.4 * kLineHeight + static_cast<double>(chart.categories.size()) * kRowHeight;
}

ChartLayout lay_out_waterfall(const Chart& chart, double width, double height) {
  return WaterfallLayouter(chart, width, height).run();
}

}  // namespace swinscope
