// The events of an open run for other viewers, as `swinscope export` writes them.
#pragma once

#include <optional>

#include "gui/core/opened.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

struct TraceExport {
  std::optional<Problem> problem;  // nothing: the file was written
  QString command;                 // that writes the same
};

// Everything that was recorded: to a name that ends in .json or .json.gz in the format of PyTorch's profiler, which
// Chrome reads, too, and which is of one rank; else for Perfetto. Goes over all events: not for the window's thread.
TraceExport export_trace(const OpenedRun& run, const QString& path);

}  // namespace swinscope::gui
