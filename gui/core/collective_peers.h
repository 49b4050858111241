// The events of one collective on all ranks, for the timeline: who came last, and for whom the others waited.
#pragma once

#include <QString>
#include <vector>

#include "gui/core/opened.h"

namespace swinscope::gui {

struct CollectivePeers {
  TimelineEventId last;  // of the rank that came last; kNoPosition: the event is of no matched collective
  std::vector<TimelineEventId> others;  // of the other ranks
  QString text;                         // "all-reduce of 2 ranks: rank 1 comes last, 2.000 ms after the first"
};

// Of a run whose trace is there; for another thread. Nothing where the selection cannot be met.
CollectivePeers collective_peers(const OpenedRun& run, const Selection& selection, TimelineEventId event);

}  // namespace swinscope::gui
