// A report: documents with charts, as one HTML file that needs nothing else: no network, no script to be readable, the
// same bytes for the same input.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/experiment/comparison.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/run_comparison.h"
#include "analyzer/facts/selection.h"
#include "analyzer/report/data_quality.h"
#include "analyzer/report/what_was_run.h"
#include "analyzer/table/chart.h"
#include "analyzer/table/render.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct ReportChart {
  Chart chart;
  std::string note;  // how many values, what the intervals are
  Table table;       // the figures drawn
};

// The note that all charts but waterfalls have, so that it is said once; empty: they have none, or not the same.
std::string common_note(const std::vector<ReportChart>& charts);

struct ReportSection {
  std::string title;
  std::vector<std::string> text;  // a paragraph each
  std::vector<Fact> facts;
  std::vector<ReportChart> charts;
  std::vector<Table> tables;
  std::vector<Table> folded = {};  // long ones that stand behind those, for whoever unfolds them
};

// The first page: what a person decides from, before any detail. Lines that begin with white space are commands and
// notes to the sentence before.
struct ReportSummary {
  std::string figures_title;  // what the figures are of
  std::vector<Fact> figures;
  std::string why_title;
  std::vector<std::string> why;  // the verdict: why it is not better
  std::optional<ReportChart> waterfall;
  std::vector<std::string> next;       // what to do
  std::optional<Table> opportunities;  // the first of them
  std::vector<ReportChart> charts;     // kSummaryCharts at most
  std::vector<Fact> what_was_run;
};
inline constexpr std::size_t kSummaryCharts = 3;

struct Report {
  std::string title;
  ReportSummary summary;
  std::vector<ReportSection> sections;
  std::string data;  // JSON, embedded as it is
};

// What a report says of one run, or of one experiment.
struct ReportPart {
  Document document;
  std::string prefix;  // of its headings, to tell several parts apart; empty: none
  ReportSection environment;
  std::vector<Table> details;             // of the analyses that the document leaves to commands of their own
  std::vector<ReportSection> further;     // of whoever builds on the analyses: they stand behind where the time goes
  std::optional<ComparedSeries> series;   // of an experiment, to compare it with others
  std::optional<ComparedRun> run;         // likewise of a run, where it is to be compared
  std::vector<std::string> doubts;        // Verdict::doubts
  std::optional<ReportChart> rank_steps;  // rank_steps_chart()
  WhatWasRun what;
  std::vector<QualityFact> quality;
  std::string folder;  // of the recordings, which commands are said without; empty: the present one
  bool corrupt = false;
  std::string author = {};  // of the report, as the first of its parts says it; empty: nobody is named
};

// `path`: as the user gave it. Throws as RunScope does.
ReportPart report_part(const Trace& trace, const std::string& path, const Selection& selection);
// The experiment alone. Opens its runs; throws Error.
ReportPart experiment_part(const Experiment& experiment);
ReportPart experiment_part(const Experiment& experiment, OpenedTraces& traces);
// The first page's facts of an experiment whose points are `rows`. Opens a run of it that knows the machine.
WhatWasRun what_was_run(const Experiment& experiment, const std::vector<ScalingRow>& rows, OpenedTraces& traces);
// The experiment, then the recording of its point with the most GPUs that has one, as `part_of_run` makes it.
using RunPartMaker = std::function<ReportPart(const Trace&, const std::string& path, const Selection&)>;
std::vector<ReportPart> report_parts(const Experiment& experiment, OpenedTraces& traces,
                                     const RunPartMaker& part_of_run = report_part);
// What the experiments among the parts are called beside each other: their folders' names; paths where these are alike.
std::vector<std::string> series_names(const std::vector<ReportPart>& parts);
// The experiments among the parts beside each other and beside published results.
ReportPart comparison_part(const std::vector<ReportPart>& parts, const std::vector<PublishedResult>& published);
// The runs among the parts over the first of them: the document of `swinscope compare RUN RUN…`.
ReportPart runs_part(const std::vector<ReportPart>& parts);
// Puts these before them where there are two or more experiments, published ones counted, or runs.
void add_comparison(std::vector<ReportPart>& parts, const std::vector<PublishedResult>& published);

// In this order: the first page; then of each part data quality; scaling and where the time goes; opportunities;
// kernels and layers; ranks; recording; environment; at last the glossary, and the documents of all parts as JSON.
// There must be a part.
Report build_report(std::vector<ReportPart> parts);

// Long tables show so many rows; the others have to be unfolded.
inline constexpr std::size_t kShownRows = 15;

std::string render_html(const Report& report);

// The same as Markdown, its charts as SVG files of their own, and without the data as JSON.
struct MarkdownFigure {
  std::string name;  // of its file: "1-step-time.svg"
  std::string title;
  std::string svg;
  Table table;  // the figures drawn
};
struct MarkdownReport {
  std::string text;
  std::vector<MarkdownFigure> figures;
};
// `figure_folder`: as the text is to name the folder of the figures.
MarkdownReport render_markdown_report(const Report& report, const std::string& figure_folder);

// The time of every measured step of every rank; nothing of one rank, or where ranks differ in their steps.
std::optional<ReportChart> rank_steps_chart(const RunFacts& run);

// The charts of a document's tables: of an experiment ("scaling") training time, speedup, efficiency and utilization
// over GPUs, and why steps take longer, a waterfall for each point; of several ("compare") the former with a line for
// each; of runs ("runs") a waterfall for each over the base; of a run ("analyze") the time breakdown of every device.
std::vector<ReportChart> charts_of(const Document& document);

}  // namespace swinscope
