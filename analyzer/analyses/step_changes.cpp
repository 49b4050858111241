#include "analyzer/analyses/step_changes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "analyzer/base/change_points.h"
#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/facts/gpu_samples.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

std::int64_t median(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return quantile(sorted, 0.5);
}

// Of each step of the rank; empty where nothing ran on a GPU.
std::vector<std::int64_t> work_of_steps(const RunFacts& run, std::size_t rank_index) {
  const RankSteps& steps = run.scope.steps()[rank_index];
  const Rank& rank = run.trace.ranks[rank_index];
  std::vector<std::int64_t> work;
  for (const DeviceScope& device : run.scope.devices()) {
    if (device.rank_index != rank_index) continue;
    std::vector<std::vector<Interval>> of_step(steps.steps.size());
    for (const EventIndex e : device.events) {
      const int step = rank.gpu.gpu_class[e] == GpuClass::kCommunication ? -1 : step_of(rank, steps, e);
      if (step >= 0) of_step[static_cast<std::size_t>(step)].push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
    }
    work.resize(of_step.size());
    for (std::size_t i = 0; i < of_step.size(); ++i)
      work[i] += total_length(unite(std::move(of_step[i])));
  }
  return work;
}

std::optional<double> clock_in(const RunFacts& run, std::size_t rank_index, Interval window) {
  const auto of_rank = [&](const DeviceScope& device) { return device.rank_index == rank_index; };
  const auto device = std::ranges::find_if(run.scope.devices(), of_rank);
  return device == run.scope.devices().end() ? std::nullopt
                                             : mean_sm_clock(run.trace, rank_index, device->device, window);
}

void add_stretches(const RunFacts& run, std::size_t rank_index, std::vector<StepStretch>& stretches) {
  const RankSteps& steps = run.scope.steps()[rank_index];
  std::vector<std::int64_t> lengths;
  for (const Interval& step : steps.measured())
    lengths.push_back(step.length());
  if (lengths.empty()) return;
  std::vector<ChangePoint> changes = find_changes(lengths, kSmallestChange);
  changes.insert(changes.begin(), ChangePoint{});
  const std::vector<std::int64_t> work = work_of_steps(run, rank_index);
  std::optional<std::int64_t> before_ns;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t begin = changes[i].at;
    const std::size_t count = (i + 1 < changes.size() ? changes[i + 1].at : lengths.size()) - begin;
    StepStretch stretch;
    stretch.rank_index = rank_index;
    stretch.first = steps.first_measured + begin;
    stretch.count = count;
    stretch.is_last = i + 1 == changes.size();
    stretch.median_ns = median(std::span(lengths).subspan(begin, count));
    stretch.before_ns = before_ns;
    stretch.p = changes[i].p;
    if (!work.empty()) stretch.work_ns = median(std::span(work).subspan(stretch.first, count));
    stretch.sm_mhz =
        clock_in(run, rank_index, {steps.steps[stretch.first].begin_ns, steps.steps[stretch.first + count - 1].end_ns});
    before_ns = stretch.median_ns;
    stretches.push_back(stretch);
  }
}

std::string words_of(const RunFacts& run, const StepStretch& stretch) {
  const std::string unit(run.scope.unit());
  const std::string which =
      stretch.is_last ? fmt::format("from {} {} on, {}s take", unit, stretch.first + 1, unit)
                      : fmt::format("{}s {} to {} take", unit, stretch.first + 1, stretch.first + stretch.count);
  return fmt::format("{} {} instead of {} ({:+.1f} %)", which, format_duration(stretch.median_ns),
                     format_duration(*stretch.before_ns), 100 * stretch.change());
}

}  // namespace

double StepStretch::change() const {
  return before_ns && *before_ns > 0 ? static_cast<double>(median_ns) / static_cast<double>(*before_ns) - 1 : 0;
}

std::vector<StepStretch> step_stretches(const RunFacts& run) {
  std::vector<StepStretch> stretches;
  for (std::size_t i = 0; i < run.trace.ranks.size(); ++i) {
    if (run.scope.has_rank(i)) add_stretches(run, i, stretches);
  }
  return stretches;
}

Table step_changes_table(const RunFacts& run) {
  Table table{"step_changes",
              "Changes of the step time",
              {{"rank", "rank", Unit::kCount},
               {"first_step", fmt::format("from {}", run.scope.unit()), Unit::kCount},
               {"last_step", "to", Unit::kCount},
               {"median_ns", "median range", Unit::kDuration},
               {"change_percent", "change", Unit::kPercent},
               {"p", "p-value", Unit::kNumber, true},
               {"work_ns", "own GPU work", Unit::kDuration},
               {"sm_clock_mhz", "SM clock MHz", Unit::kNumber},
               {"finding", "finding"}},
              {}};
  const std::vector<StepStretch> stretches = step_stretches(run);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const StepStretch& stretch = stretches[i];
    const bool is_alone = !stretch.before_ns && (i + 1 == stretches.size() || !stretches[i + 1].before_ns);
    const Cell finding = stretch.before_ns ? Cell(words_of(run, stretch))
                         : !is_alone       ? Cell()
                         : stretch.count < kFewestForChange
                             ? Cell(fmt::format("not known: {} {}s are needed", kFewestForChange, run.scope.unit()))
                             : Cell(std::string("no change"));
    table.rows.push_back(
        {int_cell(run.trace.ranks[stretch.rank_index].run.rank), static_cast<std::int64_t>(stretch.first + 1),
         static_cast<std::int64_t>(stretch.first + stretch.count), stretch.median_ns,
         stretch.before_ns ? Cell(100 * stretch.change()) : Cell(), stretch.before_ns ? Cell(stretch.p) : Cell(),
         stretch.work_ns ? Cell(*stretch.work_ns) : Cell(), optional_cell(stretch.sm_mhz), finding});
  }
  hide_empty(table, {"change_percent", "work_ns", "sm_clock_mhz"});
  return table;
}

std::string step_change_note(const RunFacts& run) {
  std::vector<StepStretch> changed = step_stretches(run);
  std::erase_if(changed, [](const StepStretch& stretch) { return !stretch.before_ns; });
  if (changed.empty()) return "";
  const StepStretch largest =
      *std::ranges::max_element(changed, {}, [](const StepStretch& stretch) { return std::abs(stretch.change()); });
  std::set<std::size_t> ranks;
  for (const StepStretch& stretch : changed)
    ranks.insert(stretch.rank_index);
  std::string note = fmt::format("rank {}: {}", run.trace.ranks[largest.rank_index].run.rank, words_of(run, largest));
  if (ranks.size() > 1) note += fmt::format("; in all, the steps of {} ranks change", ranks.size());
  return note;
}

}  // namespace swinscope
