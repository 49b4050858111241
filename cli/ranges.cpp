// swinscope ranges RUN: host and GPU time by the ranges that a program annotated.
#include "analyzer/analyses/ranges.h"

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

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

// Why there are no rows, and what to do. Throws.
[[noreturn]] void refuse(const Trace& trace, const RunScope& scope, const RangesOptions& options,
                         const RangeTable& table) {
  bool has_ranges = false;
  for (const Rank& rank : trace.ranks)
    has_ranges = has_ranges || rank.ranges.size() > 0;
  if (!has_ranges) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no ranges", trace.path),
                "the program annotated nothing, or NVTX was not recorded",
                "annotate it with NVTX (Python: pip install nvtx; torch.cuda.nvtx.range) and record again");
  }
  if (table.left_out_operators + table.left_out_python > 0) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no annotations", trace.path),
                fmt::format("its ranges are {} operators and {} Python functions of PyTorch", table.left_out_operators,
                            table.left_out_python),
                table.left_out_operators > 0 ? "--operators shows the operators" : "--python shows the functions");
  }
  if (!options.ranges.domain.empty()) {
    std::vector<std::string> domains;
    for (const std::string& domain : table.domains)
      domains.push_back(domain.empty() ? "the default domain, whose name is empty" : domain);
    throw Error(ErrorKind::kFailure,
                fmt::format("{}: no range in a domain that matches {}", trace.path, options.ranges.domain),
                fmt::format("it has ranges in: {}", fmt::join(domains, ", ")),
                "--domain takes a POSIX extended regular expression");
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: no range lies in the scope", trace.path),
              fmt::format("the figures are of: {}", scope.title()), "--scope trace shows those of the whole trace");
}

std::vector<std::string> notes(const RunScope& scope, const RangesOptions& options, const RangeTable& table) {
  std::vector<std::string> notes = {fmt::format("All figures are of: {}.", scope.title())};
  if (table.left_out_operators > 0) {
    notes.push_back(
        fmt::format("{} operators of PyTorch are left out: --operators shows them, `swinscope layers` adds "
                    "them up.",
                    table.left_out_operators));
  }
  if (table.left_out_python > 0)
    notes.push_back(fmt::format("{} Python functions are left out: --python shows them.", table.left_out_python));
  if (table.joined_names > 0) {
    notes.push_back(
        fmt::format("{} names that differ only in the number at their end share rows (…*): --numbers-apart "
                    "shows each.",
                    table.joined_names));
  }
  if (table.open_ranges > 0) {
    notes.push_back(fmt::format("{} of the trace's ranges were open when the recording ended, and end with it here.",
                                table.open_ranges));
  }
  if (options.ranges.grouping == RangeGrouping::kName)
    notes.emplace_back("A range within one of the same name is a call; its time is part of the outer one's.");
  if (table.unknown_launch_ns > 0)
    notes.emplace_back("The launching call of some GPU events was not recorded: they belong to no range.");
  return notes;
}

int run_ranges(RangesOptions options) {
  const Trace trace = open_run(options.run, options.common);
  options.ranges.grouping = options.by == "name" ? RangeGrouping::kName : RangeGrouping::kPath;
  const RunScope scope(trace, options.selection.get());
  const RangeTable table = range_table(trace, scope, options.ranges);
  if (table.rows.empty()) refuse(trace, scope, options, table);
  Document document;
  document.schema = "ranges";
  document.run = trace.path;
  document.warnings = trace.warnings;
  const auto share = [&](std::int64_t part) {
    return table.gpu_ns == 0 ? Cell() : Cell(100.0 * static_cast<double>(part) / static_cast<double>(table.gpu_ns));
  };
  document.facts = {
      {"steps", "steps", scope.step_count(), Unit::kCount},
      {"gpu_ns", "GPU time", table.gpu_ns, Unit::kDuration},
      {"gpu_in_ranges_percent", "launched in a range", share(table.in_ranges_ns), Unit::kPercent},
      {"gpu_unknown_launch_percent", "launch not recorded", share(table.unknown_launch_ns), Unit::kPercent}};
  if (trace.gpu_event_count() == 0) document.facts.resize(1);
  document.tables = {range_rows_table(trace, scope, table.rows)};
  document.notes = notes(scope, options, table);
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
