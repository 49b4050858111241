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

void add_ranges(Program& program) {
  auto options = std::make_shared<RangesOptions>();
  Command& command = program.add_command("ranges", "Host and GPU time by NVTX range or annotation, of any program");
  command.option("RUN", options->run, "Trace to analyze").required();
  command.option("--by", options->by, "One row per: path (names of the ranges around it, and its own) or name")
      .one_of({"path", "name"});
  command.option("--depth", options->ranges.depth, "Only paths of up to N names").positive();
  command.option("--domain", options->ranges.domain,
                 "Only ranges of domains whose name matches this regular expression");
  command.flag("--operators", options->ranges.operators, "With the operators of a PyTorch trace");
  command.flag("--python", options->ranges.python, "With the Python functions of a PyTorch trace");
  command.flag("--by-rank", options->ranges.by_rank, "One row per rank");
  command.flag("--numbers-apart", options->ranges.numbers_apart,
               "One row for each step, and for each of a thousand names that differ in a number only");
  options->table.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_ranges(*options); });
}

}  // namespace swinscope::cli
