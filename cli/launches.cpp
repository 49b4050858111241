// swinscope launches RUN: from the launching call to the kernel.
#include <memory>

#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct LaunchesOptions {
  CommonOptions common;
  SelectionOptions selection;
  std::string run;
};

int run_launches(const LaunchesOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  emit(launches_document(RunFacts(trace, options.selection.get())), options.common);
  return status_of(trace);
}

}  // namespace

void add_launches(Program& program) {
  auto options = std::make_shared<LaunchesOptions>();
  Command& command = program.add_command("launches", "API time, queue time, launch delay and queue length");
  command.option("RUN", options->run, "Trace to analyze").required();
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_launches(*options); });
}

}  // namespace swinscope::cli
