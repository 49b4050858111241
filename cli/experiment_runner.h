// Runs the points of a scaling experiment or a sweep, one after the other, and keeps what is done: an interrupted
// experiment goes on where it stopped.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "cli/command.h"
#include "cli/launcher_line.h"
#include "collector/base/trace_options.h"

namespace swinscope::cli {

struct RunnerOptions {
  Launcher launcher;
  int repeat = 3;
  bool trace = true;                  // the tracing pass
  TraceOptions traced{.sync = true};  // what it records
  bool cpus_only = false;
  double sample_hz = 10;
  bool quiet = false;
  bool progress = true;                            // which run is measured, and how long the rest may take
  std::function<void(const std::string&)> report;  // of recordings, a line each
};

// Replaces {gpus}, {batch}, {out} and every {KEY} among the factors. Throws Error(kUsage) for a placeholder without a
// value.
std::vector<std::string> fill_in(const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& values);

// Measures every point of `experiment` (factors and step_asked given, folders below experiment.folder) and writes
// experiment.json before the first and after each run, so that it is readable at any moment. Runs that are there are
// kept. How steps are found is settled by the first run (step_rule.h) and holds for all. What the programs print goes
// to stdout.log in the folder of the run, and to stderr where that is a terminal. Throws Error when a run fails or has
// no steps; what was measured before stays.
void run_experiment(Experiment& experiment, const RunnerOptions& options);

}  // namespace swinscope::cli
