// swinscope compare BASE OTHER…: scaling experiments, and published ones, beside each other; or runs.
#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "analyzer/report/report.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "cli/runs.h"
#include "cli/selection.h"
#include "cli/share.h"

namespace swinscope::cli {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::vector<std::string> paths;
  std::vector<std::string> beside;
  SelectionOptions selection;
  std::size_t top = 10;
  std::string fail_above;
};

constexpr int kRegression = 5;  // exit status

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

// Says what became slower than it may; the exit status.
int gate(const std::vector<ComparedRun>& runs, const std::string& fail_above) {
  const Regressions found = find_regressions(runs, share_of("--fail-above", fail_above));
  for (const std::string& line : found.slower)
    fmt::print(stderr, "regression: {}\n", line);
  for (const std::string& line : found.not_judged)
    fmt::print(stderr, "not judged: {}\n", line);
  if (!found.slower.empty()) return kRegression;
  return found.not_judged.empty() ? 0 : static_cast<int>(ErrorKind::kFailure);
}

int compare_runs(const CompareOptions& options) {
  if (!options.fail_above.empty())
    share_of("--fail-above", options.fail_above);  // a wrong one is said before runs are read
  const OpenedRuns opened =
      open_runs({options.paths.begin(), options.paths.end()}, options.selection.get(), options.common);
  const int status = show_runs(opened, {.order = RunOrder::kAsGiven, .top = options.top}, options.common);
  if (options.fail_above.empty()) return status;
  const int gated = gate(opened.runs, options.fail_above);
  return gated != 0 ? gated : status;
}

int run_compare(const CompareOptions& options) {
  if (are_runs(options)) return compare_runs(options);
  if (!options.fail_above.empty()) {
    throw Error(ErrorKind::kUsage, "--fail-above is for runs, not for experiments", {},
                "compare the traced runs of two points, such as EXPERIMENT/gpus1/tracing");
  }
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
  command.option("--top", options->top, "Of runs: kernels and layers to list of those whose time changed most")
      .show_default()
      .not_negative();
  command
      .option("--fail-above", options->fail_above,
              "Of runs: exit status 5 where the step, or a kernel that takes 1 % of it, is slower than in the base by "
              "more, beyond the noise")
      .value_name("PERCENT");
  options->selection.add_to(command);
  options->common.tables.add_sorting_to(command);
  options->common.add_to(command);
  command.does([options] { return run_compare(*options); });
}

}  // namespace swinscope::cli
