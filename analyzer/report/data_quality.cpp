#include "analyzer/report/data_quality.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/analyses/cpu_utilization.h"
#include "analyzer/analyses/gpu_power.h"
#include "analyzer/analyses/recording.h"
#include "analyzer/base/text.h"
#include "analyzer/report/documents.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

QualityFact known(std::string key, std::string title, std::string value) {
  return {{std::move(key), std::move(title), std::move(value)}, true};
}

QualityFact unknown(std::string key, std::string title, const std::string& why) {
  return {{std::move(key), std::move(title), "not known: " + why}, false};
}

QualityFact losses(const Trace& trace) {
  const std::string key = "losses";
  const std::string title = "lost records";
  std::int64_t lost = 0;
  for (const Rank& rank : trace.ranks) {
    for (const DropInfo& drop : rank.run.drops)
      lost += drop.count;
  }
  const bool is_cut = std::ranges::any_of(trace.ranks, [](const Rank& rank) { return !rank.run.complete; });
  std::vector<std::string> what;
  if (lost > 0) what.push_back(format_counted(lost, "records") + " lost or unread, listed under \"Lost or unread\"");
  if (is_cut) what.emplace_back("the recording was cut off");
  if (trace.corrupt) what.emplace_back("part of the input could not be read");
  if (!what.empty()) return known(key, title, fmt::format("{}", fmt::join(what, "; ")));
  if (!counts_losses(trace)) return unknown(key, title, "the program that recorded does not count what it loses");
  return known(key, title, "none: nothing was lost, dropped or cut off");
}

QualityFact ranks(const Trace& trace) {
  const std::int32_t size = world_size(trace);
  const std::string present = format_counted(rank_count(trace), "ranks");
  if (size == 0)
    return unknown("ranks", "missing ranks", present + " recorded, and the size of the job is not recorded");
  const std::string missing = missing_ranks(trace).sentence();
  return known("ranks", "missing ranks",
               missing.empty() ? fmt::format("none: {} of {} recorded", rank_count(trace), size) : missing);
}

QualityFact clocks(const RunFacts& run) {
  const std::string key = "clocks";
  const std::string title = "clocks of the ranks";
  if (rank_count(run.trace) < 2) return known(key, title, "one rank: nothing to compare");
  std::int64_t apart = 0;
  std::int64_t residual_ns = 0;
  for (const RankClock& clock : run.clocks().ranks()) {
    apart += clock.is_aligned() ? 0 : 1;
    residual_ns = std::max(residual_ns, clock.residual_p95_ns.value_or(0));
  }
  if (apart > 0) {
    return unknown(key, title,
                   fmt::format("{} could not be put on the clock of the others, so waits for them are not told",
                               format_counted(apart, "ranks")));
  }
  if (residual_ns == 0) return known(key, title, "one clock: the ranks ran on one host");
  return known(
      key, title,
      fmt::format("on one clock; 95 % of the ends of collectives agree within {}", format_duration(residual_ns)));
}

QualityFact steps(const RunFacts& run) {
  const std::string key = "steps";
  const std::string title = "steps";
  if (!run.scope.is_of_steps()) return unknown(key, title, "no steps are marked, figures are of the whole trace");
  if (run.scope.is_of_repetitions())
    return unknown(key, title, "no step is marked; a period of the kernels is as likely a layer as a step");
  const auto first = std::ranges::find_if(run.scope.steps(), [](const RankSteps& one) { return !one.how.empty(); });
  return known(key, title,
               first == run.scope.steps().end() ? run.scope.title()
                                                : fmt::format("{}, found by {}", run.scope.title(), first->how));
}

QualityFact power(const RunFacts& run) {
  const std::string key = "power";
  const std::string title = "power and clocks of the GPUs";
  if (run.devices().empty()) return known(key, title, "no GPU activity was recorded");
  const std::vector<GpuPower> rows = gpu_power(run);
  if (rows.empty()) {
    return unknown(key, title,
                   "not sampled (swinscope record --gpu-metrics), so whether the clocks were lowered cannot be said");
  }
  return known(key, title, fmt::format("sampled of {}", format_counted(std::ssize(rows), "GPUs")));
}

QualityFact cpu_time(const RunFacts& run) {
  const auto rows = cpu_utilization(run.trace, run.scope);
  const auto sampled =
      std::ranges::count_if(rows, [](const CpuUtilization& row) { return row.utilization().has_value(); });
  if (sampled == 0) return unknown("cpu", "CPU time", "not sampled");
  return known("cpu", "CPU time", fmt::format("sampled of {}", format_counted(sampled, "ranks")));
}

QualityFact costs(const RunFacts& run) {
  const auto& layers = run.layers();
  const auto with_cost = std::ranges::count_if(layers, [](const LayerRow& row) { return row.has_cost; });
  if (with_cost == 0) {
    return unknown("costs", "FLOPs and bytes of layers",
                   layers.empty() ? "no layers are marked" : "the recorder does not give them");
  }
  return known("costs", "FLOPs and bytes of layers",
               fmt::format("of {} of {}", with_cost, format_counted(std::ssize(layers), "layers")));
}

QualityFact repeats(const std::vector<ScalingRow>& rows) {
  const std::string key = "repeats";
  const std::string title = "noise from run to run";
  const auto count = [](const ScalingRow& row) { return std::ssize(row.repeat_step_ns); };
  const auto [least, most] = std::ranges::minmax(rows, {}, count);
  if (count(least) < 2) {
    return unknown(key, title,
                   count(most) < 2 ? "one run at each point; `swinscope scale --repeat 3` tells noise from an effect"
                                   : "one run at some points, so these have no confidence interval");
  }
  return known(key, title,
               fmt::format("confidence intervals of at least {} at each point", format_counted(count(least), "runs")));
}

QualityFact tracing(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  const std::string key = "tracing";
  const std::string title = "what tracing cost";
  const std::vector<std::string> names = point_names(experiment, rows);
  std::vector<std::string> costs;
  bool any_traced = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    any_traced = any_traced || !rows[i].point.tracing.empty();
    if (const auto cost = rows[i].distortion()) costs.push_back(fmt::format("{}: {:+.1f} %", names[i], 100 * *cost));
  }
  if (!costs.empty()) return known(key, title, fmt::format("of the step, {}", fmt::join(costs, ", ")));
  if (any_traced) return unknown(key, title, "there is no run without tracing beside the traced ones");
  return known(key, title, "nothing: no run was traced");
}

QualityFact causes(const std::vector<ScalingRow>& rows) {
  const auto traced = std::ranges::count_if(rows, [](const ScalingRow& row) { return !row.point.tracing.empty(); });
  if (traced == 0) return unknown("causes", "where the time goes", "no point was traced");
  return known("causes", "where the time goes",
               fmt::format("{} of {} traced", traced, format_counted(std::ssize(rows), "points")));
}

}  // namespace

std::vector<QualityFact> data_quality(const RunFacts& run) {
  std::vector<QualityFact> quality = {losses(run.trace), ranks(run.trace), clocks(run), steps(run),
                                      power(run),        cpu_time(run),    costs(run)};
  return quality;
}

std::vector<QualityFact> data_quality(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  if (rows.empty()) return {};
  return {repeats(rows), causes(rows), tracing(experiment, rows)};
}

std::string unknown_things(const std::vector<QualityFact>& quality) {
  std::vector<std::string> names;
  for (const QualityFact& one : quality) {
    if (!one.is_known) names.push_back(one.fact.title);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace swinscope
