// swinscope analyze RUN: the verdict, then where the time went.
#include <memory>

#include <fmt/format.h>

#include "analyzer/hta.h"
#include "analyzer/tables.h"
#include "cli/command.h"
#include "cli/experiment_output.h"

namespace swinscope::cli {
namespace {

struct AnalyzeOptions {
  CommonOptions common;
  std::string run;
  std::string definition = "swinscope";
  std::size_t top = 10;
};

Document analyze_hta(const Trace& trace) {
  Document document;
  document.schema = "hta";
  document.tables = hta_tables(trace);
  document.notes = {"Figures as Holistic Trace Analysis defines them (whole microseconds)."};
  return document;
}

Table top_kernels(const Trace& trace, const std::vector<RankSteps>& steps, std::size_t top) {
  Table table = kernel_rows_table(trace, kernel_table(trace, {}, steps), steps, NameStyle::kShort);
  const std::size_t all = table.rows.size();
  keep_top(table, top);
  table.title = fmt::format("Top kernels ({} of {})", table.rows.size(), all);
  return table;
}

Document analyze(const Trace& trace, const AnalyzeOptions& options) {
  const std::vector<RankSteps> steps = all_steps(trace);
  const std::vector<DeviceBreakdown> devices = time_breakdown(trace);
  const Verdict verdict = judge(trace, devices, steps);
  Document document;
  document.schema = "analyze";
  document.headline = {verdict.sentence, fmt::format("  evidence: {}", verdict.evidence)};
  document.facts = {{"kind", "trace", trace.description},
                    {"gpu_events", "GPU events", trace.gpu_event_count(), Unit::kCount},
                    {"ranks", "ranks", static_cast<std::int64_t>(trace.ranks.size()), Unit::kCount}};
  if (options.common.format != "table") {
    document.facts.push_back({"verdict", "verdict", verdict.sentence});
    document.facts.push_back(
        {"bound_by", "bound by", verdict.has_gpu_work ? Cell(std::string(bound_name(verdict.bound))) : Cell()});
    document.facts.push_back({"evidence", "evidence", verdict.evidence});
  }
  document.tables = {step_table(trace, steps)};
  if (verdict.has_gpu_work) {
    document.tables.push_back(utilization_table(devices));
    if (options.definition == "thesis") document.tables.push_back(thesis_table(thesis_utilization(trace)));
    document.tables.push_back(bound_table(verdict));
    document.tables.push_back(breakdown_table(devices));
    document.tables.push_back(idle_table(devices));
    document.tables.push_back(launch_table(launch_statistics(trace)));
    document.tables.push_back(top_kernels(trace, steps, options.top));
  }
  document.notes = {
      "gpu_busy counts every device activity, gpu_compute all but communication; both over the device's span from its",
      "first to its last activity. CPU utilization was not recorded. Times are traced times, tracing cost included."};
  return document;
}

int run_analyze(const AnalyzeOptions& options) {
  if (is_experiment(options.run)) {
    const Document document = experiment_document(read_experiment(options.run));
    print_warnings(document.warnings, options.common);
    emit(document, options.common);
    return 0;
  }
  const Trace trace = open_run(options.run, options.common);
  Document document = options.definition == "hta" ? analyze_hta(trace) : analyze(trace, options);
  document.run = trace.path;
  document.warnings = trace.warnings;
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_analyze(CLI::App& app, int& status) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command =
      app.add_subcommand("analyze", "What the run is bound by, utilization, time breakdown, top kernels");
  command->add_option("RUN", options->run, "Trace or experiment to analyze")->required();
  command
      ->add_option("--definition", options->definition,
                   "swinscope, thesis (adds the share of summed kernel and CPU operation time), or hta (figures as "
                   "Holistic Trace Analysis computes them)")
      ->check(CLI::IsMember({"swinscope", "thesis", "hta"}))
      ->envname("SWINSCOPE_DEFINITION");
  command->add_option("--top", options->top, "Kernels to list")->capture_default_str()->check(CLI::NonNegativeNumber);
  options->common.add_to(*command);
  command->callback([options, &status] { status = run_analyze(*options); });
}

}  // namespace swinscope::cli
