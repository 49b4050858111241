// Everything known about one event, as rows of name and value.
#pragma once

#include "analyzer/table/table.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

// Without the trace (still loading) only what the timeline knows. Keys: name, lane, start, duration, launch_delay,
// queue, grid, ...
Table event_details(const OpenedRun& run, TimelineEventId event);

}  // namespace swinscope::gui
