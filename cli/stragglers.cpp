// swinscope stragglers RUN: what ranks that others wait for cost a job, and whose fault it is.
#include "advisor/stragglers.h"

#include <memory>

#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct StragglersOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
};

int run_stragglers(const StragglersOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  const RunFacts run(trace, options.selection.get());
  const Stragglers stragglers = find_stragglers(make_graph(run), run);
  print_warnings(stragglers.doubts, options.common);
  Document document = straggler_document(trace, stragglers);
  if (!document.tables.empty()) options.table.apply(document.tables.front(), "host");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_stragglers(Program& program) {
  auto options = std::make_shared<StragglersOptions>();
  Command& command = program.add_command("stragglers", "What slow ranks, stages and steps cost a job of several ranks");
  command.option("RUN", options->run, "Run to analyze: the folder with the files of all ranks").required();
  options->selection.add_to(command);
  options->table.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_stragglers(*options); });
}

}  // namespace swinscope::cli
