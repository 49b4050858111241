// swinscope collectives RUN: who waits for whom at which collectives, and how fast these transfer.
#include <memory>

#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct CollectivesOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
};

int run_collectives(const CollectivesOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  Document document = collectives_document(RunFacts(trace, options.selection.get()));
  options.table.apply(document.tables.front(), "kind");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_collectives(Program& program) {
  auto options = std::make_shared<CollectivesOptions>();
  Command& command = program.add_command(
      "collectives", "Transfer, wait, arrival spread and bandwidth of the collectives of all ranks");
  command.option("RUN", options->run, "Trace to analyze: the folder with the files of all ranks").required();
  options->table.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_collectives(*options); });
}

}  // namespace swinscope::cli
