// The figures that one asks for first, for the cards of the first page.
#pragma once

#include <QString>
#include <vector>

#include "gui/core/opened.h"

namespace swinscope::gui {

struct Figure {
  QString title;
  QString value;
  QString note;
  const char* page;  // where its evidence is
};

std::vector<Figure> figures_of(const KeyFigures& figures);
// Of the point with the most GPUs.
std::vector<Figure> figures_of(const OpenedExperiment& experiment);
// The training time of each experiment at its point with the most GPUs.
std::vector<Figure> figures_of(const OpenedComparison& comparison);

}  // namespace swinscope::gui
