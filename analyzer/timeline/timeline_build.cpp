// Lays out a trace: which events go to which lane.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/base/parallel.h"
#include "analyzer/facts/clock_alignment.h"
#include "analyzer/facts/steps.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope {
namespace {

// Which sub-lane each event of a lane goes to: the lowest one that is free when the event starts.
class SublaneChooser {
 public:
  std::uint32_t choose(std::int64_t start_ns, std::int64_t end_ns) {
    while (!busy_.empty() && busy_.top().first <= start_ns) {
      free_.push(busy_.top().second);
      busy_.pop();
    }
    std::uint32_t lane = count_;
    if (free_.empty()) {
      ++count_;
    } else {
      lane = free_.top();
      free_.pop();
    }
    busy_.emplace(end_ns, lane);
    return lane;
  }

 private:
  template <typename T>
  using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;
  MinHeap<std::pair<std::int64_t, std::uint32_t>> busy_;  // by end
  MinHeap<std::uint32_t> free_;
  std::uint32_t count_ = 0;
};

// The columns of one slice of a trace, whatever its kind.
struct Source {
  LaneKey key;
  Slice events;
  std::string label;
  const std::vector<std::int64_t>* start_ns = nullptr;
  const std::vector<std::int64_t>* end_ns = nullptr;
  const std::vector<StringId>* name = nullptr;
  const GpuEvents* gpu = nullptr;  // of GPU slices: parted by class, each event with its launch
  const Ranges* ranges = nullptr;  // of range slices: parted by depth
};

constexpr std::array<const char*, 3> kGpuLabels = {"stream {}", "comm, stream {}", "copies, stream {}"};

// Cuts one slice into lanes: by class or depth (the level), then by sub-lane.
class LaneCutter {
 public:
  LaneCutter(const Source& source, const std::vector<NameId>& names, std::int64_t offset_ns, const CancelCheck& cancel)
      : source_(source), names_(names), offset_ns_(offset_ns), cancel_(cancel) {}

  std::vector<TimelineLane> cut() {
    assign();
    for (std::size_t slot = 0; slot < lanes_.size(); ++slot)
      lanes_[slot].reserve(counts_[slot]);
    fill();
    for (TimelineLane& lane : lanes_) {
      cancel_.check();
      lane.seal();
    }
    std::ranges::sort(lanes_, {}, [](const TimelineLane& lane) {
      return std::tuple(lane.key.kind, lane.key.depth, lane.key.sublane);
    });
    return std::move(lanes_);
  }

 private:
  // The events of one class or depth.
  struct Level {
    SublaneChooser chooser;
    std::vector<std::uint32_t> slots;  // by sub-lane: index into lanes_
  };

  std::uint32_t level(EventIndex i) const {
    if (source_.ranges != nullptr) return source_.ranges->depth[i];
    // LaneKind follows the order of GpuClass; kernels of unknown kind stand among the others.
    if (source_.gpu == nullptr || source_.gpu->gpu_class[i] == GpuClass::kUnknown) return 0;
    return static_cast<std::uint32_t>(source_.gpu->gpu_class[i]);
  }

  void assign() {
    std::vector<Level> levels;
    slot_.reserve(source_.events.size());
    for (EventIndex i = source_.events.begin; i < source_.events.end; ++i) {
      if (i % 65536 == 0) cancel_.check();
      const std::uint32_t at = level(i);
      if (at >= levels.size()) levels.resize(at + 1);
      Level& level = levels[at];
      const std::uint32_t sublane = level.chooser.choose((*source_.start_ns)[i], (*source_.end_ns)[i]);
      if (sublane == level.slots.size()) level.slots.push_back(add_lane(at, sublane));
      slot_.push_back(level.slots[sublane]);
      ++counts_[slot_.back()];
    }
  }

  std::uint32_t add_lane(std::uint32_t level, std::uint32_t sublane) {
    TimelineLane& lane = lanes_.emplace_back();
    counts_.push_back(0);
    lane.key = source_.key;
    lane.key.sublane = sublane;
    lane.label = source_.label;
    if (source_.gpu != nullptr) {
      lane.key.kind = static_cast<LaneKind>(level);
      lane.label = fmt::format(fmt::runtime(kGpuLabels.at(level)), source_.key.stream);
    } else if (source_.ranges != nullptr) {
      lane.key.depth = static_cast<std::uint16_t>(level);
    }
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }

  void fill() {
    for (EventIndex i = source_.events.begin; i < source_.events.end; ++i) {
      if (i % 65536 == 0) cancel_.check();
      LaneEvent event;
      event.start_ns = (*source_.start_ns)[i] + offset_ns_;
      event.duration_ns = (*source_.end_ns)[i] - (*source_.start_ns)[i];
      event.name = names_[(*source_.name)[i]];
      event.ref = i;
      if (source_.gpu != nullptr) event.launch = source_.gpu->launch[i];
      lanes_[slot_[i - source_.events.begin]].append(event);
    }
  }

  const Source& source_;
  const std::vector<NameId>& names_;
  std::int64_t offset_ns_;
  const CancelCheck& cancel_;
  std::vector<std::uint32_t> slot_;  // of each event: index into lanes_
  std::vector<std::size_t> counts_;  // by slot
  std::vector<TimelineLane> lanes_;
};

std::string thread_label(const Rank& rank, std::uint64_t global_tid) {
  const auto found = std::ranges::find(rank.run.threads, global_tid, &ThreadInfo::global_tid);
  if (found == rank.run.threads.end() || found->name.empty()) return fmt::format("thread {}", tid_of(global_tid));
  return fmt::format("{} ({})", found->name, tid_of(global_tid));
}

std::string domain_suffix(const Trace& trace, const Rank& rank, std::uint32_t domain) {
  const std::string name = rank.domain_name(domain, trace.strings);
  return name.empty() ? "" : " · " + name;
}

// In the order in which lanes are shown: GPU streams, then each thread with its ranges and calls.
std::vector<Source> sources_of(const Trace& trace, std::uint32_t process) {
  const Rank& rank = trace.ranks[process];
  std::vector<Source> sources;
  for (const GpuLane& lane : rank.gpu_lanes) {
    LaneKey key{process, LaneKind::kKernels, lane.device, lane.context, lane.stream, 0, 0, 0, 0};
    sources.push_back({key, lane.events, "", &rank.gpu.start_ns, &rank.gpu.end_ns, &rank.gpu.name, &rank.gpu, nullptr});
  }
  std::vector<Source> host;
  for (const RangeLane& lane : rank.range_lanes) {
    LaneKey key{process, LaneKind::kRanges, 0, 0, 0, lane.global_tid, lane.domain, 0, 0};
    const Ranges& ranges = rank.ranges;
    host.push_back({key, lane.events, thread_label(rank, lane.global_tid) + domain_suffix(trace, rank, lane.domain),
                    &ranges.start_ns, &ranges.end_ns, &ranges.name, nullptr, &ranges});
  }
  for (const ThreadLane& lane : rank.api_lanes) {
    LaneKey key{process, LaneKind::kCalls, 0, 0, 0, lane.global_tid, 0, 0, 0};
    host.push_back({key, lane.events, thread_label(rank, lane.global_tid) + " · CUDA calls", &rank.api.start_ns,
                    &rank.api.end_ns, &rank.api.name, nullptr, nullptr});
  }
  std::ranges::stable_sort(host, {}, [](const Source& source) { return source.key.global_tid; });
  std::ranges::move(host, std::back_inserter(sources));
  return sources;
}

// Ids of the strings that name an event, in the order of their first use; others are not taken over.
std::vector<NameId> take_names(const Trace& trace, NameTable& names, const CancelCheck& cancel) {
  constexpr NameId kUnused = std::numeric_limits<NameId>::max();
  std::vector<NameId> ids(trace.strings.size(), kUnused);
  for (const Rank& rank : trace.ranks) {
    for (const std::vector<StringId>* column : {&rank.gpu.name, &rank.ranges.name, &rank.api.name}) {
      cancel.check();
      for (const StringId id : *column) {
        if (ids[id] == kUnused) ids[id] = names.add(trace.text(id));
      }
    }
  }
  return ids;
}

TimelineProcess describe(const Trace& trace, const Rank& rank) {
  TimelineProcess process;
  process.rank = rank.run.rank;
  process.world_size = rank.run.world_size;
  process.global_pid = rank.run.global_pid;
  process.utc_epoch_ns = rank.run.utc_epoch_ns;
  process.host = rank.run.host;
  process.source = rank.run.source;
  RankSteps steps = find_steps(trace, rank);
  process.steps = std::move(steps.steps);
  process.steps_how = std::move(steps.how);
  return process;
}

}  // namespace

Timeline build_timeline(const Trace& trace, int threads, const std::atomic<bool>* cancel) {
  const CancelCheck check(cancel);
  Timeline timeline;
  timeline.path = trace.path;
  timeline.description = trace.description;
  timeline.warnings = trace.warnings;
  const std::vector<NameId> names = take_names(trace, timeline.names, check);
  std::vector<Source> sources;
  for (std::uint32_t process = 0; process < trace.ranks.size(); ++process) {
    check.check();
    timeline.processes.push_back(describe(trace, trace.ranks[process]));
    std::ranges::move(sources_of(trace, process), std::back_inserter(sources));
  }
  const ClockAlignment clocks(trace);
  check.check();
  align_processes(timeline.processes, clocks.offsets_ns());
  std::vector<std::vector<TimelineLane>> lanes(sources.size());
  parallel_for(sources.size(), threads, [&](std::size_t i) {
    const std::int64_t offset_ns = timeline.processes[sources[i].key.process].offset_ns;
    lanes[i] = LaneCutter(sources[i], names, offset_ns, check).cut();
  });
  for (std::vector<TimelineLane>& some : lanes)
    std::ranges::move(some, std::back_inserter(timeline.lanes));
  return timeline;
}

}  // namespace swinscope
