// What a selected area holds, apart by kind: what ran on GPUs, what the host did, and which lanes were busy.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/table/table.h"
#include "gui/core/area_statistics.h"
#include "gui/core/flame_graph.h"

namespace swinscope::gui {

inline constexpr std::size_t kAreaNames = 1000;  // rows of a table of names; the longest ones

enum class AreaKind : std::uint8_t { kKernels, kCopies, kOperations, kCalls, kRanges };
inline constexpr int kAreaKinds = 5;
// Kernels are also those that communicate; operations are PyTorch's, ranges all others.
AreaKind area_kind(const TimelineLane& lane);
std::string_view area_kind_name(AreaKind kind);  // "CPU operations"

struct AreaContents {
  AreaStatistics all;
  std::vector<AreaStatistics> by_kind;  // by AreaKind
  FlameGraph flames;
  std::vector<Table> names;  // by AreaKind; without rows where there are none
  Table lanes;
};

// For another thread. `keep` as of area_statistics(); the flames are of all ranges.
AreaContents area_contents(const Timeline& timeline, std::span<const LaneId> lanes, Interval window,
                           const std::vector<bool>& keep);

// `self_ns`, by NameId or empty: the time without what is within; then it is what the share is of.
Table area_names_table(const Timeline& timeline, AreaKind kind, const AreaStatistics& statistics,
                       std::span<const std::int64_t> self_ns);
Table area_lanes_table(const Timeline& timeline, const AreaStatistics& statistics, std::span<const LaneId> lanes,
                       Interval window);

}  // namespace swinscope::gui
