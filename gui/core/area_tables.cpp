#include "gui/core/area_tables.h"

#include <algorithm>

#include "gui/core/lane_rows.h"

namespace swinscope::gui {

Table area_names_table(const Timeline& timeline, const AreaStatistics& statistics) {
  Table table{"area_names",
              "Events of the area by name",
              {{"name", "name"},
               {"calls", "calls", Unit::kCount},
               {"total_ns", "total", Unit::kDuration},
               {"mean_ns", "mean", Unit::kDuration}},
              {}};
  const std::size_t shown = std::min(kAreaNames, statistics.names.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NameTotal& row = statistics.names[i];
    table.rows.push_back(
        {std::string(timeline.names.text(row.name)), static_cast<std::int64_t>(row.count), row.total_ns,
         row.count == 0 ? Cell() : Cell(static_cast<double>(row.total_ns) / static_cast<double>(row.count))});
  }
  return table;
}

Table area_lanes_table(const Timeline& timeline, const AreaStatistics& statistics, std::span<const LaneId> lanes,
                       Interval window) {
  Table table{"area_lanes",
              "Lanes of the area",
              {{"lane", "lane"}, {"busy_ns", "busy", Unit::kDuration}, {"busy_percent", "of the time", Unit::kPercent}},
              {}};
  for (std::size_t i = 0; i < lanes.size() && i < statistics.lane_busy_ns.size(); ++i) {
    const std::int64_t busy = statistics.lane_busy_ns[i];
    const double share = window.length() <= 0 ? 0 : static_cast<double>(busy) / static_cast<double>(window.length());
    table.rows.push_back({full_label(timeline, lanes[i]).toStdString(), busy, 100 * share});
  }
  return table;
}

}  // namespace swinscope::gui
