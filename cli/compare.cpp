// swinscope compare BASE OTHER…: scaling experiments, and published ones, beside each other; or runs.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "analyzer/report/report.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "cli/runs.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  std::vector<std::string> beside;
  SelectionOptions selection;
};

// Whether the paths are runs. Throws Error(kUsage) for both kinds.
bool are_runs(const CompareOptions& options) {
  const auto is_experiment_path = [](const std::string& path) { return !experiments_at(path).empty(); };
  const auto experiments = std::ranges::count_if(options.paths, is_experiment_path);
  if (experiments == 0) return options.paths.size() > 1 && options.beside.empty();
  if (experiments == static_cast<std::ptrdiff_t>(options.paths.size())) return false;
  const auto run = std::ranges::find_if_not(options.paths, is_experiment_path);
  throw Error(ErrorKind::kUsage, fmt::format("{}: is no experiment, but others are", *run),
              "experiments are compared with experiments, and runs with runs",
              "give the runs of the experiment, such as EXPERIMENT/gpus1/tracing");
}

int run_compare(const CompareOptions& options) {
  if (are_runs(options))
    return show_runs({options.paths.begin(), options.paths.end()}, RunOrder::kAsGiven, options.selection.get(),
                     options.common);
  options.selection.refuse_for(options.paths.front());
  std::vector<ReportPart> parts;
  for (const std::string& path : options.paths) {
    for (const Experiment& experiment : read_experiments(path))
      parts.push_back(experiment_part(experiment));
  }
  const std::vector<PublishedResult> published = find_all_published(options.beside);
  if (parts.size() + published.size() < 2) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: one experiment has nothing to be compared with", options.paths[0]),
                {}, "give a second experiment, or published results: --beside thesis");
  }
  const Document document = comparison_part(parts, published).document;
  print_warnings(document.warnings, options.common);
  emit(document, options.common);
  return 0;
}

}  // namespace

void add_compare(Program& program) {
  auto options = std::make_shared<CompareOptions>();
  Command& command = program.add_command(
      "compare", "Compare scaling experiments with each other and with published ones, or runs with each other");
  command.option("EXPERIMENT", options->paths, "Experiments, a folder of them, or runs; the first one is the base")
      .required();
  add_beside(command, options->beside);
  options->selection.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_compare(*options); });
}

}  // namespace swinscope::cli
