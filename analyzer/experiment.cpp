#include "analyzer/experiment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "analyzer/cpu_utilization.h"
#include "analyzer/layers.h"
#include "analyzer/open.h"
#include "analyzer/scaling.h"
#include "analyzer/statistics.h"
#include "analyzer/steps.h"
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

// From the first measured step's start to the last one's end.
Interval measured_window(const RankSteps& steps, int warmup) {
  return {steps.steps[static_cast<std::size_t>(warmup)].begin_ns, steps.steps.back().end_ns};
}

// Ranks of one host share its cores: their utilizations add up. Over hosts: the mean.
std::optional<double> host_utilization(const Trace& trace, const std::vector<Interval>& windows) {
  std::map<std::string, double> by_host;
  for (const CpuUtilization& row : cpu_utilization(trace, windows)) {
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

void add_gpu_utilization(const Trace& trace, const std::vector<Interval>& windows, Measured& measured) {
  const std::vector<DeviceUtilization> devices = gpu_utilization(trace, windows);
  if (devices.empty()) return;
  double busy = 0;
  double compute = 0;
  for (const DeviceUtilization& device : devices) {
    busy += device.gpu_busy;
    compute += device.gpu_compute;
  }
  measured.gpu_busy = busy / static_cast<double>(devices.size());
  measured.gpu_compute = compute / static_cast<double>(devices.size());
}

// The steps of each process. A rank may have several, of which workers have none; a rank of which no process has enough
// is an error.
std::vector<RankSteps> steps_of_ranks(const fs::path& run, const Trace& trace, std::size_t warmup) {
  std::vector<RankSteps> steps;
  std::map<std::int32_t, std::size_t> most;
  for (const Rank& rank : trace.ranks) {
    steps.push_back(find_steps(trace, rank));
    std::size_t& count = most[rank.run.rank];
    count = std::max(count, steps.back().steps.size());
  }
  for (const auto& [rank, count] : most) {
    if (count > warmup) continue;
    const std::string rank_name = fmt::format("{}: rank {}", run.string(), rank);
    if (count == 0) {
      throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", rank_name),
                  "no range marks them, and no kernel sequence repeats", kStepHint);
    }
    throw Error(ErrorKind::kUsage, fmt::format("{} has {} steps", rank_name, count),
                fmt::format("the first {} are warm-up, and at least one more is needed", warmup),
                "run more steps, or lower --warmup-steps");
  }
  return steps;
}

Trace open_measured(const fs::path& run) {
  Trace trace = open_trace(run);
  if (!trace.ranks.empty()) return trace;
  throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", run.string()), "no process used NVTX or CUDA",
              kStepHint);
}

Measured measure(const fs::path& run, int warmup) {
  const Trace trace = open_measured(run);
  Measured measured;
  std::vector<Interval> windows;
  std::int64_t training = 0;  // processes with steps
  for (const RankSteps& steps : steps_of_ranks(run, trace, static_cast<std::size_t>(warmup))) {
    windows.emplace_back();
    const std::int64_t count = static_cast<std::int64_t>(steps.steps.size()) - warmup;
    if (count <= 0) continue;
    ++training;
    windows.back() = measured_window(steps, warmup);
    // The slowest rank decides.
    if (const std::int64_t step_ns = windows.back().length() / count; step_ns > measured.step_ns) {
      measured.step_ns = step_ns;
      measured.steps = count;
    }
  }
  if (const StepImages count = count_images(trace); count.steps > 0) {
    measured.images_per_step = count.images * training / count.steps;
  }
  measured.has_cuda_events = std::any_of(trace.ranks.begin(), trace.ranks.end(),
                                         [](const Rank& rank) { return rank.gpu.size() > 0 || rank.api.size() > 0; });
  measured.cpu_util = host_utilization(trace, windows);
  measured.thesis_gpu_share = mean_gpu_share(thesis_utilization(trace));
  add_gpu_utilization(trace, windows, measured);
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
    row.thesis_gpu_share = mean_gpu_share(thesis_utilization(open_trace(point.folder / point.profile)));
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
      for (const RankSteps& steps : steps_of_ranks(point.folder / run, trace, 0)) {
        const auto count = static_cast<std::int64_t>(steps.steps.size());
        if (count > 0) fewest = std::min(fewest, count);
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
