// What the analyses know of a GPU event beyond the timeline: its layer and what that costs, what a collective moves and
// whom it waited for, and the other calls of its kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/table/table.h"
#include "gui/core/calls.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

struct EventFacts {
  std::vector<std::vector<Cell>> rows;  // as those of event_details()
  std::vector<Call> calls;              // of the kernel, in the selection
};

// Of a run whose trace is there; for another thread. Nothing of events that did not run on a GPU, and where nothing
// meets the selection.
EventFacts event_facts(const OpenedRun& run, const Selection& selection, TimelineEventId event);

}  // namespace swinscope::gui
