// Ranks and their steps as a heat map: which rank is slow, and whether always or once.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/facts/steps.h"
#include "analyzer/report/report.h"

namespace swinscope {
namespace {

// A row for each rank and measured step, the steps counted from 1 as they come.
Table rank_steps_table(const RunFacts& run) {
  Table table{"rank_steps",
              fmt::format("Steps of the ranks, {}", run.scope.title()),
              {{"rank", "rank", Unit::kValue}, {"step", "step", Unit::kValue}, {"step_ns", "time", Unit::kDuration}},
              {}};
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    const RankSteps& steps = run.scope.steps()[r];
    auto number = static_cast<std::int64_t>(steps.first_measured);
    for (const Interval& step : steps.measured())
      table.rows.push_back({std::int64_t{run.trace.ranks[r].run.rank}, ++number, step.end_ns - step.begin_ns});
  }
  return table;
}

}  // namespace

std::optional<ReportChart> rank_steps_chart(const RunFacts& run) {
  const auto& steps = run.scope.steps();
  if (steps.size() < 2 || !run.scope.is_of_steps() || run.scope.is_of_repetitions()) return std::nullopt;
  const std::size_t count = steps.front().measured().size();
  const bool is_grid = std::ranges::all_of(steps, [&](const RankSteps& one) {
    return one.measured().size() == count && one.first_measured == steps.front().first_measured;
  });
  if (count < 2 || !is_grid) return std::nullopt;
  Table table = rank_steps_table(run);
  Chart chart;
  chart.kind = ChartKind::kHeatMap;
  chart.title = "Step times, ms";
  chart.x_title = "step";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::int64_t step_ns = std::get<std::int64_t>(table.rows[i][2]);
    if (i < count) chart.categories.push_back(format_cell(table.rows[i][1], Unit::kValue));
    if (i % count == 0) chart.series.push_back({"rank " + format_cell(table.rows[i][0], Unit::kValue), {}, {}});
    chart.series.back().values.emplace_back(static_cast<double>(step_ns) / 1e6);
    chart.series.back().texts.push_back(format_cell(table.rows[i][2], Unit::kDuration));
    chart.y_min = std::min(chart.y_min.value_or(static_cast<double>(step_ns)), static_cast<double>(step_ns) / 1e6);
  }
  chart.description = fmt::format("{} by {}, darker where a step took longer",
                                  format_counted(static_cast<std::int64_t>(chart.series.size()), "ranks"),
                                  format_counted(static_cast<std::int64_t>(count), "steps"));
  return ReportChart{std::move(chart), "A column that is dark is a slow step, a row that is dark a slow rank.",
                     std::move(table)};
}

}  // namespace swinscope
