#include "analyzer/analyses/memory.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "analyzer/analyses/recording.h"
#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// What a level is over time; both as long, times ascending.
struct Changes {
  std::int32_t device = 0;
  std::string what;
  std::vector<std::int64_t> time_ns;
  std::vector<std::int64_t> bytes;  // from then on
};

// The allocator's, then CUDA's.
std::vector<Changes> changes_of(const Rank& rank) {
  std::vector<Changes> all;
  for (const MetricSeries& series : rank.metrics) {
    if (series.source == MetricSource::kAllocator)
      all.push_back({series.gpu, series.name.substr(0, series.name.find(" [")), series.time_ns, series.value});
  }
  const auto allocators = static_cast<std::ptrdiff_t>(all.size());
  for (const MemoryChange& change : rank.memory) {
    auto found = std::find_if(all.begin() + allocators, all.end(),
                              [&](const Changes& changes) { return changes.device == change.device; });
    if (found == all.end()) found = all.insert(all.end(), {change.device, "CUDA, since recording began", {}, {}});
    found->time_ns.push_back(change.time_ns);
    found->bytes.push_back((found->bytes.empty() ? 0 : found->bytes.back()) + change.bytes);
  }
  std::ranges::stable_sort(all, {}, &Changes::device);
  return all;
}

// Until the first change it is not known: what was before the first allocation of CUDA is none, the allocator's first
// value is the best there is.
std::int64_t level_at(const Changes& changes, std::int64_t time_ns) {
  const auto after = std::ranges::upper_bound(changes.time_ns, time_ns) - changes.time_ns.begin();
  if (after > 0) return changes.bytes[static_cast<std::size_t>(after) - 1];
  return changes.what.starts_with("CUDA") ? 0 : changes.bytes.front();
}

struct Peak {
  std::int64_t bytes = 0;
  std::int64_t at_ns = 0;
};

// The first of the largest, the level at the begin among them.
Peak peak_in(const Changes& changes, Interval window) {
  Peak peak{level_at(changes, window.begin_ns), window.begin_ns};
  auto i =
      static_cast<std::size_t>(std::ranges::upper_bound(changes.time_ns, window.begin_ns) - changes.time_ns.begin());
  for (; i < changes.time_ns.size() && changes.time_ns[i] <= window.end_ns; ++i) {
    if (changes.bytes[i] > peak.bytes) peak = {changes.bytes[i], changes.time_ns[i]};
  }
  return peak;
}

MemoryLevel measure(const Changes& changes, const RunScope& scope, std::size_t rank_index) {
  const std::span<const Interval> steps = scope.steps()[rank_index].measured();
  const Interval window = scope.is_of_steps() && !steps.empty()
                              ? scope.host_window(rank_index)
                              : Interval{changes.time_ns.front(), changes.time_ns.back()};
  const Peak peak = peak_in(changes, window);
  MemoryLevel level;
  level.rank_index = rank_index;
  level.device = changes.device;
  level.what = changes.what;
  level.begin_bytes = level_at(changes, window.begin_ns);
  level.peak_bytes = peak.bytes;
  level.peak_at_ns = peak.at_ns;
  level.end_bytes = level_at(changes, window.end_ns);
  for (std::size_t i = 0; scope.is_of_steps() && i < steps.size(); ++i) {
    level.steps.push_back({scope.steps()[rank_index].first_measured + i, peak_in(changes, steps[i]).bytes,
                           level_at(changes, steps[i].end_ns)});
  }
  return level;
}

std::vector<std::int64_t> growths(const MemoryLevel& level) {
  std::vector<std::int64_t> growths;
  for (std::size_t i = 1; i < level.steps.size(); ++i)
    growths.push_back(level.steps[i].end_bytes - level.steps[i - 1].end_bytes);
  return growths;
}

// The innermost layer at a time, of any thread, else the innermost range; empty where there is none.
std::string place_at(const RunFacts& run, std::size_t rank_index, std::int64_t time_ns) {
  std::string_view place;
  std::int64_t began_ns = kUnknownTime;
  const auto look = [&](std::int64_t begin_ns, std::int64_t end_ns, std::string_view name) {
    if (name.empty() || begin_ns > time_ns || end_ns <= time_ns || begin_ns < began_ns) return;
    place = name;
    began_ns = begin_ns;
  };
  for (const Operation& operation : run.operations()[rank_index].all())
    look(operation.start_ns, operation.end_ns, operation.path);
  if (!place.empty()) return std::string(place);
  const Rank& rank = run.trace.ranks[rank_index];
  for (const RangeLane& lane : rank.range_lanes) {
    if (rank.domain_name(lane.domain, run.trace.strings) == kDomainTorchGpuUser) continue;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i)
      look(rank.ranges.start_ns[i], rank.ranges.end_ns[i], run.trace.text(rank.ranges.name[i]));
  }
  return std::string(place);
}

std::string finding_of(const MemoryLevel& level) {
  if (level.keeps_growing()) {
    return fmt::format("grows in each of the last {} steps, by {} a step: a leak?", level.steps.size() - 2,
                       format_bytes(*level.growth()));
  }
  if (level.steps.size() < kStepsThatGrow + 2)
    return fmt::format("growth not known: {} steps are needed", kStepsThatGrow + 2);
  return "does not keep growing";
}

Cell text_cell(std::string text) { return text.empty() ? Cell() : Cell(std::move(text)); }

}  // namespace

std::optional<std::int64_t> MemoryLevel::growth() const {
  std::vector<std::int64_t> all = growths(*this);
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all);
  return quantile(all, 0.5);
}

bool MemoryLevel::keeps_growing() const {
  const std::vector<std::int64_t> all = growths(*this);
  return all.size() > kStepsThatGrow && std::all_of(all.begin() + 1, all.end(), [](std::int64_t by) { return by > 0; });
}

std::vector<MemoryLevel> memory_levels(const RunFacts& run) {
  std::vector<MemoryLevel> levels;
  for (std::size_t i = 0; i < run.trace.ranks.size(); ++i) {
    if (!run.scope.has_rank(i)) continue;
    for (const Changes& changes : changes_of(run.trace.ranks[i])) {
      if (run.scope.selection().device.value_or(changes.device) == changes.device)
        levels.push_back(measure(changes, run.scope, i));
    }
  }
  return levels;
}

Table memory_table(const RunFacts& run) {
  Table table{"memory",
              "Memory",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"what", "what"},
               {"begin_bytes", "at begin", Unit::kBytes},
               {"peak_bytes", "peak", Unit::kBytes},
               {"peak_at_ns", "peak at", Unit::kDuration},
               {"peak_step", fmt::format("in {}", run.scope.unit()), Unit::kCount},
               {"peak_in", "in"},
               {"end_bytes", "at end", Unit::kBytes},
               {"growth_bytes", fmt::format("growth per {}", run.scope.unit()), Unit::kBytes},
               {"finding", "finding"}},
              {}};
  for (const MemoryLevel& level : memory_levels(run)) {
    const Rank& rank = run.trace.ranks[level.rank_index];
    const int step = level.steps.empty() ? -1 : step_at(run.scope.steps()[level.rank_index], level.peak_at_ns);
    const auto growth = level.growth();
    table.rows.push_back({int_cell(rank.run.rank), int_cell(level.device), level.what, level.begin_bytes,
                          level.peak_bytes, level.peak_at_ns - span_of(rank).begin_ns,
                          step < 0 ? Cell() : int_cell(step + 1),
                          text_cell(place_at(run, level.rank_index, level.peak_at_ns)), level.end_bytes,
                          growth ? Cell(*growth) : Cell(), level.steps.empty() ? Cell() : Cell(finding_of(level))});
  }
  hide_empty(table, {"peak_step", "peak_in", "growth_bytes", "finding"});
  return table;
}

Table memory_steps_table(const RunFacts& run) {
  Table table{"memory_steps",
              "Memory by step",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"what", "what"},
               {"step", std::string(run.scope.unit()), Unit::kCount},
               {"peak_bytes", "peak", Unit::kBytes},
               {"end_bytes", "at end", Unit::kBytes},
               {"growth_bytes", "growth", Unit::kBytes}},
              {}};
  for (const MemoryLevel& level : memory_levels(run)) {
    const std::vector<std::int64_t> growth = growths(level);
    for (std::size_t i = 0; i < level.steps.size(); ++i) {
      const StepLevel& step = level.steps[i];
      table.rows.push_back({int_cell(run.trace.ranks[level.rank_index].run.rank), int_cell(level.device), level.what,
                            static_cast<std::int64_t>(step.step + 1), step.peak_bytes, step.end_bytes,
                            i == 0 ? Cell() : Cell(growth[i - 1])});
    }
  }
  return table;
}

}  // namespace swinscope
