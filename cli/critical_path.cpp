// swinscope critical-path RUN: what decides how long a step takes.
#include "advisor/critical_path.h"

#include <memory>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct CriticalPathOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  NamesOption names;
  std::string run;
};

int run_critical_path(const CriticalPathOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  const RunFacts run(trace, options.selection.get());
  const DependencyGraph graph = make_graph(run);
  const Replay replayed = replay(graph);
  const ReplayError error = replay_error(graph, replayed, run);
  const CriticalPath path = find_critical_path(graph, replayed, run);
  Document document;
  document.schema = "critical_path";
  document.run = options.run;
  document.warnings = trace.warnings;
  document.facts = {{"step_ns", "step, replayed", error.replayed_step_ns, Unit::kDuration},
                    {"traced_step_ns", "step, traced", error.traced_step_ns, Unit::kDuration},
                    {"replay_error_percent", "replay error", 100 * error.step_error(), Unit::kPercent}};
  document.tables = {path_cause_table(path), path_name_table(path, graph, run, options.names.style())};
  options.table.apply(document.tables.back(), "name");
  document.notes = {
      "Of each piece the one before it decided when it began; together they are the step of the rank that takes "
      "longest.",
      "What is not on the path can be made faster without any gain."};
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_critical_path(Program& program) {
  auto options = std::make_shared<CriticalPathOptions>();
  Command& command =
      program.add_command("critical-path", "The chain of work, calls and host time that decides the step");
  command.option("RUN", options->run, "Trace to analyze").required();
  options->selection.add_to(command);
  options->names.add_to(command);
  options->table.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_critical_path(*options); });
}

}  // namespace swinscope::cli
