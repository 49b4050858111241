// Runs beside each other, for `analyze FOLDER` of independent runs and `compare RUN RUN…`.
#pragma once

#include <filesystem>
#include <vector>

#include "analyzer/experiment/run_comparison.h"
#include "cli/command.h"

namespace swinscope::cli {

// Opens the runs, prints figures of the selection of each beside each other and returns the exit status. A run that
// cannot be read is a warning as long as two can; then the status is that of damaged input. Throws Error.
int show_runs(const std::vector<std::filesystem::path>& runs, RunOrder order, const Selection& selection,
              const CommonOptions& options);

}  // namespace swinscope::cli
