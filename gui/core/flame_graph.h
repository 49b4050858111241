// The nesting of ranges in a stretch of time, added up: a node is a chain of names, each within the one before, of the
// same thread and domain; nodes of all threads and domains with the same chain are one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct FlameNode {
  NameId name = 0;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;     // of the root 0
  std::uint64_t count = 0;     // ranges with a part in the window
  std::int64_t total_ns = 0;   // of their parts in the window
  std::int64_t self_ns = 0;    // without what is within
  std::int64_t before_ns = 0;  // the totals of its siblings that are drawn before it, the largest first
};

struct FlameGraph {
  // The first one is the root, whose total is that of its children; parents stand before their children. Only the root
  // where there are no ranges.
  std::vector<FlameNode> nodes;

  // By NameId; of each the time that it was the innermost.
  std::vector<std::int64_t> self_by_name(std::size_t names) const;
};

// Of those of the lanes that hold ranges of the host. O(events in the window).
FlameGraph flame_graph(const Timeline& timeline, std::span<const LaneId> lanes, Interval window);

}  // namespace swinscope::gui
