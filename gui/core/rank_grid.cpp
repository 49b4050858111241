#include "gui/core/rank_grid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"

namespace swinscope::gui {
namespace {

QString duration(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

void add_rows(const RunFacts& run, RankGrid& grid) {
  const LateRanks& late = run.late_ranks();
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    const auto steps = static_cast<std::size_t>(run.scope.step_count(r));
    if (steps == 0) continue;
    grid.steps = std::max(grid.steps, steps);
    grid.first_step = static_cast<std::int64_t>(run.scope.steps()[r].first_measured) + 1;
    const QString rank = QStringLiteral("rank %1").arg(run.trace.ranks[r].run.rank);
    RankGridRow row{r, std::nullopt, rank, std::vector<std::int64_t>(steps), std::vector<std::int64_t>(steps)};
    const auto devices = std::ranges::count(late.ranks, r, &LateRank::rank_index);
    if (devices == 0) grid.rows.push_back(row);
    for (std::size_t i = 0; i < late.ranks.size(); ++i) {
      if (late.ranks[i].rank_index != r) continue;
      row.late = i;
      if (devices > 1) row.label = QStringLiteral("%1, GPU %2").arg(rank).arg(late.ranks[i].device);
      const auto others = std::max<std::int64_t>(1, std::ssize(late.ranks) - 1);
      for (std::size_t step = 0; step < steps; ++step)
        row.delay_ns[step] = late.ranks[i].delay_of_step[step] / others;
      grid.rows.push_back(row);
    }
  }
}

void compare_steps(const RunFacts& run, RankGrid& grid) {
  for (std::size_t step = 0; step < grid.steps; ++step) {
    std::vector<std::int64_t> durations;
    for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
      if (static_cast<std::int64_t>(step) < run.scope.step_count(r))
        durations.push_back(run.scope.steps()[r].measured()[step].length());
    }
    std::ranges::sort(durations);
    const std::int64_t median = quantile(durations, 0.5);
    for (RankGridRow& row : grid.rows) {
      if (step < row.over_median_ns.size())
        row.over_median_ns[step] = run.scope.steps()[row.rank_index].measured()[step].length() - median;
    }
  }
}

}  // namespace

std::optional<std::int64_t> RankGrid::value(GridValue of, std::size_t row, std::size_t step) const {
  const RankGridRow& at = rows[row];
  const std::vector<std::int64_t>& values = of == GridValue::kDelay ? at.delay_ns : at.over_median_ns;
  return step < values.size() ? std::optional(values[step]) : std::nullopt;
}

std::int64_t RankGrid::largest(GridValue of) const {
  std::int64_t largest = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t step = 0; step < steps; ++step)
      largest = std::max(largest, std::abs(value(of, row, step).value_or(0)));
  }
  return largest;
}

std::optional<std::pair<std::size_t, std::size_t>> RankGrid::worst(GridValue of) const {
  std::optional<std::pair<std::size_t, std::size_t>> worst;
  std::int64_t most = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (const std::int64_t here = value(of, row, step).value_or(0); here > most)
        most = here, worst = std::pair(row, step);
    }
  }
  return worst;
}

QString RankGrid::text(GridValue of, std::size_t row, std::size_t step) const {
  const QString place =
      QStringLiteral("%1, step %2").arg(rows[row].label).arg(first_step + static_cast<std::int64_t>(step));
  const std::optional<std::int64_t> here = value(of, row, step);
  if (!here) return QStringLiteral("%1: not recorded").arg(place);
  if (of == GridValue::kDelay) {
    if (!rows[row].late) return QStringLiteral("%1: in no collective").arg(place);
    return *here == 0 ? QStringLiteral("%1: nobody waits for it").arg(place)
                      : QStringLiteral("%1: each of the others waits %2").arg(place, duration(*here));
  }
  return QStringLiteral("%1: %2 %3 than the median of the ranks")
      .arg(place, duration(std::abs(*here)), *here < 0 ? QStringLiteral("shorter") : QStringLiteral("longer"));
}

RankGrid rank_grid(const RunFacts& run) {
  RankGrid grid;
  add_rows(run, grid);
  compare_steps(run, grid);
  return grid;
}

std::optional<Call> call_of_step(const RunFacts& run, const RankGrid& grid, std::size_t row, std::size_t step) {
  const RankGridRow& at = grid.rows[row];
  const Rank& rank = run.trace.ranks[at.rank_index];
  const RankSteps& steps = run.scope.steps()[at.rank_index];
  if (step >= steps.measured().size()) return std::nullopt;
  EventIndex event = at.late ? run.late_ranks().ranks[*at.late].worst_of_step[step] : kNoEvent;
  for (const DeviceScope& device : run.scope.devices()) {
    if (event != kNoEvent) break;
    if (device.rank_index != at.rank_index) continue;
    const auto first = std::ranges::find_if(device.events, [&](EventIndex e) {
      return step_of(rank, steps, e) == static_cast<int>(steps.first_measured + step);
    });
    if (first != device.events.end()) event = *first;
  }
  if (event == kNoEvent) return std::nullopt;
  const std::int64_t start = rank.gpu.start_ns[event];
  const std::int64_t end = rank.gpu.end_ns[event];
  // Where the host runs ahead, the work of a step may lie behind it.
  const Interval host = steps.measured()[step];
  const Interval around{std::min(host.begin_ns, start), std::max(host.end_ns, end)};
  return Call{static_cast<std::uint32_t>(at.rank_index), LaneKind::kKernels, event, start, end - start, around};
}

}  // namespace swinscope::gui
