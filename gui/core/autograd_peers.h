// Forward and backward of one operator in the timeline: PyTorch gives both the same sequence number.
#pragma once

#include "gui/core/collective_peers.h"
#include "gui/core/opened.h"

namespace swinscope::gui {

// Of an operator: `last` is the forward one, the first outermost range of that number on the thread where it comes
// first; `others` are the outermost ones of that number on other threads, later. Nothing where the event has no number,
// or the other part was not recorded. Of a run whose trace is there; for another thread. O(ranges of the process).
CollectivePeers autograd_peers(const OpenedRun& run, TimelineEventId event);

}  // namespace swinscope::gui
