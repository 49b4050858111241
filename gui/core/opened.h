// What was opened, read-only and shared by all pages.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "analyzer/analyses/key_figures.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/platforms.h"
#include "analyzer/report/data_quality.h"
#include "analyzer/report/what_was_run.h"
#include "analyzer/table/render.h"
#include "analyzer/timeline/timeline.h"
#include "analyzer/trace/trace.h"
#include "gui/core/shared_analysis.h"

namespace swinscope::gui {

// What is said of a part of a run.
struct AnalyzedRun {
  Document document;  // what `swinscope analyze` says
  KeyFigures figures;
  WhatWasRun what;
  std::vector<QualityFact> quality;
};
// Of the trace's measured steps, or what the selection names. Where nothing meets the selection the document has a
// headline that says so, and no tables.
struct OpenedRun;
AnalyzedRun analyze_run(const OpenedRun& run, const Selection& selection);

// A run. The timeline comes first, since it can be had much sooner; the rest follows.
struct OpenedRun {
  QString path;
  std::shared_ptr<const Timeline> timeline;  // may be a preview while `trace` is not there yet
  std::shared_ptr<const Trace> trace;        // null: still loading
  AnalyzedRun analyzed;                      // of its measured steps
  // Not a part of what is read-only: it keeps what any page has computed.
  std::shared_ptr<SharedAnalysis> shared = std::make_shared<SharedAnalysis>();
};

// A row of the table of an experiment's points.
struct OpenedPoint {
  std::string name;  // as the other tables call it
  ExperimentPoint point;
  std::size_t base = 0;  // the row that it is measured against
};

struct OpenedExperiment {
  QString path;
  Experiment experiment;
  std::vector<OpenedPoint> points;
  Document document;
  WhatWasRun what;
  std::vector<QualityFact> quality;
};

// Several experiments beside each other, or one beside published results.
struct OpenedComparison {
  QStringList paths;  // of the experiments, which are its first series
  QStringList names;  // of these series
  std::vector<Experiment> experiments;
  std::vector<PublishedResult> published;
  Document document;  // what `swinscope compare` says
};

using RunPointer = std::shared_ptr<const OpenedRun>;
using ExperimentPointer = std::shared_ptr<const OpenedExperiment>;
using ComparisonPointer = std::shared_ptr<const OpenedComparison>;

// What is open. Pages show the first of these that is there; a run may be one of the experiment, and that one of the
// comparison.
struct Session {
  RunPointer run;
  ExperimentPointer experiment;
  ComparisonPointer comparison;
};

// More of the same run: `before` was a preview, or the timeline without the analyses.
bool is_more_of(const RunPointer& before, const RunPointer& now);

}  // namespace swinscope::gui
