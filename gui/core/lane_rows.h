// Which lanes of a timeline are shown, and where, from top to bottom.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "analyzer/timeline/timeline.h"
#include "gui/core/filter.h"

namespace swinscope::gui {

// Heights and places in device-independent pixels.
struct LaneRow {
  std::optional<LaneId> lane;
  std::optional<std::size_t> counter;  // index into Timeline::counters
  QString label;
  int top = 0;  // from the top of the part that it belongs to
  int height = 0;
  bool is_heading() const { return !lane && !counter; }  // of a process
};

struct LaneRows {
  std::vector<LaneRow> pinned;    // always in sight, above the others
  std::vector<LaneRow> scrolled;  // without the pinned ones
  int pinned_height = 0;
  int scrolled_height = 0;

  // Of all lanes shown, from top to bottom.
  std::vector<LaneId> lanes() const;
  // The rows of counters, from top to bottom; they cannot be pinned.
  std::vector<const LaneRow*> counters() const;
};

// The lanes of each process, then what was sampled. The filter's rank leaves out lanes of other processes, its stream
// the GPU lanes of other streams.
LaneRows arrange_lanes(const Timeline& timeline, const Filter& filter, const std::vector<LaneKey>& pinned);

// "rank 0 · GPU 0 · stream 7": a lane's name where its process is not to be seen beside it.
QString full_label(const Timeline& timeline, LaneId lane);
// "rank 0 · GPU 0 · SM active"
QString full_label(const Timeline& timeline, const CounterSeries& series);
// "82.5 %", "1.98 GiB"; "not sampled" without a value.
QString counter_text(const CounterSeries& series, std::optional<double> value);

}  // namespace swinscope::gui
