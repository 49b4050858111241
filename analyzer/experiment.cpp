#include "analyzer/experiment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "analyzer/cpu_utilization.h"
#include "analyzer/layers.h"
#include "analyzer/open.h"
#include "analyzer/scaling.h"
#include "analyzer/scope.h"
#include "analyzer/statistics.h"
#include "analyzer/thesis_utilization.h"
#include "analyzer/time_breakdown.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStepHint =
    "mark each step with two lines: nvtxRangePushA(\"step\"); … nvtxRangePop(); (in Python: "
    "torch.cuda.nvtx.range_push(\"step\"), torch.cuda.nvtx.range_pop())";

// One run of a point, reduced to what the table needs.
struct Measured {
  std::int64_t step_ns = 0;
  std::int64_t steps = 0;
  std::int64_t images_per_step = 0;
  std::optional<double> cpu_util;
  std::optional<double> gpu_busy;
  std::optional<double> gpu_compute;
  std::optional<double> thesis_gpu_share;
  JobSize job;
  std::optional<Crowding> crowding;
  bool has_cuda_events = false;
  bool uses_gpus = false;
};

// Ranks of one host share its cores: their utilizations add up. Over hosts: the mean.
std::optional<double> host_utilization(const Trace& trace, const RunScope& scope) {
  std::map<std::string, double> by_host;
  for (const CpuUtilization& row : cpu_utilization(trace, scope)) {
    const auto rank =
        std::find_if(trace.ranks.begin(), trace.ranks.end(), [&](const Rank& r) { return r.run.rank == row.rank; });
    if (const auto used = row.utilization()) by_host[rank->run.host] += *used;
  }
  if (by_host.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [host, used] : by_host)
    sum += used;
  return sum / static_cast<double>(by_host.size());
}

// A rank may have several processes, of which workers have no steps; a rank of which no process has enough is an error.
void require_steps(const fs::path& run, const Trace& trace, const RunScope& scope, std::int64_t warmup) {
  std::map<std::int32_t, std::int64_t> most;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    std::int64_t& count = most[trace.ranks[r].run.rank];
    const RankSteps& steps = scope.steps()[r];
    if (!steps.is_repetition()) count = std::max(count, static_cast<std::int64_t>(steps.steps.size()));
  }
  for (const auto& [rank, count] : most) {
    if (count > warmup) continue;
    const std::string rank_name = fmt::format("{}: rank {}", run.string(), rank);
    if (count == 0) {
      throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", rank_name), "no range marks them", kStepHint);
    }
    throw Error(ErrorKind::kUsage, fmt::format("{} has {} steps", rank_name, count),
                fmt::format("the first {} are warm-up, and at least one more is needed", warmup),
                "run more steps, or lower --warmup-steps");
  }
}

Trace open_measured(const fs::path& run) {
  Trace trace = open_trace(run);
  if (!trace.ranks.empty()) return trace;
  throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", run.string()), "no process used NVTX or CUDA",
              kStepHint);
}

Measured measure(const fs::path& run, int warmup) {
  const Trace trace = open_measured(run);
  Selection selection;
  selection.warmup_steps = warmup;
  const RunScope scope(trace, selection);
  require_steps(run, trace, scope, warmup);
  Measured measured;
  measured.step_ns = scope.step_ns();
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    measured.steps = std::max(measured.steps, scope.step_count(r));
  measured.images_per_step = images_per_step(trace, scope);
  measured.has_cuda_events = std::any_of(trace.ranks.begin(), trace.ranks.end(),
                                         [](const Rank& rank) { return rank.gpu.size() > 0 || rank.api.size() > 0; });
  measured.cpu_util = host_utilization(trace, scope);
  measured.thesis_gpu_share = mean_gpu_share(thesis_utilization(trace, scope));
  if (const auto mean = mean_utilization(time_breakdown(trace, scope))) {
    measured.gpu_busy = mean->gpu_busy;
    measured.gpu_compute = mean->gpu_compute;
  }
  measured.uses_gpus = uses_gpus(trace);
  measured.job = job_size(trace);
  measured.crowding = crowding(trace);
  return measured;
}

ScalingRow measure_point(const Experiment& experiment, const ExperimentPoint& point) {
  ScalingRow row;
  row.point = point;
  std::optional<Measured> traced;
  if (!point.tracing.empty()) traced = measure(point.folder / point.tracing, experiment.warmup_steps);
  std::vector<Measured> repeats;
  for (const std::string& run : point.timing)
    repeats.push_back(measure(point.folder / run, experiment.warmup_steps));
  for (const std::int64_t step_ns : point.given_step_ns) {
    Measured given = traced.value_or(Measured{});
    given.step_ns = step_ns;
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
  std::vector<double> cpu_utils;
  row.uses_gpus = traced && traced->uses_gpus;
  for (const Measured& repeat : repeats) {
    row.uses_gpus = row.uses_gpus || repeat.uses_gpus;
    row.repeat_step_ns.push_back(repeat.step_ns);
    row.steps = repeat.steps;
    row.images_per_step = repeat.images_per_step;
    if (repeat.cpu_util) cpu_utils.push_back(*repeat.cpu_util);
  }
  if (!cpu_utils.empty()) {
    row.cpu_util = std::accumulate(cpu_utils.begin(), cpu_utils.end(), 0.0) / static_cast<double>(cpu_utils.size());
  }
  std::vector<std::int64_t> sorted = row.repeat_step_ns;
  std::sort(sorted.begin(), sorted.end());
  row.step_ns = quantile(sorted, 0.5);
  row.step_ci_ns = ci95_half_width(sorted);
  if (traced) {
    row.gpu_busy = traced->gpu_busy;
    row.gpu_compute = traced->gpu_compute;
    row.thesis_gpu_share = traced->thesis_gpu_share;
    row.traced_step_ns = traced->step_ns;
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
  for (const ExperimentPoint& point : experiment.points) {
    std::vector<std::string> runs = point.timing;
    if (!point.tracing.empty()) runs.push_back(point.tracing);
    for (const std::string& run : runs) {
      const Trace trace = open_measured(point.folder / run);
      Selection selection;
      selection.warmup_steps = 0;
      const RunScope scope(trace, selection);
      require_steps(point.folder / run, trace, scope, 0);
      for (const RankSteps& steps : scope.steps()) {
        const auto count = static_cast<std::int64_t>(steps.steps.size());
        if (count > 0 && !steps.is_repetition()) fewest = std::min(fewest, count);
      }
    }
  }
  return fewest;
}

void require_steps(const fs::path& run, int warmup_steps) { measure(run, warmup_steps); }

std::vector<ScalingRow> scaling_table(const Experiment& experiment) {
  std::vector<ScalingRow> rows;
  for (const ExperimentPoint& point : experiment.points)
    rows.push_back(measure_point(experiment, point));
  if (rows.empty()) return rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ScalingRow& a, const ScalingRow& b) { return a.point.gpus() < b.point.gpus(); });
  add_scaling(experiment, rows);
  return rows;
}

}  // namespace swinscope
