// The critical path (advisor/critical_path.h) on a timeline: which stretches of its lanes are on it. A piece of work or
// a call marks its event where it was recorded, or a part of it; the host's time between two calls the gap behind one.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "gui/core/opened.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

struct PathMarks {
  // By LaneId, on the timeline's axis: ascending, and apart from each other.
  std::vector<std::vector<Interval>> by_lane;
  QString summary;                 // "of 3 steps: compute 61.2 %, host between calls 20.1 %"
  std::optional<Problem> problem;  // why it cannot be said; nothing is marked then
};

// Of a run whose trace is there; for another thread.
PathMarks path_marks(const OpenedRun& run, const Selection& selection);

}  // namespace swinscope::gui
