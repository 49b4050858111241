#include "gui/core/area_tables.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "analyzer/trace/kernel_names.h"
#include "gui/core/lane_rows.h"

namespace swinscope::gui {
namespace {

constexpr std::array<std::string_view, kAreaKinds> kKindNames = {"Kernels", "Copies", "CPU operations", "CUDA calls",
                                                                 "Ranges"};

}  // namespace

AreaKind area_kind(const TimelineLane& lane) {
  switch (lane.key.kind) {
    case LaneKind::kKernels:
    case LaneKind::kCommunication:
      return AreaKind::kKernels;
    case LaneKind::kCopies:
      return AreaKind::kCopies;
    case LaneKind::kCalls:
      return AreaKind::kCalls;
    case LaneKind::kRanges:
      break;
  }
  return lane.label.ends_with(kDomainTorchOp) ? AreaKind::kOperations : AreaKind::kRanges;
}

std::string_view area_kind_name(AreaKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

AreaContents area_contents(const Timeline& timeline, std::span<const LaneId> lanes, Interval window,
                           const std::vector<bool>& keep) {
  AreaContents contents;
  contents.all = area_statistics(timeline, lanes, window, keep, 1);
  contents.flames = flame_graph(timeline, lanes, window);
  for (int i = 0; i < kAreaKinds; ++i) {
    const auto kind = static_cast<AreaKind>(i);
    std::vector<LaneId> of_kind;
    std::ranges::copy_if(lanes, std::back_inserter(of_kind),
                         [&](LaneId id) { return area_kind(timeline.lanes[id]) == kind; });
    contents.by_kind.push_back(area_statistics(timeline, of_kind, window, keep, 1));
    std::vector<std::int64_t> self;
    if (kind == AreaKind::kOperations || kind == AreaKind::kRanges)
      self = flame_graph(timeline, of_kind, window).self_by_name(timeline.names.size());
    contents.names.push_back(area_names_table(timeline, kind, contents.by_kind.back(), self));
  }
  contents.lanes = area_lanes_table(timeline, contents.all, lanes, window);
  return contents;
}

Table area_names_table(const Timeline& timeline, AreaKind kind, const AreaStatistics& statistics,
                       std::span<const std::int64_t> self_ns) {
  const bool on_gpu = kind == AreaKind::kKernels;
  Table table{"area_names",
              std::string(area_kind_name(kind)),
              {{"name", "name"},
               {"full_name", "full name", Unit::kText, true},
               {"calls", "calls", Unit::kCount},
               {"total_ns", "total", Unit::kDuration},
               {"self_ns", "self", Unit::kDuration, self_ns.empty()},
               {"share_percent", "share", Unit::kPercent},
               {"mean_ns", "mean", Unit::kDuration}},
              {}};
  const auto own = [&](const NameTotal& row) { return self_ns.empty() ? row.total_ns : self_ns[row.name]; };
  std::int64_t sum = 0;
  for (const NameTotal& row : statistics.names)
    sum += own(row);
  const std::size_t shown = std::min(kAreaNames, statistics.names.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NameTotal& row = statistics.names[i];
    const std::string name(timeline.names.text(row.name));
    const Cell share = sum <= 0 ? Cell() : Cell(100 * static_cast<double>(own(row)) / static_cast<double>(sum));
    const Cell mean =
        row.count == 0 ? Cell() : Cell(static_cast<double>(row.total_ns) / static_cast<double>(row.count));
    table.rows.push_back({on_gpu ? readable_kernel_name(name) : name, name, static_cast<std::int64_t>(row.count),
                          row.total_ns, own(row), share, mean});
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
    if (busy == 0) continue;
    const double share = window.length() <= 0 ? 0 : static_cast<double>(busy) / static_cast<double>(window.length());
    table.rows.push_back({full_label(timeline, lanes[i]).toStdString(), busy, 100 * share});
  }
  return table;
}

}  // namespace swinscope::gui
