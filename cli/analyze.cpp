// swinscope analyze RUN: the verdict, then where the time went.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "advisor/advice_columns.h"
#include "advisor/answers.h"
#include "advisor/loss_columns.h"
#include "analyzer/analyses/hta.h"
#include "analyzer/experiment/comparison.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/opened_traces.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/registry.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/selection.h"
#include "store/shell.h"

namespace swinscope::cli {
namespace {

struct AnalyzeOptions {
  CommonOptions common;
  SelectionOptions selection;
  std::string run;
  std::string definition = "swinscope";
  std::size_t top = 10;
  bool list = false;
  bool no_advice = false;
  std::vector<std::string> tables;
};

// A line each: texts of a table would be cut to the width of the terminal.
Document analyses_document() {
  Document document;
  document.schema = "analyses";
  for (const Analysis& analysis : analyses()) {
    const std::string key(analysis.key);
    std::string definition(analysis.definition);
    if (has_advice_columns(key)) definition += fmt::format(" {}", kAdviceColumnsDefinition);
    document.facts.push_back({key, key, definition});
  }
  return document;
}

Document analyze_hta(const Trace& trace) {
  Document document;
  document.schema = "hta";
  document.tables = hta_tables(trace);
  document.notes = {"Figures as Holistic Trace Analysis defines them: of the whole trace, in whole microseconds."};
  return document;
}

Document analyze_run(const Trace& trace, const AnalyzeOptions& options) {
  const RunFacts run(trace, options.selection.get());
  if (!options.tables.empty()) return tables_document(run, options.tables, options.top);
  return analysis_of(
      run,
      {.top = options.top, .thesis = options.definition == "thesis", .verdict_facts = options.common.format != "table"},
      !options.no_advice);
}

std::vector<std::string> keys_of_analyses() {
  std::vector<std::string> keys;
  for (const Analysis& analysis : analyses())
    keys.emplace_back(analysis.key);
  return keys;
}

// Experiments and folders of independent runs, which are more than a run; nothing of a run.
std::optional<int> analyze_several(const AnalyzeOptions& options) {
  if (is_experiment(options.run)) {
    options.selection.refuse_for(options.run);
    options.common.warn_of_class_rules();
    const Experiment experiment = read_experiment(options.run);
    OpenedTraces traces;
    const std::vector<ScalingRow> rows = scaling_table(experiment, traces);
    Document document = experiment_document(experiment, rows);
    add_loss_columns(experiment, rows, traces, document);
    print_warnings(document.warnings, options.common);
    emit(document, options.common);
    return 0;
  }
  if (const auto experiments = experiments_at(options.run); !experiments.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: {} experiments", options.run, experiments.size()), {},
                fmt::format("`swinscope compare {}` for all, or `swinscope analyze {}` for one",
                            path_argument(options.run), path_argument(experiments.front().string())));
  }
  if (const auto runs = independent_runs(options.run); !runs.empty())
    return show_runs(open_runs(runs, options.selection.get(), options.common), {}, options.common);
  return std::nullopt;
}

int run_analyze(const AnalyzeOptions& options) {
  if (options.list) {
    emit(analyses_document(), options.common);
    return 0;
  }
  if (options.run.empty()) {
    throw Error(ErrorKind::kUsage, "RUN is required", {},
                "`swinscope analyze --help` lists what it takes; --list needs no RUN");
  }
  // Tables are of a run: an experiment stands for its largest one.
  if (const auto status = options.tables.empty() ? analyze_several(options) : std::nullopt) return *status;
  const Trace trace = open_run(options.run, options.common);
  Document document =
      options.definition == "hta" && options.tables.empty() ? analyze_hta(trace) : analyze_run(trace, options);
  document.run = trace.path;
  document.warnings = trace.warnings;
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_analyze(Program& program) {
  auto options = std::make_shared<AnalyzeOptions>();
  Command& command =
      program.add_command("analyze", "What the run is bound by, utilization, time breakdown, top kernels");
  const Option run = command.option("RUN", options->run, "Trace, experiment, or folder of independent runs to analyze");
  command
      .flag("--list", options->list, "List the tables that there are of a run, with the definitions of their figures")
      .excludes(run);
  command
      .option("--table", options->tables, "Only these tables of a run, by their keys as --list shows them: gaps,idle")
      .separated_by(',')
      .one_word_each()
      .one_of(keys_of_analyses());
  command
      .option("--definition", options->definition,
              "swinscope, thesis (adds the share of summed kernel and CPU operation time), or hta (figures as "
              "Holistic Trace Analysis computes them)")
      .one_of({"swinscope", "thesis", "hta"})
      .variable("SWINSCOPE_DEFINITION");
  command.flag("--no-advice", options->no_advice,
               "Without what `swinscope advise` would do next, which takes a replay");
  command.option("--top", options->top, "Kernels, or gaps, to list").show_default().not_negative();
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.tables.add_sorting_to(command);
  options->common.add_to(command);
  command.does([options] { return run_analyze(*options); });
}

}  // namespace swinscope::cli
