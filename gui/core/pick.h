// Finding events: below the mouse, beside another one, and the launches and kernels that belong together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/timeline/timeline.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

// The event drawn at pixel x of a lane; where nothing is drawn, the nearest one at most `reach` pixels away.
std::optional<TimelineEventId> hit_test(const Timeline& timeline, LaneId lane, const Viewport& view, int x,
                                        int reach = 2);

// The event before or after in the same lane.
std::optional<TimelineEventId> next_in_lane(const Timeline& timeline, TimelineEventId from, bool forward);
// The enclosing range of a range, the one of the next depth that begins last at or before its start.
std::optional<TimelineEventId> parent_range(const Timeline& timeline, TimelineEventId range);

// A call and one piece of GPU work that it launched.
struct LaunchLink {
  TimelineEventId call;
  TimelineEventId work;
  // METRICS "Launch": work start - call start; negative only where the clocks disagree.
  std::int64_t launch_delay_ns = 0;
  // METRICS "Launch": work start - call end, 0 when it started before the call returned.
  std::int64_t queue_ns = 0;
};

// Of GPU work: the call that launched it. Of a call: the work that it launched, by start, at most `limit`. Of anything
// else, and where it was not recorded: nothing. O(GPU events of the process) for a call.
std::vector<LaunchLink> links_of(const Timeline& timeline, TimelineEventId event, std::size_t limit = 1000);

}  // namespace swinscope::gui
