// The figures that one asks for first, for the cards of the first page.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "gui/core/evidence.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

struct Figure {
  QString title;
  QString value;
  QString note;
  Evidence evidence;
};

// Those that are known; of the others the data quality says why they are not.
std::vector<Figure> figures_of(const KeyFigures& figures);
// Of the point with the most GPUs.
std::vector<Figure> figures_of(const OpenedExperiment& experiment);
// The training time of each experiment at its point with the most GPUs.
std::vector<Figure> figures_of(const OpenedComparison& comparison);

// A run's tables, by question, as the page of tables lists them, without the one that is a bar here.
std::vector<std::string> keys_on_overview();

}  // namespace swinscope::gui
