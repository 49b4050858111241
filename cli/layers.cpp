// swinscope layers RUN: time, FLOPs and bytes by layer path; modules and operators of PyTorch.
#include "analyzer/analyses/layers.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct LayersOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  LayerOptions layers;
  bool joined_phases = false;
};

int run_layers(LayersOptions options) {
  const Trace trace = open_run(options.run, options.common);
  options.layers.by_phase = !options.joined_phases;
  const RunScope scope(trace, options.selection.get());
  const std::vector<LayerRow> rows = layer_table(trace, scope, options.layers);
  if (rows.empty()) {
    throw Error(
        ErrorKind::kFailure, fmt::format("{}: has no layers", trace.path),
        fmt::format("in the scope ({}) there is no annotated operation of a swinscope workload, no module and no "
                    "operator of PyTorch",
                    scope.title()),
        "`swinscope ranges RUN` shows whatever ranges there are; `swinscope record --torch-modules` names modules");
  }
  const StepImages images = count_images(trace, scope);
  const LayerCoverage coverage = layer_coverage(trace, scope);
  std::int64_t flops = 0;
  for (const LayerRow& row : rows)
    flops += row.flops;
  const bool has_cost = std::ranges::any_of(rows, &LayerRow::has_cost);
  Document document;
  document.schema = "layers";
  document.run = trace.path;
  document.warnings = trace.warnings;
  document.facts = {
      {"steps", "steps", images.steps == 0 ? scope.step_count() : images.steps, Unit::kCount},
      {"images", "images", images.steps == 0 ? Cell() : Cell(images.images), Unit::kCount},
      {"gflop", "GFLOP", has_cost ? Cell(static_cast<double>(flops) / 1e9) : Cell(), Unit::kNumber},
      {"gflop_per_image", "GFLOP per image",
       images.images == 0 ? Cell() : Cell(static_cast<double>(flops) / 1e9 / static_cast<double>(images.images)),
       Unit::kNumber},
      {"gpu_by_layer_percent", "GPU time by layer",
       coverage.step_gpu_ns == 0
           ? Cell()
           : Cell(100.0 * static_cast<double>(coverage.layer_gpu_ns) / static_cast<double>(coverage.step_gpu_ns)),
       Unit::kPercent}};
  document.tables = {layer_rows_table(rows)};
  document.notes = {fmt::format("All figures are of: {}.", scope.title())};
  options.table.apply(document.tables.front(), "path");
  if (Table threads = thread_cpu_rows_table(thread_cpu_table(trace)); !threads.rows.empty()) {
    document.tables.push_back(std::move(threads));
  }
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_layers(CLI::App& app, int& status) {
  auto options = std::make_shared<LayersOptions>();
  CLI::App* command = app.add_subcommand(
      "layers", "Time, FLOPs and bytes by layer: annotated operations, or PyTorch's modules and operators");
  command->add_option("RUN", options->run, "Trace to analyze")->required();
  command->add_option("--depth", options->layers.depth, "Group by the first N parts of the layer path")
      ->check(CLI::PositiveNumber);
  command->add_flag("--join-phases", options->joined_phases, "Forward and backward in one row");
  command->add_flag("--by-shape", options->layers.by_dims, "One row for each shape of a PyTorch operator's inputs");
  options->table.add_to(*command);
  options->selection.add_to(*command);
  options->common.add_class_rules(*command);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_layers(*options); });
}

}  // namespace swinscope::cli
