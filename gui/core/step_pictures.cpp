#include "gui/core/step_pictures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/text.h"

namespace swinscope::gui {
namespace {

// A GPU event with when it happens.
struct Placed {
  EventIndex event = kNoEvent;
  Interval time;
  bool falls_away = false;
};

// Lays the work of a rank out, each stream in its order; names are numbered in the order in which events are told, so
// that they are the same in every picture of the same events.
class PictureBuilder {
 public:
  PictureBuilder(const Trace& trace, std::size_t rank_index) : trace_(trace), rank_(trace.ranks[rank_index]) {
    picture_.timeline.processes.resize(1);
    picture_.timeline.processes.front().rank = rank_.run.rank;
  }

  // Also of what is not drawn.
  void know(EventIndex event) {
    name_of(event);
    if (lane_of_.try_emplace(rank_.gpu.lane[event], lane_of_.size()).second)
      work_.emplace_back(), known_.emplace_back();
    ++known_[lane_of_.at(rank_.gpu.lane[event])];
  }
  void add(EventIndex event, Interval time, bool falls_away) {
    work_[lane_of_.at(rank_.gpu.lane[event])].push_back({event, time, falls_away});
    any_falls_away_ |= falls_away;
  }

  StepPicture finish(std::int64_t step_ns) {
    picture_.step_ns = step_ns;
    picture_.streams = lane_of_.size();
    std::vector<Interval> busy;
    const std::vector<bool> is_apart = streams_apart();
    std::vector<Placed> others;
    for (const auto& [gpu_lane, index] : lane_of_) {
      const GpuLane& stream = rank_.gpu_lanes[gpu_lane];
      if (is_apart[index]) {
        add_lane(stream, fmt::format("stream {}", stream.stream), work_[index], busy);
      } else {
        others.insert(others.end(), work_[index].begin(), work_[index].end());
      }
    }
    add_others(others, std::ranges::count(is_apart, false), busy);
    picture_.idle_ns = step_ns - covered_within(std::move(busy), step_ns);
    if (!any_falls_away_) picture_.falls_away.clear();
    return std::move(picture_);
  }

 private:
  NameId name_of(EventIndex event) {
    const StringId text = rank_.gpu.name[event];  // in full: its colour follows from that
    const auto [name, is_new] = names_.try_emplace(text, picture_.timeline.names.size());
    if (is_new) picture_.timeline.names.add(trace_.text(text));
    return name->second;
  }

  // Branches of CUDA graphs run on dozens of streams: those with most events have lanes of their own, the same in every
  // picture of the same events.
  std::vector<bool> streams_apart() const {
    constexpr std::size_t kApart = 5;
    constexpr std::size_t kRare = 50;  // of so many events one
    std::vector<bool> is_apart(known_.size(), known_.size() <= kApart + 1);
    std::vector<std::size_t> order;
    for (const auto& [gpu_lane, index] : lane_of_)
      order.push_back(index);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t index) { return known_[index]; });
    const std::size_t all = std::accumulate(known_.begin(), known_.end(), std::size_t{0});
    for (std::size_t i = 0; i < std::min(kApart, order.size()); ++i)
      is_apart[order[i]] = is_apart[order[i]] || kRare * known_[order[i]] > all;
    return is_apart;
  }

  // On as few lanes as they need who run at once.
  void add_others(std::vector<Placed>& others, std::int64_t streams, std::vector<Interval>& busy) {
    std::ranges::stable_sort(others, {}, [](const Placed& placed) { return placed.time.begin_ns; });
    std::vector<std::vector<Placed>> lanes;
    for (const Placed& placed : others) {
      const auto free = std::ranges::find_if(
          lanes, [&](const std::vector<Placed>& lane) { return lane.back().time.end_ns <= placed.time.begin_ns; });
      (free == lanes.end() ? lanes.emplace_back() : *free).push_back(placed);
    }
    for (std::vector<Placed>& lane : lanes)
      add_lane(rank_.gpu_lanes[rank_.gpu.lane[lane.front().event]], format_counted(streams, "other streams"), lane,
               busy);
  }

  void add_lane(const GpuLane& gpu_lane, std::string label, std::vector<Placed>& work, std::vector<Interval>& busy) {
    std::ranges::stable_sort(work, {}, [](const Placed& placed) { return placed.time.begin_ns; });
    TimelineLane lane;
    lane.key.device = gpu_lane.device;
    lane.key.context = gpu_lane.context;
    lane.key.stream = gpu_lane.stream;
    lane.label = std::move(label);
    std::vector<bool> falls_away;
    std::int64_t free_ns = std::numeric_limits<std::int64_t>::min();
    for (const Placed& placed : work) {  // a kernel may begin just before the one before it ends
      const std::int64_t begin_ns = std::max(placed.time.begin_ns, free_ns);
      free_ns = std::max(begin_ns, placed.time.end_ns);
      lane.append({begin_ns, free_ns - begin_ns, name_of(placed.event), placed.event, kNoEvent});
      falls_away.push_back(placed.falls_away);
      busy.push_back({begin_ns, free_ns});
    }
    if (!lane.empty()) lane.seal();
    picture_.timeline.lanes.push_back(std::move(lane));
    picture_.falls_away.push_back(std::move(falls_away));
  }

  static std::int64_t covered_within(std::vector<Interval> busy, std::int64_t end_ns) {
    std::ranges::sort(busy, {}, &Interval::begin_ns);
    std::int64_t covered_ns = 0;
    std::int64_t upto_ns = 0;
    for (const Interval& interval : busy) {
      const std::int64_t begin_ns = std::max(interval.begin_ns, upto_ns);
      const std::int64_t till_ns = std::min(interval.end_ns, end_ns);
      if (till_ns <= begin_ns) continue;
      covered_ns += till_ns - begin_ns;
      upto_ns = till_ns;
    }
    return covered_ns;
  }

  const Trace& trace_;
  const Rank& rank_;
  StepPicture picture_;
  std::unordered_map<StringId, NameId> names_;
  std::map<std::uint32_t, std::size_t> lane_of_;  // by Rank::gpu_lanes, in work_
  std::vector<std::vector<Placed>> work_;
  std::vector<std::size_t> known_;  // events, likewise
  bool any_falls_away_ = false;
};

// Of the rank's measured steps the one of median length, counted from 1.
std::int64_t median_step(const RankSteps& steps) {
  std::vector<std::size_t> order;
  for (std::size_t i = steps.first_measured; i < steps.end_measured; ++i)
    order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps.steps[i].length(); });
  return order.empty() ? 0 : static_cast<std::int64_t>(order[(order.size() - 1) / 2]) + 1;
}

// That whose steps take longest; nullptr without steps.
const DeviceScope* slowest_device(const RunScope& scope) {
  const DeviceScope* slowest = nullptr;
  const auto step_ns = [](const DeviceScope& device) { return device.window.length() / device.steps; };
  for (const DeviceScope& device : scope.devices()) {
    if (device.steps > 0 && (slowest == nullptr || step_ns(device) > step_ns(*slowest))) slowest = &device;
  }
  return slowest;
}

Selection selection_of(const RunFacts& run, std::int64_t step) {
  Selection selection = run.scope.selection();
  selection.steps = StepRange{step, step};
  return selection;
}

}  // namespace

std::size_t StepPicture::falling_away() const {
  std::size_t count = 0;
  for (const std::vector<bool>& lane : falls_away)
    count += static_cast<std::size_t>(std::ranges::count(lane, true));
  return count;
}

ShownStep::ShownStep(const RunFacts& run, std::uint32_t rank, std::int32_t device, std::int64_t number)
    : trace_(&run.trace),
      rank_(rank),
      device_(device),
      number_(number),
      facts_(std::make_shared<const RunFacts>(run.trace, selection_of(run, number))) {}

std::optional<ShownStep> ShownStep::choose(const RunFacts& run, const DependencyGraph& graph, const Replay& replay) {
  if (!run.scope.is_of_steps()) return std::nullopt;
  const SlowestDevice slowest = slowest_device(replayed_windows(graph, replay, run));
  if (slowest.steps == 0) return std::nullopt;
  const std::size_t rank_index = graph.ranks[slowest.rank].rank_index;
  const std::int64_t number = median_step(run.scope.steps()[rank_index]);
  if (number == 0) return std::nullopt;
  ShownStep step(run, slowest.rank, slowest.device, number);
  step.rank_index_ = rank_index;
  return step;
}

StepPictures ShownStep::pictures(const DependencyGraph& graph, const Replay& replay) const {
  return {trace_->ranks[rank_index_].run.rank, number_, measured(graph), simulated(graph, replay)};
}

StepPicture ShownStep::measured(const DependencyGraph& graph) const {
  const RankGraph& nodes = graph.ranks[rank_];
  const Rank& rank = trace_->ranks[rank_index_];
  PictureBuilder builder(*trace_, rank_index_);
  Interval window;
  for (const DeviceScope& scope : facts_->scope.devices())
    if (scope.rank_index == rank_index_ && scope.device == device_) window = scope.window;
  for (const OpNode& node : nodes.ops) {
    const EventIndex event = node.event;
    if (rank.gpu_lanes[node.lane].device != device_ || !facts_->scope.has_gpu_event(rank_index_, event)) continue;
    builder.know(event);
    builder.add(event, {rank.gpu.start_ns[event] - window.begin_ns, rank.gpu.end_ns[event] - window.begin_ns},
                node.is_removed);
  }
  return builder.finish(window.length());
}

StepPicture ShownStep::simulated(const DependencyGraph& graph, const Replay& replay) const {
  const RankGraph& nodes = graph.ranks[rank_];
  const Rank& rank = trace_->ranks[rank_index_];
  PictureBuilder builder(*trace_, rank_index_);
  Interval window;
  for (const ReplayedWindow& replayed : replayed_windows(graph, replay, *facts_))
    if (replayed.rank == rank_ && replayed.device == device_) window = replayed.time;
  for (NodeIndex op = 0; op < nodes.ops.size(); ++op) {
    const OpNode& node = nodes.ops[op];
    if (rank.gpu_lanes[node.lane].device != device_ || !facts_->scope.has_gpu_event(rank_index_, node.event)) continue;
    builder.know(node.event);
    if (node.is_removed) continue;
    const NodeTimes& times = replay.ranks[rank_].ops[op];
    builder.add(node.event, {times.start_ns - window.begin_ns, times.end_ns - window.begin_ns}, false);
  }
  return builder.finish(window.length());
}

std::optional<MeasuredStep> median_step(const RunFacts& run) {
  const DeviceScope* slowest = slowest_device(run.scope);
  if (slowest == nullptr) return std::nullopt;
  const std::int64_t number = median_step(run.scope.steps()[slowest->rank_index]);
  if (number == 0) return std::nullopt;
  const RunFacts step(run.trace, selection_of(run, number));
  const auto& devices = step.scope.devices();
  const auto shown = std::ranges::find_if(devices, [&](const DeviceScope& device) {
    return device.rank_index == slowest->rank_index && device.device == slowest->device;
  });
  if (shown == devices.end()) return std::nullopt;
  const GpuEvents& gpu = run.trace.ranks[slowest->rank_index].gpu;
  PictureBuilder builder(run.trace, slowest->rank_index);
  for (const EventIndex event : shown->events) {
    if (!step.scope.has_gpu_event(slowest->rank_index, event)) continue;
    builder.know(event);
    const std::int64_t begin_ns = shown->window.begin_ns;
    builder.add(event, {gpu.start_ns[event] - begin_ns, gpu.end_ns[event] - begin_ns}, false);
  }
  return MeasuredStep{run.trace.ranks[slowest->rank_index].run.rank, number, builder.finish(shown->window.length())};
}

QString picture_text(const StepPicture& picture) {
  const auto streams = static_cast<std::int64_t>(picture.streams);
  const auto events = static_cast<std::int64_t>(picture.events());
  QString text = QStringLiteral("%1, %2 on %3, %4 without GPU work")
                     .arg(QString::fromStdString(format_duration(picture.step_ns)),
                          QString::fromStdString(format_counted(events, "GPU events")),
                          QString::fromStdString(format_counted(streams, "streams")),
                          QString::fromStdString(format_duration(picture.idle_ns)));
  if (const std::size_t falling = picture.falling_away(); falling > 0)
    text += QStringLiteral("; %1 of the events %2 away")
                .arg(QString::fromStdString(format_count(static_cast<std::int64_t>(falling))),
                     falling == 1 ? QStringLiteral("falls") : QStringLiteral("fall"));
  return text;
}

}  // namespace swinscope::gui
