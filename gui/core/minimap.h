// The whole trace in one row of pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct Minimap {
  // For each column, from 0 to 1: the busy fraction of the busiest GPU lane (a lower bound of the GPU's), and of the
  // busiest host lane, each averaged over the processes that have such a lane. Empty when none has.
  std::vector<float> gpu;
  std::vector<float> host;
  std::vector<std::int64_t> steps_ns;  // where steps of the first process that has steps begin
};

// `columns` equal parts of the timeline's span. A preview is good enough.
Minimap make_minimap(const Timeline& timeline, int columns, int threads = 2);

}  // namespace swinscope::gui
