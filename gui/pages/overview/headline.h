// The sentences of a document by where they stand on the first page.
#pragma once

#include <QString>

#include "analyzer/table/render.h"

namespace swinscope::gui {

struct Headline {
  QString verdict;   // with what makes its figures doubtful
  QString why;       // of an experiment: why its steps take longer
  QString evidence;  // the command that shows it; empty: none is named
  QString notes;     // what figures are of: below all
};

Headline headline_of(const Document& document);

}  // namespace swinscope::gui
