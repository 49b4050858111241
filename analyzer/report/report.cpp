// What a report says, and in which order.
#include "analyzer/report/report.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/configuration.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/importers/opened_traces.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/registry.h"
#include "analyzer/report/report_summary.h"

namespace swinscope {
namespace {

constexpr std::size_t kKernels = 50;
// Of experiments, and of several of them or of runs, as the documents call them.
constexpr std::array kComparisonTables = {
    "runs",         "differences", "comparison",         "points",           "scaling_loss", "scaling_kernels", "pop",
    "launch_bound", "difference",  "kernel_differences", "layer_differences"};

// With the keys of environment_facts(), which comparisons go by; add_sections() gives them their names.
ReportSection describe_environment(const std::string& command, const Trace& trace) {
  ReportSection section{"Environment", {}, {}, {}, {}};
  section.facts.push_back({"command", "command", command.empty() ? Cell("not recorded") : Cell(command)});
  if (!trace.description.empty()) section.facts.push_back({"kind", "trace", trace.description});
  std::ranges::move(environment_facts(trace), std::back_inserter(section.facts));
  return section;
}

ReportSection quality_section(const ReportPart& part) {
  ReportSection section{"Data quality", part.doubts, {}, {}, {}};
  section.text.insert(section.text.end(), part.document.warnings.begin(), part.document.warnings.end());
  for (const QualityFact& one : part.quality)
    section.facts.push_back(one.fact);
  return section;
}

// What stands in the title of an experiment's figures.
std::string steps_text(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  const auto [least, most] = std::ranges::minmax(rows, {}, &ScalingRow::steps);
  const std::string steps = least.steps == most.steps ? format_counted(most.steps, "steps")
                                                      : fmt::format("{} to {} steps", least.steps, most.steps);
  return fmt::format("{} of each run, after {} of warm-up", steps, experiment.warmup_steps);
}

// The tables with these keys, in this order.
std::vector<Table> tables_named(const ReportPart& part, const std::vector<std::string>& keys) {
  std::vector<Table> found;
  for (const std::string& key : keys) {
    for (const std::vector<Table>* tables : {&part.document.tables, &part.details}) {
      std::ranges::copy_if(*tables, std::back_inserter(found),
                           [&](const Table& table) { return table.key == key && !table.rows.empty(); });
    }
  }
  return found;
}

// Those of a section that have rows, in the order of the registry.
std::vector<Table> tables_of(const ReportPart& part, AnalysisSection section) {
  std::vector<std::string> keys;
  for (const Analysis& analysis : analyses()) {
    if (analysis.section == section) keys.emplace_back(analysis.key);
  }
  return tables_named(part, keys);
}

ReportSection glossary() {
  return {
      "Glossary",
      {"Step time: (end of the last measured step - start of the first) / steps; slowest rank, median of repeats.",
       "Training time: ceil(images / images per step) x step time.",
       "Speedup S(N) = T(1) / T(N), the times for the same number of images; T(1) is the point with the fewest GPUs.",
       "Parallel efficiency E(N) = S(N) / N, N in multiples of the first point's GPUs.",
       "Measured steps: all after the warm-up. Every figure is of them where its title does not say otherwise.",
       "A device's window: from the first measured step's start to the last one's end, or that of its last GPU event.",
       "Where the host runs ahead, a device's window begins with the end of what was launched before.",
       "GPU busy = time in which the device did anything / its window.",
       "GPU compute = likewise of all activities except communication.",
       "CPU utilization = CPU time of the rank's process and of those below it / (wall time x cores allowed).",
       "Idle by cause: each gap of a device is judged by the event that ends it: the causes sum to the idle time."},
      {},
      {},
      {}};
}

// Configurations differ in facts whose keys programs read.
void name_differences(std::vector<Table>& tables) {
  const auto differences = std::ranges::find(tables, "differences", &Table::key);
  if (differences == tables.end()) return;
  for (std::vector<Cell>& row : differences->rows)
    row.front() = environment_title(format_cell(row.front(), Unit::kText));
}

// Each layer for itself is what few want to see: equal ones stand together before them.
void fold_layers(ReportSection& section) {
  const auto layers = std::ranges::find(section.tables, "layers", &Table::key);
  if (layers == section.tables.end()) return;
  section.folded.push_back(std::move(*layers));
  section.tables.erase(layers);
}

std::vector<ReportChart> charts_of_section(const Document& document, bool is_on_first_page) {
  SplitCharts split = split_charts(document);
  if (is_on_first_page) return std::move(split.others);
  std::vector<ReportChart> charts;
  if (split.waterfall) charts.push_back(std::move(*split.waterfall));
  std::ranges::move(split.first, std::back_inserter(charts));
  std::ranges::move(split.others, std::back_inserter(charts));
  return charts;
}

// `has_own_verdict`: the first page does not say it.
// `is_on_first_page`: some of its charts are.
void add_sections(Report& report, const ReportPart& part, bool has_own_verdict, bool is_on_first_page) {
  const Document& document = part.document;
  const auto add = [&](ReportSection section) {
    section.title.insert(0, part.prefix);
    report.sections.push_back(std::move(section));
  };
  if (!is_comparison(document)) add(quality_section(part));  // a comparison's is that of what it compares
  const std::string title = document.schema == "scaling"   ? "Scaling"
                            : document.schema == "compare" ? "Platform comparison"
                            : document.schema == "runs"    ? "Runs beside each other"
                                                           : std::string(section_title(AnalysisSection::kTime));
  ReportSection main{title, {}, {}, charts_of_section(document, is_on_first_page), {}};
  if (has_own_verdict) main.text = split_headline(part).why;
  if (!document.notes.empty()) main.text.push_back(fmt::format("{}", fmt::join(document.notes, " ")));
  main.tables = document.schema == "analyze" ? tables_of(part, AnalysisSection::kTime)
                                             : tables_named(part, {kComparisonTables.begin(), kComparisonTables.end()});
  name_differences(main.tables);
  add(std::move(main));
  for (const ReportSection& section : part.further)
    add(section);
  for (const AnalysisSection kind : {AnalysisSection::kWork, AnalysisSection::kRanks, AnalysisSection::kRecording}) {
    if (document.schema != "analyze") break;
    ReportSection section{std::string(section_title(kind)), {}, {}, {}, tables_of(part, kind)};
    fold_layers(section);
    if (kind == AnalysisSection::kRanks && part.rank_steps) section.charts.push_back(*part.rank_steps);
    if (!section.tables.empty()) add(std::move(section));
  }
}

// The machines, at the end: what matters of them stands on the first page.
void add_environments(Report& report, const std::vector<ReportPart>& parts) {
  for (const ReportPart& part : parts) {
    if (part.environment.facts.empty()) continue;
    ReportSection section = part.environment;
    section.title.insert(0, part.prefix);
    section.facts = readable_environment(section.facts);
    report.sections.push_back(std::move(section));
  }
}

// The recording of the point with the most GPUs that has one.
const ExperimentPoint* largest_traced(const Experiment& experiment) {
  const ExperimentPoint* traced = nullptr;
  for (const ExperimentPoint& point : experiment.points) {
    if (!point.tracing.empty() && (traced == nullptr || point.gpus() > traced->gpus())) traced = &point;
  }
  return traced;
}

// A run that knows the machine.
std::optional<std::filesystem::path> environment_run(const Experiment& experiment) {
  if (const ExperimentPoint* traced = largest_traced(experiment)) return traced->folder / traced->tracing;
  for (const ExperimentPoint& point : experiment.points) {
    if (!point.timing.empty()) return point.folder / point.timing.front();
  }
  return std::nullopt;
}

WhatWasRun described(const Experiment& experiment, const std::vector<ScalingRow>& rows, const Trace& trace,
                     std::string_view counted) {
  WhatWasRun what = what_was_run(experiment, trace, counted);
  if (!rows.empty()) what.facts.push_back({"scope", "figures are of", steps_text(experiment, rows)});
  return what;
}

std::string json_of(const Document& document) {
  RenderOptions json;
  json.format = Format::kJson;
  return render(document, json);
}

}  // namespace

ReportPart report_part(const Trace& trace, const std::string& path, const Selection& selection) {
  ReportPart part;
  const RunFacts run(trace, selection);
  part.document = analyze_document(run, {.top = kKernels, .thesis = true, .verdict_facts = true});
  for (const Analysis& analysis : analyses()) {
    if (analysis.use != AnalysisUse::kDetail) continue;
    Table table = table_of(analysis, run, {});
    if (is_worth_showing(analysis, table, run)) part.details.push_back(std::move(table));
  }
  part.document.run = path;
  part.document.warnings = trace.warnings;
  part.doubts = run.verdict().doubts;
  part.rank_steps = rank_steps_chart(run);
  part.what = what_was_run(trace, path, run.scope.title());
  part.quality = data_quality(run);
  part.folder = std::filesystem::path(path).parent_path().string();
  part.environment = describe_environment(trace.ranks.empty() ? "" : trace.ranks.front().run.command, trace);
  part.corrupt = trace.corrupt;
  return part;
}

ReportPart experiment_part(const Experiment& experiment) {
  OpenedTraces traces;
  return experiment_part(experiment, traces);
}

ReportPart experiment_part(const Experiment& experiment, OpenedTraces& traces) {
  ReportPart part;
  std::vector<ScalingRow> rows = scaling_table(experiment, traces);
  part.document = experiment_document(experiment, rows);
  const std::string command = fmt::format("{}", fmt::join(experiment.command, " "));
  const auto run = environment_run(experiment);
  const std::shared_ptr<const Trace> trace = run ? traces.open(*run) : std::make_shared<const Trace>();
  part.environment = describe_environment(command, *trace);
  part.what = described(experiment, rows, *trace, counted_in(part.document.tables.front()));
  part.quality = data_quality(experiment, rows);
  part.folder = experiment.folder.parent_path().string();
  part.series = compared_series(experiment, std::move(rows), part.environment.facts);
  return part;
}

WhatWasRun what_was_run(const Experiment& experiment, const std::vector<ScalingRow>& rows, OpenedTraces& traces) {
  const auto run = environment_run(experiment);
  const std::shared_ptr<const Trace> trace = run ? traces.open(*run) : std::make_shared<const Trace>();
  return described(experiment, rows, *trace, counted_in(experiment_document(experiment, rows).tables.front()));
}

std::vector<ReportPart> report_parts(const Experiment& experiment, OpenedTraces& traces,
                                     const RunPartMaker& part_of_run) {
  std::vector<ReportPart> parts = {experiment_part(experiment, traces)};
  if (const ExperimentPoint* traced = largest_traced(experiment)) {
    const std::filesystem::path path = traced->folder / traced->tracing;
    parts.push_back(part_of_run(*traces.open(path), path.string(), {}));
    parts.back().prefix =
        fmt::format("Traced with {} {}: ", traced->gpus(), counted_in(parts.front().document.tables.front()));
    parts.back().environment = {};  // the experiment's
    parts.back().folder = parts.front().folder;
  }
  return parts;
}

std::vector<std::string> series_names(const std::vector<ReportPart>& parts) {
  std::map<std::string, int> uses;
  for (const ReportPart& part : parts) {
    if (part.series) ++uses[part.series->name];
  }
  std::vector<std::string> names;
  for (const ReportPart& part : parts) {
    if (part.series) names.push_back(uses[part.series->name] > 1 ? part.document.run : part.series->name);
  }
  return names;
}

ReportPart comparison_part(const std::vector<ReportPart>& parts, const std::vector<PublishedResult>& published) {
  const std::vector<std::string> names = series_names(parts);
  std::vector<ComparedSeries> series;
  std::vector<std::string> paths;
  std::vector<std::string> warnings;
  for (const ReportPart& part : parts) {
    if (!part.series) continue;
    series.push_back(*part.series);
    series.back().name = names[series.size() - 1];
    paths.push_back(part.document.run);
    for (const std::string& warning : part.document.warnings)
      warnings.push_back(fmt::format("experiment \"{}\", {}", series.back().name, warning));
  }
  for (const PublishedResult& result : published)
    series.push_back(compared_series(result));
  ReportPart part;
  part.document = comparison_document(series);
  part.document.run = fmt::format("{}", fmt::join(paths, " "));
  part.document.warnings = std::move(warnings);
  return part;
}

ReportPart runs_part(const std::vector<ReportPart>& parts) {
  std::vector<ComparedRun> runs;
  std::vector<std::string> paths;
  for (const ReportPart& part : parts) {
    if (!part.run) continue;
    runs.push_back(*part.run);
    paths.push_back(part.document.run);
  }
  ReportPart compared;
  compared.document = runs_document(std::move(runs), {.order = RunOrder::kAsGiven});
  compared.document.run = fmt::format("{}", fmt::join(paths, " "));
  return compared;
}

void add_comparison(std::vector<ReportPart>& parts, const std::vector<PublishedResult>& published) {
  const auto runs = std::ranges::count_if(parts, [](const ReportPart& part) { return part.run.has_value(); });
  if (runs > 1) parts.insert(parts.begin(), runs_part(parts));
  const auto experiments = std::ranges::count_if(parts, [](const ReportPart& part) { return part.series.has_value(); });
  if (experiments == 0 || experiments + static_cast<std::ptrdiff_t>(published.size()) < 2) return;
  parts.insert(parts.begin(), comparison_part(parts, published));
}

Report build_report(std::vector<ReportPart> parts) {
  Report report;
  report.title = report_title(parts);
  report.summary = summarize(parts);
  const bool compares = is_comparison(parts.front().document);
  report.data = "[";
  for (const ReportPart& part : parts) {
    report.data += (report.data.size() > 1 ? "," : "") + json_of(part.document);
    add_sections(report, part, compares && !is_comparison(part.document), &part == &parts.front());
  }
  report.data += "]";
  add_environments(report, parts);
  report.sections.push_back(glossary());
  return report;
}

}  // namespace swinscope
