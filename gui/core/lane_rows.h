// Which rows of a timeline are shown, and where, from top to bottom.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "analyzer/timeline/timeline.h"
#include "gui/core/filter.h"
#include "gui/core/lane_groups.h"

namespace swinscope::gui {

// Heights and places in device-independent pixels.
struct LaneRow {
  std::vector<LaneId> lanes;           // whose events are here: one, or all of a folded group
  std::vector<LaneId> drawn;           // of these: of a thread only the outermost ranges
  std::optional<GroupKey> group;       // that a click folds or unfolds
  std::optional<std::size_t> layer;    // lane of LayerLanes::timeline
  std::optional<std::size_t> counter;  // index into Timeline::counters
  QString label;
  bool is_folded = false;
  bool is_on_top = false;  // in LaneRows::pinned
  int level = 0;           // of indentation
  int top = 0;             // from the top of the part that it belongs to
  int height = 0;

  std::optional<LaneId> lane() const { return lanes.size() == 1 && !group ? std::optional(lanes[0]) : std::nullopt; }
  bool is_heading() const { return lanes.empty() && !layer && !counter; }  // of a group
};

struct LaneRows {
  std::vector<LaneRow> pinned;    // always in sight, above the others, where they are, too
  std::vector<LaneRow> scrolled;  // all
  int pinned_height = 0;
  int scrolled_height = 0;

  bool is_pinned(LaneId lane) const;
  // Of all lanes shown, once each, from top to bottom.
  std::vector<LaneId> lanes() const;
  // The rows of counters, from top to bottom; they cannot be pinned.
  std::vector<const LaneRow*> counters() const;
};

// What the user has arranged.
struct LaneChoice {
  Filter filter;  // its rank leaves out lanes of other processes, its stream the GPU lanes of other streams
  std::vector<LaneKey> pinned;
  std::vector<GroupKey> toggled;  // that are not as they were at first: folded, or unfolded
  double scale = 1;               // of the heights of lanes
};

// By process: GPUs with the layers above their streams, threads, then what was sampled. `layers` may be null.
LaneRows arrange_lanes(const Timeline& timeline, const std::vector<LaneGroup>& groups, const Timeline* layers,
                       const LaneChoice& choice);

// "rank 0 · GPU 0 · stream 7": a lane's name where its process is not to be seen beside it.
QString full_label(const Timeline& timeline, LaneId lane);
// "rank 0 · GPU 0 · SM active"
QString full_label(const Timeline& timeline, const CounterSeries& series);
// "82.5 %", "1.98 GiB"; "not sampled" without a value.
QString counter_text(const CounterSeries& series, std::optional<double> value);

}  // namespace swinscope::gui
