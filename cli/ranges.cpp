// swinscope ranges RUN: host and GPU time by the ranges that a program annotated.
#include <memory>

#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct RangesOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  std::string by = "path";
  RangeOptions ranges;
};

int run_ranges(RangesOptions options) {
  const Trace trace = open_run(options.run, options.common);
  options.ranges.grouping = options.by == "name" ? RangeGrouping::kName : RangeGrouping::kPath;
  Document document = ranges_document(RunFacts(trace, options.selection.get()), options.ranges);
  options.table.apply(document.tables.front(), "path");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_ranges(CLI::App& app, int& status) {
  auto options = std::make_shared<RangesOptions>();
  CLI::App* command = app.add_subcommand("ranges", "Host and GPU time by NVTX range or annotation, of any program");
  command->add_option("RUN", options->run, "Trace to analyze")->required();
  command->add_option("--by", options->by, "One row per: path (names of the ranges around it, and its own) or name")
      ->check(CLI::IsMember({"path", "name"}));
  command->add_option("--depth", options->ranges.depth, "Only paths of up to N names")->check(CLI::PositiveNumber);
  command->add_option("--domain", options->ranges.domain,
                      "Only ranges of domains whose name matches this POSIX extended regular expression");
  command->add_flag("--operators", options->ranges.operators, "With the operators of a PyTorch trace");
  command->add_flag("--python", options->ranges.python, "With the Python functions of a PyTorch trace");
  command->add_flag("--by-rank", options->ranges.by_rank, "One row per rank");
  command->add_flag("--numbers-apart", options->ranges.numbers_apart,
                    "One row for each step, and for each of a thousand names that differ in a number only");
  options->table.add_to(*command);
  options->selection.add_to(*command);
  options->common.add_class_rules(*command);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_ranges(*options); });
}

}  // namespace swinscope::cli
