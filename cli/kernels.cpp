// swinscope kernels RUN: GPU time by kernel.
#include <memory>

#include "advisor/advice_columns.h"
#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct KernelsOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  NamesOption names;
  std::string by = "name";
  bool by_rank = false;
  bool no_advice = false;
};

KernelGrouping grouping_of(const std::string& by) {
  if (by == "operation") return KernelGrouping::kOperation;
  if (by == "class") return KernelGrouping::kClass;
  return by == "short" ? KernelGrouping::kShortName : KernelGrouping::kName;
}

int run_kernels(const KernelsOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  KernelTableOptions how;
  how.by_rank = options.by_rank;
  how.grouping = grouping_of(options.by);
  const NameStyle style = how.grouping == KernelGrouping::kName ? options.names.style() : NameStyle::kFull;
  const RunFacts run(trace, options.selection.get());
  Document document = kernels_document(run, how, style);
  const bool is_of_kernels = how.grouping == KernelGrouping::kName || how.grouping == KernelGrouping::kShortName;
  if (!options.no_advice)
    add_advice_columns(document.tables, run, is_of_kernels ? advisor_if_quick(run).get() : nullptr);
  options.table.apply(document.tables.front(), "name");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_kernels(Program& program) {
  auto options = std::make_shared<KernelsOptions>();
  Command& command = program.add_command("kernels", "GPU time by kernel, operation or class");
  command.option("RUN", options->run, "Trace to analyze").required();
  command.option("--by", options->by, "One row per: name (full), short (name), operation or class")
      .one_of({"name", "short", "operation", "class"});
  options->names.add_to(command);
  command.flag("--by-rank", options->by_rank, "One row per rank");
  command.flag("--no-advice", options->no_advice, "Without what `swinscope advise` says of them, which takes a replay");
  options->table.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_kernels(*options); });
}

}  // namespace swinscope::cli
