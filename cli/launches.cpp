// swinscope launches RUN: from the launching call to the kernel.
#include <memory>

#include <fmt/format.h>

#include "analyzer/analyses/launch_statistics.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct LaunchesOptions {
  CommonOptions common;
  SelectionOptions selection;
  std::string run;
};

int run_launches(const LaunchesOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  Document document;
  document.schema = "launches";
  document.run = trace.path;
  document.warnings = trace.warnings;
  const RunScope scope(trace, options.selection.get());
  document.tables = {launch_table(launch_statistics(trace, scope))};
  if (document.tables.front().rows.empty()) {
    throw Error(ErrorKind::kFailure, trace.path + ": has no kernel records",
                trace.gpu_event_count() == 0 ? "no GPU activity was recorded"
                                             : "only copies, sets or whole CUDA graphs were recorded",
                "run `swinscope info` to see what the trace holds");
  }
  document.notes = {
      fmt::format("All figures are of: {}.", scope.title()),
      "API time: duration of the launching call. Queue time: from its end to the kernel's start. Launch delay: from "
      "its",
      "start to the kernel's start; their sum is the total launch+queue time (TKLQT; AKD is the mean kernel duration: "
      "SKIP, "
      "arXiv 2504.11750)."};
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_launches(CLI::App& app, int& status) {
  auto options = std::make_shared<LaunchesOptions>();
  CLI::App* command = app.add_subcommand("launches", "API time, queue time, launch delay and queue length");
  command->add_option("RUN", options->run, "Trace to analyze")->required();
  options->selection.add_to(*command);
  options->common.add_class_rules(*command);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_launches(*options); });
}

}  // namespace swinscope::cli
