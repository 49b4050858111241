#include "gui/core/lane_rows.h"

#include <algorithm>

namespace swinscope::gui {
namespace {

constexpr int kHeadingHeight = 22;
constexpr int kGpuHeight = 26;
constexpr int kHostHeight = 20;

bool is_shown(const Timeline& timeline, const TimelineLane& lane, const Filter& filter) {
  if (filter.rank && timeline.processes[lane.key.process].rank != *filter.rank) return false;
  return !(filter.stream && is_gpu(lane.key.kind) && lane.key.stream != *filter.stream);
}

// Lanes that go on with the one above them, deeper or overlapping, do not repeat its name.
QString label_of(const TimelineLane& lane) {
  if (lane.key.sublane > 0) return QStringLiteral("    overlap %1").arg(lane.key.sublane);
  if (lane.key.depth > 0) return QStringLiteral("    depth %1").arg(lane.key.depth);
  return QString::fromStdString(lane.label);
}

QString process_label(const TimelineProcess& process) {
  QString label = QStringLiteral("rank %1").arg(process.rank);
  if (!process.host.empty()) label += QStringLiteral(" · %1").arg(QString::fromStdString(process.host));
  return label;
}

void append(std::vector<LaneRow>& rows, int& height, std::optional<LaneId> lane, QString label, int row_height) {
  rows.push_back({lane, std::move(label), height, row_height});
  height += row_height;
}

}  // namespace

std::vector<LaneId> LaneRows::lanes() const {
  std::vector<LaneId> shown;
  for (const auto* part : {&pinned, &scrolled}) {
    for (const LaneRow& row : *part) {
      if (row.lane) shown.push_back(*row.lane);
    }
  }
  return shown;
}

LaneRows arrange_lanes(const Timeline& timeline, const Filter& filter, const std::vector<LaneKey>& pinned) {
  LaneRows rows;
  std::optional<std::uint32_t> process;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const TimelineLane& lane = timeline.lanes[id];
    if (!is_shown(timeline, lane, filter)) continue;
    const int height = is_gpu(lane.key.kind) ? kGpuHeight : kHostHeight;
    if (std::find(pinned.begin(), pinned.end(), lane.key) != pinned.end()) {
      append(rows.pinned, rows.pinned_height, id, full_label(timeline, id), height);
      continue;
    }
    if (process != lane.key.process) {
      process = lane.key.process;
      append(rows.scrolled, rows.scrolled_height, std::nullopt, process_label(timeline.processes[*process]),
             kHeadingHeight);
    }
    append(rows.scrolled, rows.scrolled_height, id, label_of(lane), height);
  }
  return rows;
}

QString full_label(const Timeline& timeline, LaneId id) {
  const TimelineLane& lane = timeline.lanes[id];
  QString label = QStringLiteral("rank %1").arg(timeline.processes[lane.key.process].rank);
  if (is_gpu(lane.key.kind)) label += QStringLiteral(" · GPU %1").arg(lane.key.device);
  label += QStringLiteral(" · %1").arg(QString::fromStdString(lane.label));
  if (lane.key.depth > 0) label += QStringLiteral(" (depth %1)").arg(lane.key.depth);
  if (lane.key.sublane > 0) label += QStringLiteral(" (overlap %1)").arg(lane.key.sublane);
  return label;
}

}  // namespace swinscope::gui
