// swinscope layers RUN: time, FLOPs and bytes by layer path; modules and operators of PyTorch.
#include <memory>

#include "advisor/advice_columns.h"
#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct LayersOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  LayerOptions layers;
  bool joined_phases = false;
  bool no_advice = false;
};

int run_layers(LayersOptions options) {
  const Trace trace = open_run(options.run, options.common);
  options.layers.by_phase = !options.joined_phases;
  const RunFacts run(trace, options.selection.get());
  Document document = layers_document(run, options.layers);
  if (!options.no_advice) add_advice_columns(document.tables, run, advisor_if_quick(run).get());
  options.table.apply(document.tables.front(), "path");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_layers(Program& program) {
  auto options = std::make_shared<LayersOptions>();
  Command& command = program.add_command(
      "layers", "Time, FLOPs and bytes by layer: annotated operations, or PyTorch's modules and operators");
  command.option("RUN", options->run, "Trace to analyze").required();
  command.option("--depth", options->layers.depth, "Group by the first N parts of the layer path").positive();
  command.flag("--join-phases", options->joined_phases, "Forward and backward in one row");
  command.flag("--by-shape", options->layers.by_dims, "One row for each shape of a PyTorch operator's inputs");
  command.flag("--no-advice", options->no_advice, "Without what `swinscope advise` says of them, which takes a replay");
  options->table.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_layers(*options); });
}

}  // namespace swinscope::cli
