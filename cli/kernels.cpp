// swinscope kernels RUN: GPU time by kernel.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/time_breakdown.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct KernelsOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  std::string names = "short";
  std::string by = "name";
  bool by_rank = false;
};

int run_kernels(const KernelsOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  if (trace.gpu_event_count() == 0) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no kernel records", trace.path),
                "no GPU activity was recorded", "run `swinscope info` to see what the trace holds");
  }
  KernelTableOptions how;
  how.by_rank = options.by_rank;
  how.grouping = options.by == "operation" ? KernelGrouping::kOperation
                 : options.by == "class"   ? KernelGrouping::kClass
                 : options.by == "short"   ? KernelGrouping::kShortName
                                           : KernelGrouping::kName;
  const NameStyle style = how.grouping != KernelGrouping::kName || options.names == "full" ? NameStyle::kFull
                          : options.names == "mangled"                                     ? NameStyle::kMangled
                                                                                           : NameStyle::kShort;
  Document document;
  document.schema = "kernels";
  document.run = trace.path;
  document.warnings = trace.warnings;
  const RunScope scope(trace, options.selection.get());
  document.tables = {
      kernel_rows_table(trace, scope, kernel_table(trace, scope, time_breakdown(trace, scope), how), style)};
  document.notes = {fmt::format("All figures are of: {}.", scope.title())};
  options.table.apply(document.tables.front(), "name");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_kernels(CLI::App& app, int& status) {
  auto options = std::make_shared<KernelsOptions>();
  CLI::App* command = app.add_subcommand("kernels", "GPU time by kernel, operation or class");
  command->add_option("RUN", options->run, "Trace to analyze")->required();
  command->add_option("--by", options->by, "One row per: name (full), short (name), operation or class")
      ->check(CLI::IsMember({"name", "short", "operation", "class"}));
  command->add_option("--names", options->names, "short, full or mangled (where it was recorded)")
      ->check(CLI::IsMember({"short", "full", "mangled"}))
      ->envname("SWINSCOPE_NAMES");
  command->add_flag("--by-rank", options->by_rank, "One row per rank");
  options->table.add_to(*command);
  options->selection.add_to(*command);
  options->common.add_class_rules(*command);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_kernels(*options); });
}

}  // namespace swinscope::cli
