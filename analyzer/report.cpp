// What a report says, and in which order.
#include "analyzer/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/documents.h"
#include "analyzer/open.h"
#include "analyzer/tables.h"

namespace swinscope {
namespace {

constexpr std::size_t kKernels = 50;

// How the GPUs reach each other, which only the launcher has looked at.
std::vector<NamedValue> connections(const Trace& trace) {
  std::vector<NamedValue> facts;
  if (trace.launchers.empty()) return facts;
  for (const NamedValue& fact : trace.launchers.front().run.environment) {
    if (fact.name.starts_with("gpu.") &&
        (fact.name.ends_with(".nvlinks") || fact.name.ends_with(".pcie") || fact.name.ends_with(".link")))
      facts.push_back(fact);
  }
  return facts;
}

ReportSection describe_environment(const std::string& command, const Trace& trace) {
  ReportSection section{"Environment and command", {}, {}, {}, {}};
  section.facts.push_back({"command", "command", command.empty() ? Cell("not recorded") : Cell(command)});
  section.facts.push_back({"kind", "trace", trace.description});
  if (trace.ranks.empty()) return section;
  const RunInfo& run = trace.ranks.front().run;
  section.facts.push_back({"host", "host", run.host.empty() ? Cell("not recorded") : Cell(run.host)});
  for (const GpuInfo& gpu : run.gpus)
    section.facts.push_back({"gpu", fmt::format("GPU {}", gpu.device), gpu.name});
  for (const NamedValue& fact : run.environment)
    section.facts.push_back({fact.name, fact.name, fact.value});
  for (const NamedValue& fact : connections(trace))
    section.facts.push_back({fact.name, fact.name, fact.value});
  return section;
}

ReportSection quality_section(const Document& document) {
  ReportSection section{"Data quality", document.warnings, {}, {}, {}};
  if (section.text.empty()) section.text = {"Nothing was lost, dropped or cut off."};
  return section;
}

// The tables with these keys, in this order.
std::vector<Table> tables_named(const Document& document, const std::vector<std::string>& keys) {
  std::vector<Table> found;
  for (const std::string& key : keys) {
    for (const Table& table : document.tables) {
      if (table.key == key && !table.rows.empty()) found.push_back(table);
    }
  }
  return found;
}

ReportSection glossary() {
  return {
      "Glossary",
      {"Step time: (end of the last measured step - start of the first) / steps; slowest rank, median of repeats.",
       "Training time: ceil(images / images per step) x step time.",
       "Speedup S(N) = T(1) / T(N), the times for the same number of images; T(1) is the point with the fewest GPUs.",
       "Parallel efficiency E(N) = S(N) / N, N in multiples of the first point's GPUs.",
       "gpu_busy = time in which the device did anything / its span from first to last activity.",
       "gpu_compute counts only kernels that are no communication.",
       "cpu_util = CPU time of the rank's process and of those below it / (wall time x cores allowed).",
       "Idle by cause: each gap of a device is judged by the event that ends it: the causes sum to the idle time."},
      {},
      {},
      {}};
}

void add_sections(Report& report, const ReportPart& part) {
  const Document& document = part.document;
  const auto add = [&](ReportSection section) {
    section.title.insert(0, part.prefix);
    report.sections.push_back(std::move(section));
  };
  if (!part.environment.facts.empty()) add(part.environment);
  add(quality_section(document));
  const bool is_experiment = document.schema == "scaling";
  ReportSection main{is_experiment ? "Scaling" : "Where the time goes", {}, {}, charts_of(document), {}};
  if (!document.notes.empty()) main.text = {fmt::format("{}", fmt::join(document.notes, " "))};
  main.tables = tables_named(
      document, {"points", "utilization", "thesis_utilization", "bounds", "breakdown", "idle", "input_wait"});
  add(std::move(main));
  ReportSection work{"Kernels and layers", {}, {}, {}, tables_named(document, {"kernels"})};
  work.tables.insert(work.tables.end(), part.layers.begin(), part.layers.end());
  if (!work.tables.empty()) add(std::move(work));
  ReportSection ranks{"Ranks", {}, {}, {}, tables_named(document, {"steps", "launches", "cpu_utilization"})};
  if (!ranks.tables.empty()) add(std::move(ranks));
}

std::string json_of(const Document& document) {
  RenderOptions json;
  json.format = Format::kJson;
  return render(document, json);
}

}  // namespace

ReportPart report_part(const Trace& trace, const std::string& path) {
  ReportPart part;
  part.document = analyze_document(trace, {kKernels, true, true});
  part.document.run = path;
  part.document.warnings = trace.warnings;
  part.environment = describe_environment(trace.ranks.empty() ? "" : trace.ranks.front().run.command, trace);
  if (const auto rows = layer_table(trace, {}); !rows.empty()) part.layers.push_back(layer_rows_table(rows));
  part.corrupt = trace.corrupt;
  return part;
}

std::vector<ReportPart> report_parts(const Experiment& experiment) {
  std::vector<ReportPart> parts(1);
  parts.front().document = experiment_document(experiment);
  const ExperimentPoint* traced = nullptr;
  for (const ExperimentPoint& point : experiment.points) {
    if (!point.tracing.empty()) traced = &point;
  }
  const std::string command = fmt::format("{}", fmt::join(experiment.command, " "));
  if (traced != nullptr) {
    const std::filesystem::path path = traced->folder / traced->tracing;
    const Trace trace = open_trace(path);
    parts.push_back(report_part(trace, path.string()));
    parts.back().prefix =
        fmt::format("Traced with {} {}: ", traced->gpus(), counted_in(parts.front().document.tables.front()));
    parts.front().environment = describe_environment(command, trace);
    parts.back().environment = {};  // the same
  } else if (!experiment.points.empty() && !experiment.points.front().timing.empty()) {
    const ExperimentPoint& first = experiment.points.front();
    parts.front().environment = describe_environment(command, open_trace(first.folder / first.timing.front()));
  }
  return parts;
}

Report build_report(std::vector<ReportPart> parts) {
  Report report;
  report.title = fmt::format("swinscope report: {}", parts.front().document.run);
  report.data = "[";
  for (const ReportPart& part : parts) {
    for (const std::string& line : part.document.headline)
      report.verdict.push_back(line.front() == ' ' ? line : part.prefix + line);
    report.data += (report.data.size() > 1 ? "," : "") + json_of(part.document);
    add_sections(report, part);
  }
  report.data += "]";
  report.sections.push_back(glossary());
  return report;
}

}  // namespace swinscope
