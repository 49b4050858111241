#include "gui/core/lane_groups.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

namespace swinscope::gui {
namespace {

constexpr std::size_t kSeveral = 2;  // lanes that are worth a group

// Which of a process' calls launch graphs.
class GraphLaunches {
 public:
  explicit GraphLaunches(const Timeline& timeline) : refs_(timeline.processes.size()) {
    std::vector<bool> names(timeline.names.size());
    for (NameId id = 0; id < names.size(); ++id) {
      const std::string_view name = timeline.names.text(id);
      names[id] = name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
    }
    if (std::ranges::find(names, true) == names.end()) return;
    for (const TimelineLane& lane : timeline.lanes) {
      if (lane.key.kind != LaneKind::kCalls) continue;
      for (LanePosition i = 0; i < lane.size(); ++i)
        if (names[lane.names()[i]]) refs_[lane.key.process].push_back(lane.refs()[i]);
    }
    for (std::vector<EventIndex>& refs : refs_)
      std::ranges::sort(refs);
  }

  bool launched_all(const TimelineLane& lane) const {
    const std::vector<EventIndex>& refs = refs_[lane.key.process];
    if (refs.empty() || lane.launches().empty()) return false;
    EventIndex known = kNoEvent;  // events that follow each other are of one launch more often than not
    for (const EventIndex launch : lane.launches()) {
      if (launch == kNoEvent) return false;
      if (launch == known) continue;
      if (!std::ranges::binary_search(refs, launch)) return false;
      known = launch;
    }
    return true;
  }

 private:
  std::vector<std::vector<EventIndex>> refs_;  // by process, ascending
};

bool is_idle(const Timeline& timeline, LaneId id) {
  const TimelineLane& lane = timeline.lanes[id];
  const std::vector<Interval>& steps = timeline.processes[lane.key.process].steps;
  if (steps.empty()) return false;
  const auto [first, last] = lane.events_in(steps[steps.size() / 2].begin_ns, steps.back().end_ns);
  return first == last;
}

// Moves the lanes of a group for which `belongs` holds to a group within it.
template <typename Belongs>
void set_apart(LaneGroup& group, GroupKind kind, LaneKind lanes, Belongs belongs) {
  LaneGroup apart;
  std::ranges::copy_if(group.lanes, std::back_inserter(apart.lanes), belongs);
  if (apart.lanes.size() < kSeveral) return;
  std::erase_if(group.lanes, belongs);
  apart.key = group.key;
  apart.key.kind = kind;
  apart.key.lanes = lanes;
  apart.is_folded_at_first = true;
  group.groups.push_back(std::move(apart));
}

// The device on which a stream of that number is; the first where several have one.
std::optional<std::int32_t> device_of_stream(const Timeline& timeline, const LaneGroup& process, std::uint32_t stream) {
  for (const LaneGroup& group : process.groups) {
    const auto has = [&](LaneId id) { return timeline.lanes[id].key.stream == stream; };
    if (group.key.kind == GroupKind::kGpu && std::ranges::any_of(group.lanes, has)) return group.key.device;
  }
  return std::nullopt;
}

GroupKey key_of(const Timeline& timeline, const LaneGroup& process, LaneId id) {
  const TimelineLane& lane = timeline.lanes[id];
  GroupKey key{GroupKind::kThread, lane.key.process, 0, lane.key.global_tid};
  std::optional<std::int32_t> device;
  if (is_gpu(lane.key.kind)) device = lane.key.device;
  if (is_gpu_annotation(lane))
    device = device_of_stream(timeline, process, static_cast<std::uint32_t>(tid_of(lane.key.global_tid)));
  return device ? GroupKey{GroupKind::kGpu, lane.key.process, *device} : key;
}

void add(const Timeline& timeline, LaneGroup& process, LaneId id) {
  const GroupKey key = key_of(timeline, process, id);
  auto group = std::ranges::find(process.groups, key, &LaneGroup::key);
  if (group == process.groups.end()) group = process.groups.insert(group, LaneGroup{key, {}, {}, false});
  // Annotations stand above the streams that they are of.
  const auto streams = std::ranges::find_if(group->lanes, [&](LaneId l) { return is_gpu(timeline.lanes[l].key.kind); });
  group->lanes.insert(is_gpu_annotation(timeline.lanes[id]) ? streams : group->lanes.end(), id);
}

void divide(const Timeline& timeline, const GraphLaunches& graphs, LaneGroup& group) {
  const auto idle = [&](LaneId id) { return is_idle(timeline, id); };
  group.is_folded_at_first = std::ranges::all_of(group.lanes, idle);
  std::vector<bool> is_graph(timeline.lanes.size());
  for (const LaneId id : group.lanes)
    is_graph[id] = !idle(id) && graphs.launched_all(timeline.lanes[id]);
  for (const LaneKind kind : {LaneKind::kKernels, LaneKind::kCommunication, LaneKind::kCopies})
    set_apart(group, GroupKind::kGraphStreams, kind,
              [&](LaneId id) { return is_graph[id] && timeline.lanes[id].key.kind == kind; });
  if (!group.is_folded_at_first) set_apart(group, GroupKind::kIdle, LaneKind::kKernels, idle);
}

}  // namespace

std::vector<LaneId> LaneGroup::all_lanes() const {
  std::vector<LaneId> all = lanes;
  for (const LaneGroup& group : groups)
    std::ranges::copy(group.all_lanes(), std::back_inserter(all));
  return all;
}

std::vector<LaneGroup> group_lanes(const Timeline& timeline) {
  const GraphLaunches graphs(timeline);
  std::vector<LaneGroup> processes(timeline.processes.size());
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    processes[i].key = {GroupKind::kProcess, i};
    processes[i].is_folded_at_first = processes.size() > kUnfoldedProcesses && i > 0;
  }
  for (LaneId id = 0; id < timeline.lanes.size(); ++id)
    add(timeline, processes[timeline.lanes[id].key.process], id);
  for (LaneGroup& process : processes) {
    for (LaneGroup& group : process.groups)
      divide(timeline, graphs, group);
  }
  return processes;
}

bool is_gpu_annotation(const TimelineLane& lane) {
  return lane.key.kind == LaneKind::kRanges && lane.label.ends_with(kDomainTorchGpuUser);
}

Interval opening_window(const Timeline& timeline) {
  for (const TimelineProcess& process : timeline.processes) {
    std::vector<Interval> steps = process.steps;
    if (steps.empty()) continue;
    const auto median = steps.begin() + std::ssize(steps) / 2;
    std::ranges::nth_element(steps, median, {}, &Interval::length);
    const std::int64_t margin = median->length() / 20;
    return {median->begin_ns - margin, median->end_ns + margin};
  }
  return timeline.span();
}

}  // namespace swinscope::gui
