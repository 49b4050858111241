#include "gui/core/lane_rows.h"

#include <algorithm>

namespace swinscope::gui {
namespace {

constexpr int kHeadingHeight = 22;
constexpr int kGpuHeight = 26;
constexpr int kHostHeight = 20;
constexpr int kCounterHeight = 30;

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

void append(std::vector<LaneRow>& rows, int& height, LaneRow row) {
  row.top = height;
  height += row.height;
  rows.push_back(std::move(row));
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

std::vector<const LaneRow*> LaneRows::counters() const {
  std::vector<const LaneRow*> shown;
  for (const LaneRow& row : scrolled) {
    if (row.counter) shown.push_back(&row);
  }
  return shown;
}

LaneRows arrange_lanes(const Timeline& timeline, const Filter& filter, const std::vector<LaneKey>& pinned) {
  LaneRows rows;
  const auto scroll = [&](LaneRow row) { append(rows.scrolled, rows.scrolled_height, std::move(row)); };
  LaneId id = 0;
  std::size_t counter = 0;
  for (std::uint32_t process = 0; process < timeline.processes.size(); ++process) {
    bool has_heading = false;
    const auto head = [&] {
      if (!has_heading) scroll({{}, {}, process_label(timeline.processes[process]), 0, kHeadingHeight});
      has_heading = true;
    };
    for (; id < timeline.lanes.size() && timeline.lanes[id].key.process == process; ++id) {
      const TimelineLane& lane = timeline.lanes[id];
      if (!is_shown(timeline, lane, filter)) continue;
      const int height = is_gpu(lane.key.kind) ? kGpuHeight : kHostHeight;
      if (std::find(pinned.begin(), pinned.end(), lane.key) != pinned.end()) {
        append(rows.pinned, rows.pinned_height, {id, {}, full_label(timeline, id), 0, height});
        continue;
      }
      head();
      scroll({id, {}, label_of(lane), 0, height});
    }
    for (; counter < timeline.counters.size() && timeline.counters[counter].process == process; ++counter) {
      if (filter.rank && timeline.processes[process].rank != *filter.rank) continue;
      head();
      scroll({{}, counter, QString::fromStdString(timeline.counters[counter].name), 0, kCounterHeight});
    }
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

QString full_label(const Timeline& timeline, const CounterSeries& series) {
  return QStringLiteral("rank %1 · %2")
      .arg(timeline.processes[series.process].rank)
      .arg(QString::fromStdString(series.name));
}

QString counter_text(const CounterSeries& series, std::optional<double> value) {
  if (!value) return QStringLiteral("not sampled");
  return QStringLiteral("%1 %2").arg(*value, 0, 'g', 4).arg(QString::fromStdString(series.unit)).trimmed();
}

}  // namespace swinscope::gui
