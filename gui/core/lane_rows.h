// Which lanes of a timeline are shown, and where, from top to bottom.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "analyzer/timeline.h"
#include "gui/core/filter.h"

namespace swinscope::gui {

// Heights and places in device-independent pixels.
struct LaneRow {
  std::optional<LaneId> lane;  // none: the heading of a process
  QString label;
  int top = 0;  // from the top of the part that it belongs to
  int height = 0;
};

struct LaneRows {
  std::vector<LaneRow> pinned;    // always in sight, above the others
  std::vector<LaneRow> scrolled;  // without the pinned ones
  int pinned_height = 0;
  int scrolled_height = 0;

  // Of all lanes shown, from top to bottom.
  std::vector<LaneId> lanes() const;
};

// The filter's rank leaves out lanes of other processes, its stream the GPU lanes of other streams.
LaneRows arrange_lanes(const Timeline& timeline, const Filter& filter, const std::vector<LaneKey>& pinned);

// "rank 0 · GPU 0 · stream 7": a lane's name where its process is not to be seen beside it.
QString full_label(const Timeline& timeline, LaneId lane);

}  // namespace swinscope::gui
