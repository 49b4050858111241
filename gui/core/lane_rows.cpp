#include "gui/core/lane_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace swinscope::gui {
namespace {

constexpr int kHeadingHeight = 20;
constexpr int kGpuHeight = 24;
constexpr int kHostHeight = 18;
constexpr int kLayerHeight = 17;
constexpr int kCounterHeight = 30;

QString qt(const std::string& text) { return QString::fromStdString(text); }

// What stands between a thread and the domain of its ranges.
QString separator() { return QStringLiteral(" · "); }

// "python (1427)", and not "thread 1427 (python) (1427)", as PyTorch names threads.
QString thread_label(const TimelineLane& lane) {
  QString label = qt(lane.label).section(separator(), 0, 0);
  const QString number = QStringLiteral(" (%1)").arg(tid_of(lane.key.global_tid));
  if (!label.endsWith(number)) return label;
  const QString name = label.chopped(number.size());
  const QString prefix = QStringLiteral("thread %1 (").arg(tid_of(lane.key.global_tid));
  return name.startsWith(prefix) && name.endsWith(QLatin1Char(')')) ? name.mid(prefix.size()).chopped(1) + number
                                                                    : label;
}

// "annotations, stream 7"
QString annotation_label(const TimelineLane& lane) {
  return QStringLiteral("annotations, stream %1").arg(tid_of(lane.key.global_tid));
}

// Without the thread, which is the heading's.
QString domain_label(const TimelineLane& lane) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 3> kWords = {
      {{kDomainTorchOp, "operators"}, {kDomainTorchUser, "annotations"}, {kDomainTorchPython, "Python functions"}}};
  QString domain = qt(lane.label).section(separator(), 1);
  if (domain.isEmpty()) return QStringLiteral("ranges");
  for (const auto& [name, word] : kWords) {
    if (domain.toStdString() == name) return QLatin1String(word);
  }
  return domain;
}

// Within its group. Lanes that go on with the one above them, deeper or overlapping, do not repeat its name.
QString label_of(const TimelineLane& lane) {
  if (lane.key.sublane > 0) return QStringLiteral("overlap %1").arg(lane.key.sublane);
  if (lane.key.depth > 0) return QStringLiteral("depth %1").arg(lane.key.depth);
  if (is_gpu_annotation(lane)) return annotation_label(lane);
  return is_gpu(lane.key.kind) ? qt(lane.label) : domain_label(lane);
}

QString process_label(const TimelineProcess& process) {
  QString label = QStringLiteral("rank %1").arg(process.rank);
  if (!process.host.empty()) label += QStringLiteral(" · %1").arg(qt(process.host));
  return label;
}

QString graph_label(LaneKind kind, std::size_t lanes) {
  static constexpr std::array<const char*, 3> kClasses = {"", ", NCCL", ", copies"};
  return QStringLiteral("%1 graph streams%2")
      .arg(lanes)
      .arg(QLatin1String(kClasses.at(static_cast<std::size_t>(kind))));
}

class Arranger {
 public:
  Arranger(const Timeline& timeline, const Timeline* layers, const LaneChoice& choice)
      : timeline_(timeline), layers_(layers), choice_(choice) {}

  void add_process(const LaneGroup& process) {
    const std::uint32_t index = process.key.process;
    if (choice_.filter.rank && timeline_.processes[index].rank != *choice_.filter.rank) return;
    const LaneGroup shown = filtered(process);
    std::vector<std::size_t> counters;
    for (std::size_t i = 0; i < timeline_.counters.size(); ++i)
      if (timeline_.counters[i].process == index) counters.push_back(i);
    const std::vector<LaneId> lanes = shown.all_lanes();
    if (lanes.empty() && counters.empty()) return;
    std::ranges::copy_if(lanes, std::back_inserter(pinned_), [&](LaneId lane) { return is_pinned(lane); });
    add_head(shown, process_label(timeline_.processes[index]), 0);
    if (is_folded(shown)) return;
    for (const LaneGroup& group : shown.groups)
      add_group(group, 1);
    add_counters(index, counters);
  }

  LaneRows finish() {
    for (const LaneId lane : pinned_)
      pin(lane);
    return std::move(rows_);
  }

 private:
  bool is_folded(const LaneGroup& group) const {
    const bool is_toggled = std::ranges::find(choice_.toggled, group.key) != choice_.toggled.end();
    return group.is_folded_at_first != is_toggled;
  }
  bool is_pinned(LaneId lane) const {
    return std::ranges::find(choice_.pinned, timeline_.lanes[lane].key) != choice_.pinned.end();
  }
  int scaled(int height) const { return static_cast<int>(std::lround(choice_.scale * height)); }
  int height_of(LaneId lane) const { return scaled(is_gpu(timeline_.lanes[lane].key.kind) ? kGpuHeight : kHostHeight); }

  LaneGroup filtered(LaneGroup group) const {
    std::erase_if(group.lanes, [&](LaneId id) {
      const LaneKey& key = timeline_.lanes[id].key;
      return choice_.filter.stream && is_gpu(key.kind) && key.stream != *choice_.filter.stream;
    });
    for (LaneGroup& part : group.groups)
      part = filtered(part);
    std::erase_if(group.groups, [](const LaneGroup& part) { return part.all_lanes().empty(); });
    return group;
  }

  void add(LaneRow row) {
    row.top = rows_.scrolled_height;
    rows_.scrolled_height += row.height;
    rows_.scrolled.push_back(std::move(row));
  }

  void pin(LaneId lane) {
    LaneRow row;
    row.lanes = row.drawn = {lane};
    row.label = full_label(timeline_, lane);
    row.is_on_top = true;
    row.top = rows_.pinned_height;
    row.height = height_of(lane);
    rows_.pinned_height += row.height;
    rows_.pinned.push_back(std::move(row));
  }

  // The heading of an unfolded group, or all of a folded one.
  void add_head(const LaneGroup& group, const QString& label, int level) {
    LaneRow row;
    row.group = group.key;
    row.label = label;
    row.level = level;
    row.is_folded = is_folded(group);
    row.height = kHeadingHeight;
    if (row.is_folded) {
      row.lanes = group.all_lanes();
      row.drawn = drawn_of(row.lanes);
      for (const LaneId lane : row.drawn)
        row.height = std::max(row.height, height_of(lane));
    }
    add(std::move(row));
  }

  // The work of the GPUs where there is any, else the outermost ranges and the calls.
  std::vector<LaneId> drawn_of(const std::vector<LaneId>& lanes) const {
    std::vector<LaneId> drawn;
    const auto on_gpu = [&](LaneId id) { return is_gpu(timeline_.lanes[id].key.kind); };
    const auto is_outermost = [&](LaneId id) { return timeline_.lanes[id].key.depth == 0; };
    if (std::ranges::any_of(lanes, on_gpu)) {
      std::ranges::copy_if(lanes, std::back_inserter(drawn), on_gpu);
    } else {
      std::ranges::copy_if(lanes, std::back_inserter(drawn), is_outermost);
    }
    return drawn;
  }

  void add_group(const LaneGroup& group, int level) {
    const bool has_layers = group.key.kind == GroupKind::kGpu && has_layers_of(group.key);
    if (group.lanes.size() == 1 && group.groups.empty() && !has_layers) {
      add_lane(group.lanes.front(), level, single_label(group));
      return;
    }
    add_head(group, label_of_group(group), level);
    if (is_folded(group)) return;
    if (group.key.kind == GroupKind::kGpu) add_layers(group.key, level + 1);
    for (const LaneId lane : group.lanes)
      add_lane(lane, level + 1, label_of(timeline_.lanes[lane]));
    for (const LaneGroup& part : group.groups)
      add_group(part, level + 1);
  }

  void add_lane(LaneId lane, int level, const QString& label) {
    LaneRow row;
    row.lanes = row.drawn = {lane};
    row.label = label;
    row.level = level + (timeline_.lanes[lane].key.sublane > 0 || timeline_.lanes[lane].key.depth > 0 ? 1 : 0);
    row.height = height_of(lane);
    add(std::move(row));
  }

  QString single_label(const LaneGroup& group) const {
    const TimelineLane& lane = timeline_.lanes[group.lanes.front()];
    if (group.key.kind == GroupKind::kGpu)
      return QStringLiteral("GPU %1 · %2").arg(group.key.device).arg(label_of(lane));
    return group.key.kind == GroupKind::kThread ? thread_label(lane) + separator() + label_of(lane) : label_of(lane);
  }

  QString label_of_group(const LaneGroup& group) const {
    const std::size_t lanes = group.lanes.size();
    switch (group.key.kind) {
      case GroupKind::kGpu:
        return QStringLiteral("GPU %1").arg(group.key.device);
      case GroupKind::kThread:
        return thread_label(timeline_.lanes[group.all_lanes().front()]);
      case GroupKind::kGraphStreams:
        return graph_label(group.key.lanes, lanes);
      case GroupKind::kIdle:
        return QStringLiteral("%1 lanes idle in later steps").arg(lanes);
      case GroupKind::kProcess:
      case GroupKind::kCounters:
        break;
    }
    return {};
  }

  bool is_layer_of(const TimelineLane& lane, const GroupKey& gpu) const {
    return lane.key.process == gpu.process && lane.key.device == gpu.device;
  }
  bool has_layers_of(const GroupKey& gpu) const {
    return layers_ != nullptr &&
           std::ranges::any_of(layers_->lanes, [&](const TimelineLane& lane) { return is_layer_of(lane, gpu); });
  }
  void add_layers(const GroupKey& gpu, int level) {
    for (std::size_t i = 0; layers_ != nullptr && i < layers_->lanes.size(); ++i) {
      const TimelineLane& lane = layers_->lanes[i];
      if (!is_layer_of(lane, gpu)) continue;
      LaneRow row;
      row.layer = i;
      row.label = qt(lane.label);
      row.level = level + (lane.key.depth > 1 ? 1 : 0);
      row.height = scaled(kLayerHeight);
      add(std::move(row));
    }
  }

  void add_counters(std::uint32_t process, const std::vector<std::size_t>& counters) {
    if (counters.empty()) return;
    LaneGroup group{{GroupKind::kCounters, process}, {}, {}, false};
    add_head(group, QStringLiteral("sampled"), 1);
    if (is_folded(group)) return;
    for (const std::size_t counter : counters) {
      LaneRow row;
      row.counter = counter;
      row.label = qt(timeline_.counters[counter].name);
      row.level = 2;
      row.height = scaled(kCounterHeight);
      add(std::move(row));
    }
  }

  const Timeline& timeline_;
  const Timeline* layers_;
  const LaneChoice& choice_;
  std::vector<LaneId> pinned_;
  LaneRows rows_;
};

}  // namespace

bool LaneRows::is_pinned(LaneId lane) const {
  return std::ranges::any_of(pinned, [&](const LaneRow& row) { return row.lanes.front() == lane; });
}

std::vector<LaneId> LaneRows::lanes() const {
  std::vector<LaneId> shown;
  for (const LaneRow& row : pinned)
    shown.push_back(row.lanes.front());
  for (const LaneRow& row : scrolled) {
    std::ranges::copy_if(row.lanes, std::back_inserter(shown), [&](LaneId lane) { return !is_pinned(lane); });
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

LaneRows arrange_lanes(const Timeline& timeline, const std::vector<LaneGroup>& groups, const Timeline* layers,
                       const LaneChoice& choice) {
  Arranger arranger(timeline, layers, choice);
  for (const LaneGroup& process : groups)
    arranger.add_process(process);
  return arranger.finish();
}

QString full_label(const Timeline& timeline, LaneId id) {
  const TimelineLane& lane = timeline.lanes[id];
  QString label = QStringLiteral("rank %1").arg(timeline.processes[lane.key.process].rank);
  if (is_gpu_annotation(lane)) return label + QStringLiteral(" · GPU · ") + annotation_label(lane);
  if (is_gpu(lane.key.kind)) label += QStringLiteral(" · GPU %1").arg(lane.key.device);
  label += QStringLiteral(" · %1").arg(qt(lane.label));
  if (lane.key.depth > 0) label += QStringLiteral(" (depth %1)").arg(lane.key.depth);
  if (lane.key.sublane > 0) label += QStringLiteral(" (overlap %1)").arg(lane.key.sublane);
  return label;
}

QString full_label(const Timeline& timeline, const CounterSeries& series) {
  return QStringLiteral("rank %1 · %2").arg(timeline.processes[series.process].rank).arg(qt(series.name));
}

QString counter_text(const CounterSeries& series, std::optional<double> value) {
  if (!value) return QStringLiteral("not sampled");
  return QStringLiteral("%1 %2").arg(*value, 0, 'g', 4).arg(qt(series.unit)).trimmed();
}

}  // namespace swinscope::gui
