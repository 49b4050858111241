// The statistics of a selected area as tables.
#pragma once

#include <span>

#include "analyzer/table/table.h"
#include "gui/core/area_statistics.h"

namespace swinscope::gui {

inline constexpr std::size_t kAreaNames = 1000;  // rows of the table of names; the longest ones

Table area_names_table(const Timeline& timeline, const AreaStatistics& statistics);
Table area_lanes_table(const Timeline& timeline, const AreaStatistics& statistics, std::span<const LaneId> lanes,
                       Interval window);

}  // namespace swinscope::gui
