#include "cli/experiment_runner.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "analyzer/text.h"
#include "cli/store_timelines.h"
#include "collector/command.h"
#include "collector/nvml.h"
#include "collector/record.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

// Of a command that Ctrl+C ended.
constexpr int kCommandInterrupted = 128 + SIGINT;

std::string own_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "swinscope" : path.string();
}

// The command that starts `ranks` processes of another.
std::vector<std::string> launcher_prefix(const std::string& launcher, int ranks) {
  const std::string count = std::to_string(ranks);
  if (launcher == "torchrun") return {"torchrun", "--nproc_per_node", count};
  if (launcher == "mpirun") return {"mpirun", "-n", count};
  if (launcher == "srun") return {"srun", "-n", count};
  return {own_path(), "launch", "--ranks", count, "--"};
}

// One recording: a repeat of the timing pass, or the tracing pass.
struct PlannedRun {
  std::string name;   // of its folder
  std::string title;  // for people
  bool tracing = false;
};

std::vector<PlannedRun> plan(const RunnerOptions& options) {
  std::vector<PlannedRun> runs;
  for (int i = 1; i <= options.repeat; ++i)
    runs.push_back({fmt::format("timing{}", i), fmt::format("repeat {}", i), false});
  if (options.trace) runs.push_back({"tracing", "tracing", true});
  return runs;
}

// Says what is being done and how long the rest may take.
class Progress {
 public:
  Progress(std::size_t total, bool quiet) : total_(total), quiet_(quiet) {}

  void begin(const ExperimentPoint& point, const PlannedRun& run) const { say(point, run, eta()); }
  void end() {
    ++done_;
    ++measured_;
  }
  // One that is there already.
  void keep(const ExperimentPoint& point, const PlannedRun& run) {
    say(point, run, ": kept");
    ++done_;
  }

 private:
  void say(const ExperimentPoint& point, const PlannedRun& run, const std::string& more) const {
    if (quiet_) return;
    std::string factors;
    for (const auto& [name, value] : point.factors)
      factors += fmt::format("{}={} ", name, value);
    fmt::print(stderr, "[{}/{}] {}{}{}\n", done_ + 1, total_, factors, run.title, more);
  }

  std::string eta() const {
    if (measured_ == 0) return "";
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    const auto left = spent / static_cast<std::int64_t>(measured_) * static_cast<std::int64_t>(total_ - done_);
    return fmt::format(", about {} left", format_duration(left));
  }

  std::size_t total_;
  bool quiet_;
  std::size_t done_ = 0;
  std::size_t measured_ = 0;
  Clock::time_point start_ = Clock::now();
};

// What the placeholders of the command stand for in a run.
std::map<std::string, std::string> values_of(const ExperimentPoint& point, const std::string& run) {
  std::map<std::string, std::string> values = point.factors;
  values["gpus"] = std::to_string(point.gpus());
  values["out"] = (point.folder / run).string();
  return values;
}

// What the programs print is no part of our data: while this lives, the standard output of this process, which they
// inherit, is its standard error.
class OutputToError {
 public:
  OutputToError() : saved_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
    std::fflush(stdout);
    if (saved_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  OutputToError(const OutputToError&) = delete;
  OutputToError& operator=(const OutputToError&) = delete;
  OutputToError(OutputToError&&) = delete;
  OutputToError& operator=(OutputToError&&) = delete;
  ~OutputToError() {
    if (saved_ < 0) return;
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

[[noreturn]] void stop_interrupted() {
  throw Error(ErrorKind::kInterrupted, "the experiment was interrupted", {},
              "run the same command to go on; finished runs are kept");
}

void record_run(const Experiment& experiment, const ExperimentPoint& point, const PlannedRun& run,
                const RunnerOptions& options) {
  const fs::path folder = point.folder / run.name;
  std::error_code error;
  fs::remove_all(folder, error);  // of an attempt that was interrupted
  std::vector<std::string> command = launcher_prefix(options.launcher, point.gpus());
  const std::vector<std::string> filled = fill_in(experiment.command, values_of(point, run.name));
  command.insert(command.end(), filled.begin(), filled.end());

  RecordOptions record_options;
  record_options.folder = folder;
  record_options.command = command;
  record_options.sample_hz = options.sample_hz;
  record_options.trace.cuda = run.tracing;  // times come from runs without CUPTI
  const int status = [&] {
    const OutputToError redirected;
    return record(record_options);
  }();
  if (status == kCommandInterrupted || interrupted()) stop_interrupted();
  if (status != 0) {
    throw Error(
        ErrorKind::kFailure, fmt::format("{}: the command ended with status {}", folder.string(), status),
        "see its output above",
        "fix what failed and rerun: finished runs are kept while command, program and environment stay; after a "
        "change of these, --force measures all again");
  }
  store_timelines(folder, false, nullptr);
}

// GPUs that a process started here may use; nothing where the driver does not tell.
std::optional<std::size_t> gpus_here() {
  std::string problem;
  const std::unique_ptr<Nvml> nvml = open_nvml(problem);
  if (nvml == nullptr) return std::nullopt;
  std::size_t count = nvml->gpus().size();
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return count;
  const std::string_view list = visible;
  const auto commas = static_cast<std::size_t>(std::count(list.begin(), list.end(), ','));
  return list.empty() ? 0 : std::min(count, commas + 1);
}

// With mpirun and srun the ranks may be on several machines.
void require_gpus(const Experiment& experiment, const RunnerOptions& options) {
  if (options.cpus_only || (options.launcher != "local" && options.launcher != "torchrun")) return;
  const std::optional<std::size_t> count = gpus_here();
  if (!count) return;
  for (const ExperimentPoint& point : experiment.points) {
    if (static_cast<std::size_t>(point.gpus()) <= *count) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{} GPUs are more than this machine has", point.gpus()),
                fmt::format("{} answer{}", *count, *count == 1 ? "s" : ""),
                "leave that number out; --launcher mpirun or srun reaches other machines, --cpus-only takes CPUs");
  }
}

}  // namespace

std::vector<std::string> fill_in(const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& values) {
  std::vector<std::string> filled;
  for (std::string argument : command) {
    for (std::size_t open = argument.find('{'); open != std::string::npos; open = argument.find('{', open)) {
      const std::size_t close = argument.find('}', open);
      if (close == std::string::npos) break;
      const std::string key = argument.substr(open + 1, close - open - 1);
      const auto value = values.find(key);
      const bool is_name = !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
      if (value == values.end()) {
        if (is_name) {
          throw Error(ErrorKind::kUsage, fmt::format("{}: there is no value for {{{}}}", argument, key), {},
                      key == "batch" ? "give --batch" : fmt::format("give --vary {}=…", key));
        }
        open = close;
        continue;
      }
      argument.replace(open, close - open + 1, value->second);
      open += value->second.size();
    }
    filled.push_back(std::move(argument));
  }
  return filled;
}

namespace {

bool is_done(const ExperimentPoint& point, const PlannedRun& run) {
  std::error_code ignored;
  if (!fs::is_directory(point.folder / run.name, ignored)) return false;
  return run.tracing ? point.tracing == run.name : std::ranges::find(point.timing, run.name) != point.timing.end();
}

// Measures what is missing of a point; its point.json names each run as soon as it is there.
void measure_point(const Experiment& experiment, ExperimentPoint point, const std::vector<PlannedRun>& runs,
                   const RunnerOptions& options, Progress& progress) {
  fs::create_directories(point.folder);
  std::error_code ignored;
  if (fs::is_regular_file(point.folder / "point.json", ignored)) {
    const ExperimentPoint done = read_point(point.folder);
    point.timing = done.timing;
    point.tracing = done.tracing;
  }
  for (const PlannedRun& run : runs) {
    if (is_done(point, run)) {
      progress.keep(point, run);
      continue;
    }
    if (interrupted()) stop_interrupted();
    progress.begin(point, run);
    record_run(experiment, point, run, options);
    require_steps(point.folder / run.name, experiment.warmup_steps);
    if (run.tracing) {
      point.tracing = run.name;
    } else if (std::ranges::find(point.timing, run.name) == point.timing.end()) {
      point.timing.push_back(run.name);
    }
    write_point(point);
    progress.end();
  }
}

// Which points have been measured before: those that experiment.json lists, though more repeats are wanted now, and
// those that have all runs that are wanted.
std::vector<bool> measured_before(const Experiment& experiment, const std::vector<PlannedRun>& runs) {
  std::vector<fs::path> listed;
  if (is_experiment(experiment.folder)) {
    for (const ExperimentPoint& point : read_experiment(experiment.folder).points)
      listed.push_back(point.folder);
  }
  std::vector<bool> measured;
  for (const ExperimentPoint& point : experiment.points) {
    std::error_code ignored;
    const bool is_listed = std::ranges::find(listed, point.folder) != listed.end();
    const bool is_there = !is_listed && fs::is_regular_file(point.folder / "point.json", ignored);
    const ExperimentPoint done = is_there ? read_point(point.folder) : ExperimentPoint();
    measured.push_back(is_listed || std::ranges::all_of(runs, [&](const PlannedRun& r) { return is_done(done, r); }));
  }
  return measured;
}

}  // namespace

void run_experiment(Experiment& experiment, const RunnerOptions& options) {
  // Mistakes show now, not after hours of measuring: in the values of every point, then, below, in the first run.
  require_gpus(experiment, options);
  for (const ExperimentPoint& point : experiment.points)
    find_command(fill_in(experiment.command, values_of(point, "timing1")).front());
  const std::vector<PlannedRun> runs = plan(options);
  Progress progress(experiment.points.size() * runs.size(), options.quiet);
  const std::vector<ExperimentPoint> wanted = experiment.points;
  experiment.planned = wanted.size();
  std::vector<bool> measured = measured_before(experiment, runs);
  const auto write_measured = [&] {
    experiment.points.clear();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (measured[i]) experiment.points.push_back(wanted[i]);
    }
    write_experiment(experiment);
  };
  write_measured();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    measure_point(experiment, wanted[i], runs, options, progress);
    measured[i] = true;
    write_measured();
  }
}

}  // namespace swinscope::cli
