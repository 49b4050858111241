// Runs beside each other, for `analyze FOLDER` of independent runs and `compare RUN RUN…`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/experiment/run_comparison.h"
#include "cli/command.h"

namespace swinscope::cli {

struct OpenedRuns {
  std::vector<ComparedRun> runs;
  std::vector<std::string> paths;
  std::vector<std::string> unreadable;  // a line each: a warning, as long as two can be read
  bool is_damaged() const;
};
// Throws Error.
OpenedRuns open_runs(const std::vector<std::filesystem::path>& runs, const Selection& selection,
                     const CommonOptions& options);

// Prints the figures of the selection of each beside each other and returns the exit status.
int show_runs(const OpenedRuns& opened, const RunsOptions& how, const CommonOptions& options);

}  // namespace swinscope::cli
