// A scaling experiment: runs of one program with different numbers of GPUs (or ranks on CPUs), or of another factor.
//
// An experiment is a folder with experiment.json, which names its points; a point is a folder with point.json, which
// names its runs: timing runs (only step ranges recorded), from which every time comes, and one tracing run, from which
// causes come. A run in its subfolder `profile`, such as an import of the framework's own profiler, is where the shares
// of GPU and CPU by the thesis's definition come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/step_work.h"
#include "analyzer/experiment/gpu_price.h"
#include "analyzer/experiment/run_steps.h"
#include "analyzer/facts/job_size.h"
#include "analyzer/importers/named_path.h"
#include "analyzer/trace/step_rule.h"

namespace swinscope {

class OpenedTraces;

struct ExperimentPoint {
  std::filesystem::path folder;
  std::map<std::string, std::string> factors;  // gpus, batch, …
  std::vector<std::string> timing;             // run folders below `folder`
  std::string tracing;                         // empty: none
  std::string traced;                          // what that recorded, as `record --trace`; empty: not known
  std::string profile;                         // as `tracing`, by the framework's own profiler: for the thesis's shares
  std::vector<std::int64_t> given_step_ns;     // step times measured elsewhere, which replace timing runs
  std::string step;                            // how its steps are found (step_rule.h); empty: as the experiment says
  std::string step_how;                        // of its last run, as ScalingRow has it; as the spread for readers only
  std::optional<double> step_spread;           // of its last timing run
  std::size_t planned_runs = 0;                // that were asked for; 0: not known
  std::vector<std::string> gone;               // runs that point.json names and whose folders are not there
  OwnLinks links;                              // among the runs, to folders elsewhere
  int gpus() const;
  std::size_t runs() const { return timing.size() + (tracing.empty() ? 0 : 1); }
  // Whether runs are missing since the measuring was interrupted.
  bool incomplete() const { return runs() + gone.size() < planned_runs; }
};

struct Experiment {
  std::filesystem::path folder;
  std::string mode = "weak";        // weak: batch per GPU constant; strong: global batch constant
  std::string swept = "gpus";       // the factor on the x-axis
  std::int64_t images = 1'280'000;  // of the whole training, constant over points (the thesis's 160,000 x 8)
  // As the user says, of all ranks at the first of the points with the fewest GPUs, or of one rank. 0: as the step
  // ranges' payload says, else batch x ranks where a factor is the batch (add_scaling in
  // analyzer/experiment/scaling.h).
  std::int64_t images_per_step = 0;
  std::int64_t images_per_gpu = 0;
  int warmup_steps = 2;  // left out at the beginning of each run
  GpuPrice price;        // what the training's cost is by
  // How steps are found (step_rule.h): as the user said, and what came of it in the first run; empty: not said, not
  // known yet.
  std::string step_asked;
  std::string step;
  std::vector<std::string> command;
  std::vector<ExperimentPoint> points;
  std::size_t planned = 0;         // points that were asked for; more than are complete: the measuring was interrupted
  std::vector<std::string> gone;   // of its points that have no run left: their folders
  OwnLinks links;                  // among the points, to folders elsewhere
  std::vector<std::string> notes;  // on how it was made, for its readers
  // What its runs were made with, beside the command and the factors: launcher, environment, contents of the program's
  // files. Empty: not known.
  std::map<std::string, std::string> made_with;
};

bool is_experiment(const std::filesystem::path& path);
// Throws Error(kInput) when a file is missing or no valid experiment, or names what is not below its folder (see
// named_path.h), naming the file and what is wrong.
Experiment read_experiment(const std::filesystem::path& folder);
// Atomically replaces experiment.json, point.json. Points are below the experiment's folder, by a link at least.
void write_experiment(const Experiment& experiment);
ExperimentPoint read_point(const std::filesystem::path& folder);
void write_point(const ExperimentPoint& point);

// One point, measured. Times in ns.
// Of the traced run's measured steps, mean over ranks; TKLQT per step.
struct LaunchFigures {
  double tklqt_ns = 0;
  double mean_queue_length = 0;
  double akd_ns = 0;
};

struct ScalingRow {
  ExperimentPoint point;
  bool uses_gpus = false;                    // as far as its runs tell
  bool is_unexplained = false;               // no process of the traced run recorded anything
  bool traced_only = false;                  // CUDA was traced in the runs that the times are of: traced times
  std::vector<std::int64_t> repeat_step_ns;  // per repeat: measured window / steps, slowest rank
  std::int64_t steps = 0;                    // per repeat, without warm-up
  std::int64_t step_ns = 0;                  // median over repeats
  std::optional<std::int64_t>
      step_ci_ns;                     // half width of the 95 % confidence interval of the mean (Student's t), n >= 2
  std::string step_how;               // by what they are found: 'stdout lines "step N loss N"'
  std::optional<double> step_spread;  // of single steps of all repeats: (third - first quartile) / median
  std::optional<StepDrift> drift;     // of the first timing run, where that of each one goes the same way
  bool is_period = false;             // of kernels: as likely a layer as a step
  std::int64_t images_per_step = 0;   // of all ranks; 0 unknown
  std::int64_t train_steps = 0;       // of the whole training: ceil(images / images_per_step); 0 unknown
  std::int64_t train_time_ns = 0;     // train_steps x step_ns; 0 unknown
  std::optional<double> train_cost;   // of its GPUs for that time; nothing without a price of them, or on CPUs
  double images_per_second = 0;
  // Eq. 3.1: time on the baseline / time here, for the same number of images; 0 where it is not known how many images
  // the one or the other takes, and no mode says how they compare.
  double speedup = 0;
  // Eq. 3.3: speedup / (GPUs / baseline GPUs). In a sweep the speedup is that over the point with the fewest GPUs among
  // those whose other factors are the same: a faster program is not a more parallel one. So is the serial fraction's.
  double efficiency = 0;
  // Half widths of their 95 % confidence intervals (analyzer/experiment/scaling.h); nothing for the baseline, which is
  // 1 by definition, and where one of the two points has a single run.
  std::optional<double> speedup_ci;
  std::optional<double> efficiency_ci;
  std::optional<double> karp_flatt;  // serial fraction e = (1/S - 1/p) / (1 - 1/p)
  std::optional<JobSize> job;        // of its first run
  std::optional<Crowding> crowding;  // of its first run, where ranks had to share cores
  std::optional<double> cpu_util;    // all ranks' process trees / (wall x cores allowed), timing runs
  std::optional<double> gpu_busy;    // mean over devices, of the measured steps of the tracing run; as is gpu_compute
  std::optional<double> gpu_compute;
  std::optional<double> thesis_gpu_share;  // ThesisUtilization, mean over ranks; of the profile where there is one
  std::optional<LaunchFigures> launches;   // nothing where no launch was joined with its kernel
  std::optional<std::int64_t> traced_step_ns;
  std::string gpu;                       // that it ran on, of the tracing run: "NVIDIA H200"; empty: not known
  std::shared_ptr<const StepWork> work;  // of the tracing run; null: there is none, or no GPU did anything
  std::size_t base = 0;                  // the row that efficiency is over
  // Work of each GPU in a step over that at `base`: 1 in weak scaling; nothing where that is not known.
  std::optional<double> work_of_base;
  // Traced step time over the timed one, minus 1.
  std::optional<double> distortion() const;
};

// What is said of the steps of a run that has just been made. Throws Error(kUsage) when it has no more of them than the
// warm-up, saying what to do.
RunSteps require_steps(const Experiment& experiment, const ExperimentPoint& point, const std::string& run);

// The rule that an experiment's step_asked comes to in this run, its first one. Nothing where none of kAuto's is met,
// the reasons given.
std::optional<StepRule> resolve_step_rule(const Experiment& experiment, const ExperimentPoint& point,
                                          const std::string& run, std::vector<std::string>& reasons);

// The fewest steps that a rank has in any run of the experiment, warm-up included. Throws Error as scaling_table does.
std::int64_t fewest_steps(const Experiment& experiment);

// Opens every run and measures it; by the number of GPUs. The baseline is the first of the points with the fewest.
// Throws Error when no steps can be found in a run, naming it.
std::vector<ScalingRow> scaling_table(const Experiment& experiment);
// The same; the recordings stay with `traces` for what else is asked of them.
std::vector<ScalingRow> scaling_table(const Experiment& experiment, OpenedTraces& traces);

}  // namespace swinscope
