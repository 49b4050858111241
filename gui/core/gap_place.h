// An idle gap (analyzer/analyses/idle_gaps.h) in the timeline: where it is, and all that is known of it.
#pragma once

#include <QString>
#include <cstddef>
#include <vector>

#include "analyzer/table/table.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

struct GapPlace {
  std::size_t gaps = 0;       // that there are; without any nothing of the below is there
  Interval window;            // on the timeline's axis
  std::vector<LaneId> lanes;  // of the device, and of the thread that it waited for
  Table details;              // rows of name and value
  QString summary;            // "idle gap 1 of 17,769: 3.345 ms, host"
};

// The gap that so many are longer than. Of a run whose trace is there; for another thread.
GapPlace gap_place(const OpenedRun& run, const Selection& selection, std::size_t number);

}  // namespace swinscope::gui
