#include "analyzer/experiment.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/cpu_utilization.h"
#include "analyzer/layers.h"
#include "analyzer/open.h"
#include "analyzer/scope.h"
#include "analyzer/statistics.h"
#include "analyzer/thesis_utilization.h"
#include "analyzer/time_breakdown.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProfile = "profile";

constexpr const char* kStepHint =
    "mark each step with two lines: nvtxRangePushA(\"step\"); … nvtxRangePop(); (in Python: "
    "torch.cuda.nvtx.range_push(\"step\"), torch.cuda.nvtx.range_pop())";

Json read_json(const fs::path& path, std::string_view schema) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Json json = Json::parse(text.str(), nullptr, false);
  if (!file || !json.is_object() || json.value("schema", "") != schema) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()),
                fmt::format("it is missing, or no JSON of schema {}", schema),
                "run `swinscope scale` or `swinscope join` again");
  }
  return json;
}

void write_json(const fs::path& path, const Json& json) {
  const fs::path unfinished = path.string() + ".tmp";
  std::ofstream file(unfinished);
  file << json.dump(2) << '\n';
  file.close();
  std::error_code error;
  if (file) fs::rename(unfinished, path, error);
  if (!file || error) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", path.string()), error.message(),
                "check the free space and the permissions of its folder");
  }
}

// One run of a point, reduced to what the table needs.
struct Measured {
  std::int64_t step_ns = 0;
  std::int64_t steps = 0;
  std::int64_t images_per_step = 0;
  std::optional<double> cpu_util;
  std::optional<double> gpu_busy;
  std::optional<double> gpu_compute;
  std::optional<double> thesis_gpu_share;
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

Measured measure(const fs::path& run, int warmup) {
  const Trace trace = open_trace(run);
  if (trace.ranks.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", run.string()), "no process used NVTX or CUDA",
                kStepHint);
  }
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
  measured.uses_gpus = measured.gpu_busy ||
                       std::ranges::any_of(trace.ranks, [](const Rank& rank) { return !rank.cuda_activity().empty(); });
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
  if (experiment.images_per_gpu > 0) row.images_per_step = experiment.images_per_gpu * point.gpus();
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

void add_training_time(const Experiment& experiment, ScalingRow& row) {
  if (row.images_per_step == 0 || row.step_ns == 0) return;
  row.train_steps = (experiment.images + row.images_per_step - 1) / row.images_per_step;
  row.train_time_ns = row.train_steps * row.step_ns;
  row.images_per_second = 1e9 * static_cast<double>(row.images_per_step) / static_cast<double>(row.step_ns);
}

double relative_gpus(const ScalingRow& base, const ScalingRow& row) {
  return static_cast<double>(row.point.gpus()) / base.point.gpus();
}

// Throughput ratio where images are known (the same as the time ratio for the same number of images), else step ratio x
// GPUs.
double speedup_over(const ScalingRow& base, const ScalingRow& row) {
  const bool images_known = row.images_per_step > 0 && base.images_per_step > 0;
  const double work = images_known
                          ? static_cast<double>(row.images_per_step) / static_cast<double>(base.images_per_step)
                          : relative_gpus(base, row);
  return work * static_cast<double>(base.step_ns) / static_cast<double>(row.step_ns);
}

void add_efficiency(const ScalingRow& base, ScalingRow& row) {
  const double speedup = speedup_over(base, row);
  const double gpus = relative_gpus(base, row);
  row.efficiency = speedup / gpus;
  if (gpus > 1) row.karp_flatt = (1 / speedup - 1 / gpus) / (1 - 1 / gpus);
}

std::map<std::string, std::string> factors_beside_gpus(const ScalingRow& row) {
  std::map<std::string, std::string> factors = row.point.factors;
  factors.erase("gpus");
  return factors;
}

// What `row` is to scale from. Strong scaling's batch of each GPU is no factor of its own.
const ScalingRow& scaling_base(const Experiment& experiment, const std::vector<ScalingRow>& by_gpus,
                               const ScalingRow& row) {
  if (experiment.mode != "sweep") return by_gpus.front();
  return *std::ranges::find(by_gpus, factors_beside_gpus(row), factors_beside_gpus);
}

}  // namespace

int ExperimentPoint::gpus() const {
  int count = 1;
  if (const auto found = factors.find("gpus"); found != factors.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  }
  return std::max(1, count);
}

bool is_experiment(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / "experiment.json", ignored);
}

ExperimentPoint read_point(const fs::path& folder) {
  const Json json = read_json(folder / "point.json", "swinscope.point/1");
  ExperimentPoint point;
  point.folder = folder;
  point.factors = json.value("factors", std::map<std::string, std::string>{});
  point.timing = json.value("timing", std::vector<std::string>{});
  point.tracing = json.value("tracing", "");
  point.given_step_ns = json.value("step_ns", std::vector<std::int64_t>{});
  std::error_code ignored;
  if (fs::is_directory(folder / kProfile, ignored)) point.profile = kProfile;
  return point;
}

void write_point(const ExperimentPoint& point) {
  Json json;
  json["schema"] = "swinscope.point/1";
  json["factors"] = point.factors;
  json["timing"] = point.timing;
  json["tracing"] = point.tracing;
  if (!point.given_step_ns.empty()) json["step_ns"] = point.given_step_ns;
  write_json(point.folder / "point.json", json);
}

Experiment read_experiment(const fs::path& folder) {
  const Json json = read_json(folder / "experiment.json", "swinscope.experiment/1");
  Experiment experiment;
  experiment.folder = folder;
  experiment.mode = json.value("mode", experiment.mode);
  experiment.swept = json.value("swept", experiment.swept);
  experiment.images = json.value("images", experiment.images);
  experiment.images_per_step = json.value("images_per_step", experiment.images_per_step);
  experiment.images_per_gpu = json.value("images_per_gpu", experiment.images_per_gpu);
  experiment.warmup_steps = json.value("warmup_steps", experiment.warmup_steps);
  experiment.command = json.value("command", experiment.command);
  for (const std::string& point : json.value("points", std::vector<std::string>{})) {
    experiment.points.push_back(read_point(folder / point));  // an absolute path replaces the folder
  }
  return experiment;
}

void write_experiment(const Experiment& experiment) {
  Json json;
  json["schema"] = "swinscope.experiment/1";
  json["mode"] = experiment.mode;
  json["swept"] = experiment.swept;
  json["images"] = experiment.images;
  json["images_per_step"] = experiment.images_per_step;
  json["images_per_gpu"] = experiment.images_per_gpu;
  json["warmup_steps"] = experiment.warmup_steps;
  json["command"] = experiment.command;
  json["points"] = Json::array();
  for (const ExperimentPoint& point : experiment.points) {
    const fs::path relative = fs::absolute(point.folder)
                                  .lexically_normal()
                                  .lexically_relative(fs::absolute(experiment.folder).lexically_normal());
    const bool below = !relative.empty() && *relative.begin() != "..";
    json["points"].push_back(below ? relative.string() : fs::absolute(point.folder).string());
  }
  write_json(experiment.folder / "experiment.json", json);
}

std::optional<double> ScalingRow::distortion() const {
  if (!traced_step_ns || traced_only || step_ns == 0) return std::nullopt;
  return static_cast<double>(*traced_step_ns) / static_cast<double>(step_ns) - 1;
}

void require_steps(const fs::path& run, int warmup_steps) { measure(run, warmup_steps); }

std::vector<ScalingRow> scaling_table(const Experiment& experiment) {
  std::vector<ScalingRow> rows;
  for (const ExperimentPoint& point : experiment.points)
    rows.push_back(measure_point(experiment, point));
  if (rows.empty()) return rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ScalingRow& a, const ScalingRow& b) { return a.point.gpus() < b.point.gpus(); });
  const int fewest = rows.front().point.gpus();
  for (ScalingRow& row : rows) {
    if (experiment.images_per_step > 0) {
      const bool constant = experiment.mode == "strong";
      row.images_per_step = experiment.images_per_step * (constant ? 1 : row.point.gpus()) / (constant ? 1 : fewest);
    }
    add_training_time(experiment, row);
  }
  for (ScalingRow& row : rows) {
    row.speedup = speedup_over(rows.front(), row);
    add_efficiency(scaling_base(experiment, rows, row), row);
  }
  return rows;
}

}  // namespace swinscope
