#include "analyzer/experiment/experiment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "analyzer/analyses/cpu_utilization.h"
#include "analyzer/analyses/launch_statistics.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/analyses/step_work.h"
#include "analyzer/analyses/thesis_utilization.h"
#include "analyzer/analyses/time_breakdown.h"
#include "analyzer/base/statistics.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/opened_traces.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// One run of a point, reduced to what the table needs.
struct Measured {
  RunSteps steps;
  std::int64_t images_per_step = 0;
  std::optional<double> cpu_util;
  std::optional<double> gpu_busy;
  std::optional<double> gpu_compute;
  std::optional<double> thesis_gpu_share;
  std::optional<LaunchFigures> launches;
  std::optional<JobSize> job;
  std::optional<Crowding> crowding;
  std::string gpu;
  std::shared_ptr<const StepWork> work;
  bool has_cuda_events = false;
  bool uses_gpus = false;
  bool has_ranks = false;
};

// Where a row of a rank is from; of a run in which no process recorded itself, that of its launcher.
std::string host_of(const Trace& trace, std::int32_t number) {
  const auto rank = std::ranges::find_if(trace.ranks, [&](const Rank& r) { return r.run.rank == number; });
  if (rank != trace.ranks.end()) return rank->run.host;
  return trace.launchers.empty() ? std::string() : trace.launchers.front().run.host;
}

// Ranks of one host share its cores: their utilizations add up. Over hosts: the mean.
std::optional<double> host_utilization(const Trace& trace, const RunScope& scope) {
  std::map<std::string, double> by_host;
  for (const CpuUtilization& row : cpu_utilization(trace, scope)) {
    if (const auto used = row.utilization()) by_host[host_of(trace, row.rank)] += *used;
  }
  if (by_host.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [host, used] : by_host)
    sum += used;
  return sum / static_cast<double>(by_host.size());
}

std::optional<LaunchFigures> launch_figures(const Trace& trace, const RunScope& scope) {
  const std::vector<LaunchRow> rows = launch_statistics(trace, scope);
  const std::int64_t steps = scope.step_count();
  if (steps == 0 || std::ranges::any_of(rows, [](const LaunchRow& row) { return row.joined == 0; }))
    return std::nullopt;
  LaunchFigures figures;
  for (const LaunchRow& row : rows) {
    figures.tklqt_ns += static_cast<double>(row.tklqt_ns()) / static_cast<double>(steps);
    figures.mean_queue_length += row.mean_queue_length / static_cast<double>(rows.size());
    figures.akd_ns += row.mean_kernel_ns / static_cast<double>(rows.size());
  }
  return rows.empty() ? std::nullopt : std::optional(figures);
}

StepRule rule_of(const Experiment& experiment, const ExperimentPoint& point) {
  return parse_step_rule(point.step.empty() ? experiment.step : point.step);
}

// Of the first rank that knows of one.
std::string gpu_of(const Trace& trace) {
  for (const Rank& rank : trace.ranks)
    if (!rank.run.gpus.empty()) return rank.run.gpus.front().name;
  return {};
}

Measured measure(const Experiment& experiment, const ExperimentPoint& point, const std::string& run,
                 OpenedTraces& traces) {
  const StepRule rule = rule_of(experiment, point);
  const fs::path folder = point.folder / run;
  const std::shared_ptr<const Trace> opened = traces.open(folder);
  const Trace& trace = *opened;
  const RunFacts facts(trace, selection_of(rule, experiment.warmup_steps));
  const RunScope& scope = facts.scope;
  Measured measured;
  measured.steps = run_steps(folder, trace, scope, rule, experiment.warmup_steps, point.gpus());
  measured.images_per_step = images_per_step(trace, scope);
  measured.has_cuda_events = std::any_of(trace.ranks.begin(), trace.ranks.end(),
                                         [](const Rank& rank) { return rank.gpu.size() > 0 || rank.api.size() > 0; });
  measured.cpu_util = host_utilization(trace, scope);
  measured.thesis_gpu_share = mean_gpu_share(thesis_utilization(trace, scope));
  if (const auto mean = mean_utilization(facts.devices())) {
    measured.gpu_busy = mean->gpu_busy;
    measured.gpu_compute = mean->gpu_compute;
  }
  if (run == point.tracing && !facts.devices().empty())
    measured.work = std::make_shared<const StepWork>(step_work(facts));
  measured.gpu = gpu_of(trace);
  if (run == point.tracing) measured.launches = launch_figures(trace, scope);
  measured.uses_gpus = uses_gpus(trace);
  measured.has_ranks = !trace.ranks.empty();
  measured.job = known_job_size(trace);
  measured.crowding = crowding(trace);
  return measured;
}

// What one run does may be chance.
std::optional<StepDrift> common_drift(const std::vector<Measured>& repeats) {
  std::optional<StepDrift> common;
  for (const Measured& repeat : repeats) {
    const std::optional<StepDrift> own = drift(repeat.steps.single_ns);
    if (!own || (common && own->gets_longer() != common->gets_longer())) return std::nullopt;
    if (!common) common = own;
  }
  return common;
}

// What the repeats have in common, and the median of their times.
void add_repeats(const std::vector<Measured>& repeats, ScalingRow& row) {
  std::vector<double> cpu_utils;
  std::vector<std::int64_t> single_ns;
  for (const Measured& repeat : repeats) {
    row.uses_gpus = row.uses_gpus || repeat.uses_gpus;
    row.repeat_step_ns.push_back(repeat.steps.step_ns);
    row.steps = repeat.steps.steps;
    row.step_how = repeat.steps.how;
    row.is_period = row.is_period || repeat.steps.is_period;
    row.images_per_step = repeat.images_per_step;
    if (repeat.cpu_util) cpu_utils.push_back(*repeat.cpu_util);
    single_ns.insert(single_ns.end(), repeat.steps.single_ns.begin(), repeat.steps.single_ns.end());
  }
  if (!cpu_utils.empty()) {
    row.cpu_util = std::accumulate(cpu_utils.begin(), cpu_utils.end(), 0.0) / static_cast<double>(cpu_utils.size());
  }
  std::vector<std::int64_t> sorted = row.repeat_step_ns;
  std::sort(sorted.begin(), sorted.end());
  row.step_ns = quantile(sorted, 0.5);
  row.step_ci_ns = ci95_half_width(sorted);
  row.step_spread = spread(single_ns.empty() ? sorted : single_ns);
  row.drift = common_drift(repeats);
}

ScalingRow measure_point(const Experiment& experiment, const ExperimentPoint& point, OpenedTraces& traces) {
  ScalingRow row;
  row.point = point;
  std::optional<Measured> traced;
  if (!point.tracing.empty()) traced = measure(experiment, point, point.tracing, traces);
  std::vector<Measured> repeats;
  for (const std::string& run : point.timing)
    repeats.push_back(measure(experiment, point, run, traces));
  row.traced_only = std::ranges::any_of(repeats, &Measured::has_cuda_events);
  for (const std::int64_t step_ns : point.given_step_ns) {
    Measured given = traced.value_or(Measured{});
    given.steps.step_ns = step_ns;
    given.steps.single_ns.clear();
    given.cpu_util.reset();
    repeats.push_back(given);
  }
  if (repeats.empty() && !traced) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a point without runs", point.folder.string()), {},
                "measure it again");
  }
  if (repeats.empty()) {
    // Ranges alone cost next to nothing: only the tracing of CUDA makes the times traced times.
    row.traced_only = traced->has_cuda_events;
    repeats.push_back(*traced);
  }
  if (!point.timing.empty() || traced) row.job = repeats.front().job;
  row.crowding = repeats.front().crowding;
  row.uses_gpus = traced && traced->uses_gpus;
  add_repeats(repeats, row);
  if (traced) {
    row.gpu_busy = traced->gpu_busy;
    row.gpu_compute = traced->gpu_compute;
    row.thesis_gpu_share = traced->thesis_gpu_share;
    row.traced_step_ns = traced->steps.step_ns;
    row.gpu = traced->gpu;
    row.work = traced->work;
    row.launches = traced->launches;
    row.is_unexplained = !traced->has_ranks;
  }
  if (!point.profile.empty()) {
    const Trace profile = open_trace(point.folder / point.profile);
    Selection selection;
    selection.warmup_steps = 0;  // the profiler's own schedule has left it out
    row.thesis_gpu_share = mean_gpu_share(thesis_utilization(profile, RunScope(profile, selection)));
  }
  return row;
}

}  // namespace

std::optional<double> ScalingRow::distortion() const {
  if (!traced_step_ns || traced_only || step_ns == 0) return std::nullopt;
  return static_cast<double>(*traced_step_ns) / static_cast<double>(step_ns) - 1;
}

std::int64_t fewest_steps(const Experiment& experiment) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  OpenedTraces traces;
  Experiment whole = experiment;
  whole.warmup_steps = 0;
  for (const ExperimentPoint& point : experiment.points) {
    std::vector<std::string> runs = point.timing;
    if (!point.tracing.empty()) runs.push_back(point.tracing);
    for (const std::string& run : runs)
      fewest = std::min(fewest, measure(whole, point, run, traces).steps.fewest);
  }
  return fewest;
}

RunSteps require_steps(const Experiment& experiment, const ExperimentPoint& point, const std::string& run) {
  OpenedTraces traces;
  return measure(experiment, point, run, traces).steps;
}

std::optional<StepRule> resolve_step_rule(const Experiment& experiment, const ExperimentPoint& point,
                                          const std::string& run, std::vector<std::string>& reasons) {
  const StepRule asked = parse_step_rule(experiment.step_asked.empty() ? "auto" : experiment.step_asked);
  if (asked.source != StepSource::kAuto) return asked;
  const fs::path folder = point.folder / run;
  return find_step_rule(folder, open_trace(folder), point.gpus(), reasons);
}

std::vector<ScalingRow> scaling_table(const Experiment& experiment) {
  OpenedTraces traces;
  return scaling_table(experiment, traces);
}

std::vector<ScalingRow> scaling_table(const Experiment& experiment, OpenedTraces& traces) {
  std::vector<ScalingRow> rows;
  for (const ExperimentPoint& point : experiment.points)
    rows.push_back(measure_point(experiment, point, traces));
  if (rows.empty()) return rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ScalingRow& a, const ScalingRow& b) { return a.point.gpus() < b.point.gpus(); });
  add_scaling(experiment, rows);
  return rows;
}

}  // namespace swinscope
