// What was opened, read-only and shared by all pages.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "analyzer/experiment.h"
#include "analyzer/key_figures.h"
#include "analyzer/render.h"
#include "analyzer/steps.h"
#include "analyzer/timeline.h"
#include "analyzer/trace.h"

namespace swinscope::gui {

// A run. The timeline comes first, since it can be had much sooner; the rest follows.
struct OpenedRun {
  QString path;
  std::shared_ptr<const Timeline> timeline;  // may be a preview while `trace` is not there yet
  std::shared_ptr<const Trace> trace;        // null: still loading
  std::vector<RankSteps> steps;              // as Trace::ranks
  KeyFigures figures;
  Document document;  // what `swinscope analyze` says
};

struct OpenedExperiment {
  QString path;
  Experiment experiment;
  Document document;
};

using RunPointer = std::shared_ptr<const OpenedRun>;
using ExperimentPointer = std::shared_ptr<const OpenedExperiment>;

}  // namespace swinscope::gui
