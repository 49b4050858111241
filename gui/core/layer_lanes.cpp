#include "gui/core/layer_lanes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

namespace swinscope::gui {
namespace {

constexpr std::size_t kLevels = 4;
using Levels = std::array<std::string_view, kLevels>;  // empty behind the last one

// "backward", "stage3", "block5", "attn.qkv"; PyTorch's operators hold no dots.
Levels levels_of(const Operation& operation) {
  Levels levels{operation.phase};
  std::string_view rest = operation.path;
  for (std::size_t level = 1; level < kLevels; ++level) {
    const std::size_t end = level + 1 < kLevels ? rest.find('.') : std::string_view::npos;
    levels.at(level) = rest.substr(0, end);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return levels;
}

std::string path_of(const Levels& levels, std::size_t level) {
  std::string path(levels[0]);
  for (std::size_t i = 1; i <= level && !levels.at(i).empty(); ++i) {
    path += i == 1 && !path.empty() ? ", " : i > 1 ? "." : "";
    path += levels.at(i);
  }
  return path;
}

// "block5" -> "block*": names that differ in numbers only stand for the same.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      text += c;
    else if (!text.ends_with('*'))
      text += '*';
  }
  return text;
}

// "block*, downsample, …": what takes most of the time in the lane.
std::string names_in(const TimelineLane& lane, const NameTable& names) {
  constexpr std::size_t kNamed = 2;
  std::map<std::string, std::int64_t> totals;
  for (LanePosition i = 0; i < lane.size(); ++i)
    totals[without_numbers(names.text(lane.names()[i]))] += lane.duration_ns(i);
  std::vector<std::pair<std::int64_t, std::string>> longest;
  longest.reserve(totals.size());
  for (const auto& [name, total_ns] : totals)
    longest.emplace_back(-total_ns, name);
  std::ranges::sort(longest);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, longest.size()); ++i)
    text += (i > 0 ? ", " : "") + longest[i].second;
  return longest.size() > kNamed ? text + ", …" : text;
}

// The levels of one device.
class DeviceLanes {
 public:
  DeviceLanes(std::uint32_t process, std::int32_t device, std::int64_t offset_ns, LayerLanes& all)
      : offset_ns_(offset_ns), all_(all) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      lanes_.at(level).key = {process, LaneKind::kRanges, device, 0, 0, 0, 0, static_cast<std::uint16_t>(level), 0};
      lanes_.at(level).label = level == 0 ? "phase" : "layer";
    }
  }

  // By start.
  void add(std::int64_t start_ns, std::int64_t end_ns, const Levels& levels) {
    bool differs = false;
    for (std::size_t level = 0; level < kLevels; ++level) {
      differs = differs || !open_ || levels.at(level) != levels_.at(level);
      if (differs && open_) close(level, start_ns);
      Interval& piece = pieces_.at(level);
      piece = differs ? Interval{start_ns, end_ns} : Interval{piece.begin_ns, std::max(piece.end_ns, end_ns)};
    }
    levels_ = levels;
    open_ = true;
  }

  void finish() {
    for (std::size_t level = 0; level < kLevels && open_; ++level)
      close(level, std::numeric_limits<std::int64_t>::max());
    for (TimelineLane& lane : lanes_) {
      if (lane.empty()) continue;
      lane.seal();
      if (lane.key.depth > 1) lane.label = names_in(lane, all_.timeline.names);
      all_.timeline.lanes.push_back(std::move(lane));
    }
  }

 private:
  void close(std::size_t level, std::int64_t next_ns) {
    const Interval piece = pieces_.at(level);
    const std::int64_t end_ns = std::min(piece.end_ns, next_ns);
    if (levels_.at(level).empty() || end_ns <= piece.begin_ns) return;
    lanes_.at(level).append({piece.begin_ns + offset_ns_, end_ns - piece.begin_ns, name_id(levels_.at(level)),
                             path_id(path_of(levels_, level)), kNoEvent});
  }
  NameId name_id(std::string_view name) {
    const auto [known, is_new] = names_.try_emplace(std::string(name), all_.timeline.names.size());
    if (is_new) all_.timeline.names.add(name);
    return known->second;
  }
  EventIndex path_id(const std::string& path) {
    const auto [known, is_new] = paths_.try_emplace(path, static_cast<EventIndex>(all_.paths.size()));
    if (is_new) all_.paths.push_back(path);
    return known->second;
  }

  std::int64_t offset_ns_;
  LayerLanes& all_;
  std::array<TimelineLane, kLevels> lanes_;
  std::array<Interval, kLevels> pieces_;
  Levels levels_;
  bool open_ = false;
  std::map<std::string, NameId> names_;
  std::map<std::string, EventIndex> paths_;
};

// The events of a device that belong to an operation, by start.
std::map<std::int32_t, std::vector<EventIndex>> events_by_device(const Rank& rank, const RankOperations& operations) {
  std::map<std::int32_t, std::vector<EventIndex>> devices;
  for (const GpuLane& lane : rank.gpu_lanes) {
    std::vector<EventIndex>& events = devices[lane.device];
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i)
      if (operations.of_event(i) != kNoOperation) events.push_back(i);
  }
  for (auto& [device, events] : devices)
    std::ranges::stable_sort(events, {}, [&](EventIndex i) { return rank.gpu.start_ns[i]; });
  return devices;
}

}  // namespace

LayerLanes layer_lanes(const Trace& trace, const std::vector<RankOperations>& operations, const Timeline& timeline) {
  LayerLanes all;
  all.timeline.processes = timeline.processes;
  for (std::uint32_t process = 0; process < trace.ranks.size(); ++process) {
    const Rank& rank = trace.ranks[process];
    const RankOperations& of_rank = operations[process];
    for (const auto& [device, events] : events_by_device(rank, of_rank)) {
      DeviceLanes lanes(process, device, timeline.processes[process].offset_ns, all);
      for (const EventIndex i : events)
        lanes.add(rank.gpu.start_ns[i], rank.gpu.end_ns[i], levels_of(of_rank.all()[of_rank.of_event(i)]));
      lanes.finish();
    }
  }
  index_grids(all.timeline);
  return all;
}

}  // namespace swinscope::gui
