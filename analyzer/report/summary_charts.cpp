// Which charts stand on the first page, and the one that only reports have: where a step of a run goes.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "analyzer/report/report_summary.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

// The first of these that there are; of experiments beside each other the time, since a slow first point makes a large
// speedup.
constexpr std::array<std::string_view, 6> kFirst = {"Parallel efficiency", "Throughput",    "GPU utilization",
                                                    "CPU utilization",     "Training time", "Speedup"};
constexpr std::array<std::string_view, 6> kFirstCompared = {"Training time",   "Parallel efficiency", "GPU utilization",
                                                            "CPU utilization", "Throughput",          "Speedup"};

// The parts of a step, which sum to it, largest first.
std::optional<ReportChart> step_waterfall(const Document& document) {
  constexpr std::size_t kName = 0;
  constexpr std::size_t kTime = 2;
  const auto bounds = std::ranges::find(document.tables, "bounds", &Table::key);
  if (bounds == document.tables.end()) return std::nullopt;
  Table parts{bounds->key, bounds->title, {bounds->columns[kName], bounds->columns[kTime]}, {}};
  std::int64_t sum_ns = 0;
  for (const std::vector<Cell>& row : bounds->rows) {
    const auto* time = std::get_if<std::int64_t>(&row[kTime]);
    if (time == nullptr || *time == 0) continue;
    sum_ns += *time;
    parts.rows.push_back({row[kName], *time});
  }
  if (parts.rows.size() < 2) return std::nullopt;
  std::ranges::stable_sort(parts.rows, std::ranges::greater(),
                           [](const std::vector<Cell>& row) { return std::get<std::int64_t>(row[1]); });
  parts.rows.push_back({std::string("sum"), sum_ns});
  Chart chart;
  chart.kind = ChartKind::kWaterfall;
  chart.title = bounds->title;
  chart.y_min = 0;
  chart.y_title = fmt::format("ms {}", bounds->columns[kTime].title);
  Series series;
  for (const std::vector<Cell>& row : parts.rows) {
    chart.categories.push_back(std::get<std::string>(row[0]));
    series.values.emplace_back(static_cast<double>(std::get<std::int64_t>(row[1])) / 1e6);
    series.texts.push_back(format_cell(row[1], Unit::kDuration));
    chart.description +=
        fmt::format("{}{} {}", chart.description.empty() ? "" : ", ", chart.categories.back(), series.texts.back());
  }
  chart.series = {std::move(series)};
  return ReportChart{std::move(chart), "Mean over the devices; the parts sum to the last bar.", std::move(parts)};
}

std::vector<std::string> measured_names(const Chart& chart) {
  std::vector<std::string> names;
  for (const Series& one : chart.series) {
    if (!one.is_reference) names.push_back(one.name);
  }
  return names;
}

// One legend for charts of the same series: the first one's. What is dashed is said in words (common_note()).
void leave_legends_out(std::vector<ReportChart>& charts) {
  std::vector<std::string> said;
  for (ReportChart& chart : charts) {
    std::vector<std::string> names = measured_names(chart.chart);
    chart.chart.has_legend = names.size() > 1 && names != said;
    said = std::move(names);
  }
}

// What no bar has needs no place in the legend.
void leave_zeros_out(Chart& chart) {
  std::erase_if(chart.series, [](const Series& one) {
    return std::ranges::all_of(one.values, [](const auto& value) { return value == 0.0; });
  });
}

bool is_waterfall(const ReportChart& chart) { return chart.chart.kind == ChartKind::kWaterfall; }

}  // namespace

std::string common_note(const std::vector<ReportChart>& charts) {
  std::vector<std::string> notes;
  for (const ReportChart& chart : charts) {
    if (!is_waterfall(chart)) notes.push_back(chart.note);
  }
  const bool is_same = std::ranges::adjacent_find(notes, std::ranges::not_equal_to()) == notes.end();
  return notes.empty() || !is_same ? std::string() : notes.front();
}

SplitCharts split_charts(const Document& document) {
  SplitCharts split;
  split.others = charts_of(document);
  const auto take = [&](auto found, auto&& into) {
    if (found == split.others.end()) return;
    into(std::move(*found));
    split.others.erase(found);
  };
  if (document.schema == "analyze") {
    split.waterfall = step_waterfall(document);
    // One bar says what the waterfall does.
    std::erase_if(split.others, [](const ReportChart& chart) { return chart.chart.categories.size() < 2; });
    for (ReportChart& chart : split.others)
      leave_zeros_out(chart.chart);
    take(split.others.begin(), [&](ReportChart chart) { split.first.push_back(std::move(chart)); });
    return split;
  }
  for (const std::string_view title : document.schema == "compare" ? kFirstCompared : kFirst) {
    if (split.first.size() == kSummaryCharts) break;
    take(std::ranges::find(split.others, title, [](const ReportChart& chart) { return chart.chart.title; }),
         [&](ReportChart chart) { split.first.push_back(std::move(chart)); });
  }
  // Of an experiment the last one is that of the largest point; of runs the first is that of the second run.
  auto waterfall = std::ranges::find_if(split.others, is_waterfall);
  if (document.schema == "scaling") {
    const auto last = std::ranges::find_if(split.others.rbegin(), split.others.rend(), is_waterfall);
    if (last != split.others.rend()) waterfall = std::prev(last.base());
  }
  take(waterfall, [&](ReportChart chart) { split.waterfall = std::move(chart); });
  leave_legends_out(split.first);
  leave_legends_out(split.others);
  return split;
}

}  // namespace swinscope
