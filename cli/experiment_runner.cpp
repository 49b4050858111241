#include "cli/experiment_runner.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "analyzer/base/text.h"
#include "analyzer/facts/output_lines.h"
#include "analyzer/importers/open.h"
#include "cli/store_timelines.h"
#include "collector/launcher/command.h"
#include "collector/launcher/output_log.h"
#include "collector/launcher/record.h"
#include "collector/sampling/nvml.h"
#include "store/error.h"
#include "store/private_file.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

// Of a command that Ctrl+C ended.
constexpr int kCommandInterrupted = 128 + SIGINT;

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

[[noreturn]] void stop_interrupted() {
  throw Error(ErrorKind::kInterrupted, "the experiment was interrupted", {},
              "run the same command to go on; finished runs are kept");
}

// What the programs print is no part of our data: it is kept beside the run.
int record_printing(const RecordOptions& options, const Launcher& launcher) {
  OutputLogOptions where{options.folder / kOutputLog, options.folder / kOutputTimes, -1};
  if (isatty(STDERR_FILENO) != 0) where.echo_to = STDERR_FILENO;
  try {
    OutputLog log(where);
    // Into a pipe Python prints in blocks. On a terminal it prints by lines, which ranks that share it do not tear;
    // told to buffer nothing it prints by words, which they do.
    if (!log.is_terminal() || launcher.name == "srun") {
      setenv("PYTHONUNBUFFERED", "1", 0);
    } else {
      unsetenv("PYTHONUNBUFFERED");
    }
    const int status = record(options);
    if (const std::string problem = log.finish(); !problem.empty())
      fmt::print(stderr, "swinscope: what the program printed is not kept: {}\n", problem);
    return status;
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(where.log, ignored);
    fs::remove(where.times, ignored);
    throw;
  }
}

[[noreturn]] void refuse_failed(const fs::path& folder, int status, const Launcher& launcher) {
  const std::string advice = launcher_advice(launcher);
  throw Error(
      ErrorKind::kFailure, fmt::format("{}: the command ended with status {}", folder.string(), status),
      fmt::format("its messages stand above, and what it printed in {}", (folder / kOutputLog).string()),
      fmt::format(
          "fix what failed and rerun: finished runs are kept while command, program and environment stay; after a "
          "change of these, --force measures all again{}{}",
          advice.empty() ? "" : "; ", advice));
}

// How much of CUDA a run records: of the timing runs nothing, or what tells of launches, each graph as one.
enum class CudaPart { kNone, kLaunches, kAll };

CudaPart cuda_part(const Experiment& experiment, const PlannedRun& run) {
  if (run.tracing) return CudaPart::kAll;
  return parse_step_rule(experiment.step).source == StepSource::kLaunches ? CudaPart::kLaunches : CudaPart::kNone;
}

void record_run(const Experiment& experiment, const ExperimentPoint& point, const PlannedRun& run, CudaPart cuda,
                const RunnerOptions& options) {
  const fs::path folder = point.folder / run.name;
  std::error_code error;
  fs::remove_all(folder, error);  // of an attempt that was interrupted

  RecordOptions record_options;
  record_options.folder = folder;
  record_options.command =
      launcher_line(options.launcher, point.gpus(), fill_in(experiment.command, values_of(point, run.name)));
  record_options.sample_hz = options.sample_hz;
  if (run.tracing) record_options.trace = options.traced;
  if (!run.tracing) record_options.trace.cuda = cuda != CudaPart::kNone;
  record_options.trace.graph_level = cuda == CudaPart::kLaunches;
  record_options.report = options.report;
  const int status = record_printing(record_options, options.launcher);
  if (status == kCommandInterrupted || interrupted()) stop_interrupted();
  if (status != 0) refuse_failed(folder, status, options.launcher);
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
  if (options.cpus_only || (options.launcher.name != "local" && options.launcher.name != "torchrun")) return;
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

// A tracing run that recorded something else than is asked for is made again.
bool is_done(const ExperimentPoint& point, const PlannedRun& run, const RunnerOptions& options) {
  std::error_code ignored;
  if (!fs::is_directory(point.folder / run.name, ignored)) return false;
  if (run.tracing && !point.traced.empty() && point.traced != trace_list(options.traced)) return false;
  return run.tracing ? point.tracing == run.name : std::ranges::find(point.timing, run.name) != point.timing.end();
}

// The runs of a point that are there.
ExperimentPoint with_runs(ExperimentPoint point) {
  std::error_code ignored;
  if (!fs::is_regular_file(point.folder / "point.json", ignored)) return point;
  const ExperimentPoint done = read_point(point.folder);
  point.timing = done.timing;
  point.tracing = done.tracing;
  point.traced = done.traced;
  point.step_how = done.step_how;
  point.step_spread = done.step_spread;
  return point;
}

// experiment.json lists the points that have a timing run.
class ExperimentFile {
 public:
  ExperimentFile(Experiment& experiment, std::size_t runs) : experiment_(experiment), wanted_(experiment.points) {
    experiment_.planned = wanted_.size();
    for (ExperimentPoint& point : wanted_)
      point.planned_runs = runs;
  }

  const std::vector<ExperimentPoint>& wanted() const { return wanted_; }

  void write() {
    experiment_.points.clear();
    for (const ExperimentPoint& point : wanted_) {
      if (!with_runs(point).timing.empty()) experiment_.points.push_back(point);
    }
    write_experiment(experiment_);
  }

 private:
  Experiment& experiment_;
  std::vector<ExperimentPoint> wanted_;
};

// What is said of one run may be true of all: once is enough.
RunnerOptions reporting_once(RunnerOptions options) {
  options.report = [said = std::set<std::string>(), quiet = options.quiet](const std::string& line) mutable {
    if (said.insert(line).second && !quiet) fmt::print(stderr, "swinscope: {}\n", line);
  };
  return options;
}

// Runs of one experiment, in the order of the plan.
class Measuring {
 public:
  Measuring(Experiment& experiment, const RunnerOptions& options)
      : experiment_(experiment),
        options_(reporting_once(options)),
        runs_(plan(options)),
        file_(experiment, runs_.size()),
        progress_(file_.wanted().size() * runs_.size(), options.quiet || !options.progress) {}

  void run() {
    file_.write();
    for (const ExperimentPoint& point : file_.wanted())
      measure_point(with_runs(point));
  }

 private:
  void measure_point(ExperimentPoint point) {
    make_private_folder(point.folder);
    for (const PlannedRun& run : runs_) {
      if (is_done(point, run, options_)) {
        progress_.keep(point, run);
        if (experiment_.step.empty()) settle_steps(point, run, false);
      } else {
        measure(point, run);
      }
      write_down(point);
    }
  }

  void measure(ExperimentPoint& point, const PlannedRun& run) {
    if (interrupted()) stop_interrupted();
    progress_.begin(point, run);
    const bool is_first = experiment_.step.empty();
    record_run(experiment_, point, run, cuda_part(experiment_, run), options_);
    if (is_first) settle_steps(point, run, true);
    const RunSteps steps = require_steps(experiment_, point, run.name);
    point.step_how = steps.how;
    if (!run.tracing) point.step_spread = spread(steps.single_ns);
    if (is_first) say(steps);
    if (run.tracing) {
      point.tracing = run.name;
      point.traced = trace_list(options_.traced);
    } else if (std::ranges::find(point.timing, run.name) == point.timing.end()) {
      point.timing.push_back(run.name);
    }
    progress_.end();
  }

  void write_down(ExperimentPoint& point) {
    point.step = experiment_.step;
    write_point(point);
    file_.write();
  }

  // By the first run that there is: what `step_asked` comes to in it.
  void settle_steps(const ExperimentPoint& point, const PlannedRun& run, bool may_record) {
    std::vector<std::string> reasons;
    std::optional<StepRule> rule = resolve_step_rule(experiment_, point, run.name, reasons);
    const bool needs_launches = !rule || rule->source == StepSource::kLaunches;
    if (needs_launches && may_record && !options_.cpus_only) {
      const bool was_asked = rule.has_value();
      record_launches(point, run);
      if (!was_asked) rule = resolve_step_rule(experiment_, point, run.name, reasons);
      if (!rule) reasons.emplace_back("no launches of CUDA repeat");
    }
    if (!rule) refuse_without_steps(point, run, reasons);
    experiment_.step = text_of(*rule);
  }

  // Once more with launches: how much longer it takes is what their recording costs.
  void record_launches(const ExperimentPoint& point, const PlannedRun& run) {
    const fs::path folder = point.folder / run.name;
    const auto took_ns = [&] {
      const std::optional<Interval> whole = whole_run(open_trace(folder));
      return whole ? whole->length() : 0;
    };
    const std::int64_t without_ns = took_ns();
    if (!options_.quiet) fmt::print(stderr, "swinscope: once more, with the launches of CUDA recorded\n");
    record_run(experiment_, point, run, CudaPart::kLaunches, options_);
    const std::int64_t with_ns = took_ns();
    if (without_ns <= 0) return;
    experiment_.notes.push_back(fmt::format(
        "Timing runs recorded the launches of CUDA: the first one took {} with them and {} without ({:+.1f} %).",
        format_duration(with_ns), format_duration(without_ns),
        100 * (static_cast<double>(with_ns) / static_cast<double>(without_ns) - 1)));
  }

  [[noreturn]] static void refuse_without_steps(const ExperimentPoint& point, const PlannedRun& run,
                                                std::vector<std::string> reasons) {
    std::vector<std::string> said;
    for (std::string& reason : reasons) {
      if (std::ranges::find(said, reason) == said.end()) said.push_back(std::move(reason));
    }
    throw Error(ErrorKind::kUsage, fmt::format("{} has no steps", (point.folder / run.name).string()),
                said.empty() ? "nothing in it repeats" : fmt::format("{}", fmt::join(said, "; ")), step_hint());
  }

  void say(const RunSteps& steps) const {
    if (options_.quiet) return;
    const std::optional<double> width = spread(steps.single_ns);
    fmt::print(stderr, "swinscope: step by {}: {}{}\n", steps.how, format_counted(steps.steps, "steps"),
               width ? fmt::format(", spread {:.1f} %", 100 * *width) : "");
  }

  Experiment& experiment_;
  RunnerOptions options_;
  std::vector<PlannedRun> runs_;
  ExperimentFile file_;
  Progress progress_;
};

}  // namespace

void run_experiment(Experiment& experiment, const RunnerOptions& options) {
  // Mistakes show now, not after hours of measuring: in the values of every point, then in the first run.
  require_gpus(experiment, options);
  for (const ExperimentPoint& point : experiment.points)
    require_launcher(options.launcher, fill_in(experiment.command, values_of(point, "timing1")));
  Measuring(experiment, options).run();
}

}  // namespace swinscope::cli
