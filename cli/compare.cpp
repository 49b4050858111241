// swinscope compare BASE EXPERIMENT…: scaling experiments, and published ones, beside each other.
#include <memory>

#include <fmt/format.h>

#include "analyzer/report.h"
#include "cli/command.h"
#include "cli/experiments.h"

namespace swinscope::cli {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  std::vector<std::string> beside;
};

int run_compare(const CompareOptions& options) {
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

void add_compare(CLI::App& app, int& status) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Scaling experiments beside each other and beside published ones");
  command->add_option("EXPERIMENT", options->paths, "Experiments, or a folder of them; the first one is the base")
      ->required();
  add_beside(*command, options->beside);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_compare(*options); });
}

}  // namespace swinscope::cli
