// Independent runs beside each other: what each was, how fast its steps were, what bounds it, and, against a base, why
// its steps take longer (work_difference.h).
//
// images/s, GPU busy and what a run is bound by are those of key_figures.h and verdict.h, each run's own scope. Runs
// are compared by images/s where all of them say how many images a step takes, else by the length of their steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/analyses/evidence.h"
#include "analyzer/analyses/step_work.h"
#include "analyzer/experiment/normalization.h"
#include "analyzer/experiment/work_difference.h"
#include "analyzer/facts/selection.h"
#include "analyzer/table/render.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct ComparedRun {
  std::string name;                  // as the reader knows it
  std::vector<std::string> command;  // empty: not recorded
  std::int64_t steps = 0;
  std::optional<std::int64_t> step_ns;
  std::optional<double> images_per_second;
  std::optional<double> images_per_step;
  std::optional<double> gpu_busy;  // 0..1
  std::string bound;               // empty: not judged
  StepWork work;
  ScopeSql sql;                          // of its scope
  std::int64_t gpus = 0;                 // that did anything
  std::optional<double> watts;           // of all of these
  std::optional<double> price_per_hour;  // of one of them, as the user says
  std::vector<Fact> configuration;       // of its environment what tells platforms apart
  std::set<std::string> gpu_names;       // of all ranks; empty: not recorded
  std::int64_t ranks = 0;                // of the job, as the trace says, else those that are there
  std::string recorded_by;               // "swinscope", "kineto" or "nsys"
  std::vector<std::string> warnings;
  bool corrupt = false;
};

ComparedRun compared_run(const Trace& trace, const std::string& name, const Selection& selection);
// Of what is known of the trace already.
ComparedRun compared_run(const RunFacts& analysis, const std::string& name);

// What runs are called beside each other: the last parts of their paths where they tell all of them apart, else the
// paths without the folders that all share.
std::vector<std::string> short_names(const std::vector<std::filesystem::path>& paths);

enum class RunOrder : std::uint8_t {
  kFastestFirst,  // speed is over the slowest
  kAsGiven,       // speed is over the first
};
struct RunsOptions {
  RunOrder order = RunOrder::kFastestFirst;
  Normalization by = Normalization::kStep;  // what is said of why; the runs must allow it (why_not())
  std::size_t top = 10;  // kernels and layers whose time changed most, of each run over the base; 0: all
};
// There must be a run. Unlike work is said before any ratio. Of runs as they are given the finding is of the second one
// over the first: low confidence where they do not do the same work; high where both are of one kind of GPU, say their
// images and their noise, and nothing is doubtful.
Document runs_document(std::vector<ComparedRun> runs, const RunsOptions& options);

// What the other run's step takes beyond the base's, as runs_document() has it.
WorkDifference difference_of(const ComparedRun& base, const ComparedRun& run);

// SQL for the run whose rows are the calls of the kernel with this short name, or, where it has none of it, all work.
std::string work_sql(const ComparedRun& run, const std::string& kernel);

// What is slower than in the base by more than a share of it (0.05: 5 %), beyond the noise: the step, and kernels that
// take at least kGatedShare of the base's step.
inline constexpr double kGatedShare = 0.01;
struct Regression {
  std::string what;  // "the step", or a kernel
  double base_ns = 0;
  double ns = 0;
  double percent() const { return 100 * (ns - base_ns) / base_ns; }
  std::string text() const;  // "gelu takes 140 ns instead of 100 ns per step (+40.0 %)"
};
// Of steps that can be judged: empty where nothing is slower.
std::vector<Regression> regressions_of(const WorkDifference& work, double above);

// Of each run over the first one, a line each; empty: nothing is slower.
struct Regressions {
  std::vector<std::string> slower;
  std::vector<std::string> not_judged;  // why a run cannot be judged
};
Regressions find_regressions(const std::vector<ComparedRun>& runs, double above);

}  // namespace swinscope
