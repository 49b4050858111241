#include "analyzer/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/base/parallel.h"

namespace swinscope {
namespace {

// Sessions that began further apart were not one job; nothing could be seen of them on one axis.
constexpr std::int64_t kMaxOffsetNs = std::int64_t{24} * 3600 * 1'000'000'000;

}  // namespace

NameId NameTable::add(std::string_view text) {
  bytes_.append(text);
  end_.push_back(bytes_.size());
  return size() - 1;
}

std::string_view NameTable::text(NameId id) const {
  const std::uint64_t begin = id == 0 ? 0 : end_[id - 1];
  return std::string_view(bytes_).substr(begin, end_[id] - begin);
}

std::size_t NameTable::memory_bytes() const { return bytes_.capacity() + end_.capacity() * sizeof(end_[0]); }

Interval Timeline::span() const {
  if (lanes.empty()) return {0, 1};
  Interval span{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const TimelineLane& lane : lanes) {
    span.begin_ns = std::min(span.begin_ns, lane.begin_ns());
    span.end_ns = std::max(span.end_ns, lane.end_ns());
  }
  span.end_ns = std::max(span.end_ns, span.begin_ns + 1);
  return span;
}

std::uint64_t Timeline::event_count() const {
  std::uint64_t count = 0;
  for (const TimelineLane& lane : lanes)
    count += lane.size();
  return count;
}

TimelineEventId Timeline::find(std::uint32_t process, LaneKind kind, EventIndex ref) const {
  for (LaneId id = 0; id < lanes.size(); ++id) {
    const LaneKey& key = lanes[id].key;
    const bool same_columns = is_gpu(kind) ? is_gpu(key.kind) : key.kind == kind;
    if (key.process != process || !same_columns) continue;
    if (const LanePosition position = lanes[id].find(ref); position != kNoPosition) return {id, position};
  }
  return {};
}

std::size_t Timeline::memory_bytes() const {
  std::size_t bytes = names.memory_bytes();
  for (const TimelineLane& lane : lanes)
    bytes += lane.memory_bytes();
  return bytes;
}

namespace {

// The events of a lane within each of `cells` equal parts of `span`, as one event for each part that has any. An event
// counts in every part that it covers.
TimelineLane coarse_lane(const TimelineLane& lane, Interval span, std::int64_t cells) {
  TimelineLane coarse;
  coarse.key = lane.key;
  coarse.label = lane.label;
  const std::int64_t width = span.length() / cells + 1;
  // Cells lie at multiples of their width, so only those between the lane's ends are looked at.
  for (std::int64_t cell = (lane.begin_ns() - span.begin_ns) / width; cell < cells; ++cell) {
    const std::int64_t begin = span.begin_ns + cell * width;
    if (begin > lane.end_ns()) break;
    const Occupancy occupancy = lane.occupancy(begin, begin + width);
    if (occupancy.event == kNoPosition) continue;
    LaneEvent event = lane.event(occupancy.event);
    event.start_ns = begin;
    event.duration_ns = occupancy.busy_ns;
    event.ref = static_cast<EventIndex>(cell);
    event.launch = kNoEvent;
    coarse.append(event);
  }
  coarse.seal();
  return coarse;
}

constexpr std::int64_t kPreviewCells = 2048;

}  // namespace

Timeline make_preview(const Timeline& timeline) {
  Timeline preview;
  preview.path = timeline.path;
  preview.description = timeline.description;
  preview.processes = timeline.processes;
  preview.names = timeline.names;
  preview.preview = true;
  const Interval span = timeline.span();
  preview.lanes.reserve(timeline.lanes.size());
  for (const TimelineLane& lane : timeline.lanes) {
    // A short lane is its own stand-in.
    preview.lanes.push_back(lane.size() <= kPreviewCells ? lane : coarse_lane(lane, span, kPreviewCells));
  }
  return preview;
}

void align_processes(std::vector<TimelineProcess>& processes, std::span<const std::int64_t> corrections_ns) {
  if (processes.empty()) return;
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < processes.size(); ++i)
    starts.push_back(processes[i].utc_epoch_ns + (corrections_ns.empty() ? 0 : corrections_ns[i]));
  const auto [earliest, latest] = std::ranges::minmax(starts);
  const bool any_unknown = std::ranges::min(processes, {}, &TimelineProcess::utc_epoch_ns).utc_epoch_ns <= 0;
  const bool is_corrected = std::ranges::any_of(corrections_ns, [](std::int64_t ns) { return ns != 0; });
  if ((any_unknown && !is_corrected) || latest - earliest > kMaxOffsetNs) return;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    TimelineProcess& process = processes[i];
    const std::int64_t offset = starts[i] - earliest;
    for (Interval& step : process.steps)
      step = {step.begin_ns + offset - process.offset_ns, step.end_ns + offset - process.offset_ns};
    process.offset_ns = offset;
  }
}

namespace {

// Where the processes of several files go; their ranks are renumbered as open_trace() does when files made apart claim
// the same.
std::vector<std::uint32_t> order_processes(std::vector<TimelineProcess>& processes) {
  std::set<std::int32_t> taken;
  bool clash = false;
  for (const TimelineProcess& process : processes)
    clash |= process.source != "swinscope" && !taken.insert(process.rank).second;
  std::vector<std::uint32_t> order(processes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    if (clash) processes[i].rank = static_cast<std::int32_t>(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return processes[i].rank; });
  std::vector<TimelineProcess> sorted;
  std::vector<std::uint32_t> place(order.size());
  for (const std::uint32_t from : order) {
    place[from] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(processes[from]));
  }
  processes = std::move(sorted);
  return place;
}

class NameMerger {
 public:
  explicit NameMerger(NameTable& names) : names_(names) {}
  std::vector<NameId> add(const NameTable& part) {
    std::vector<NameId> to(part.size());
    for (NameId id = 0; id < part.size(); ++id) {
      const auto [entry, is_new] = ids_.try_emplace(std::string(part.text(id)), names_.size());
      to[id] = is_new ? names_.add(part.text(id)) : entry->second;
    }
    return to;
  }

 private:
  NameTable& names_;
  std::unordered_map<std::string, NameId> ids_;
};

}  // namespace

// Cells of five events at least, on average. With fewer in a pixel a walk is as fast; but the whole of a lane on a wide
// screen should need none, and for short lanes that costs little.
void index_grids(Timeline& timeline, int threads) {
  constexpr std::size_t kEventsPerCell = 5;
  constexpr std::size_t kCellsPerEvent = 4;
  constexpr std::size_t kWideScreen = std::size_t{1} << 15;  // cells: two or more a pixel
  constexpr std::size_t kAllLanes = std::size_t{1} << 20;    // cells
  const std::size_t most_for_short = std::min(kWideScreen, kAllLanes / std::max<std::size_t>(timeline.lanes.size(), 1));
  parallel_for(timeline.lanes.size(), threads, [&](std::size_t i) {
    TimelineLane& lane = timeline.lanes[i];
    const std::size_t events = lane.size();
    lane.index_grid(std::max(events / kEventsPerCell, std::min(events * kCellsPerEvent, most_for_short)));
  });
}

Timeline merge_timelines(std::vector<Timeline> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Timeline merged;
  merged.path = parts.front().path;
  merged.description = parts.front().description;
  for (Timeline& part : parts) {
    std::ranges::move(part.processes, std::back_inserter(merged.processes));
    std::ranges::move(part.warnings, std::back_inserter(merged.warnings));
    merged.preview |= part.preview;
  }
  const std::vector<std::uint32_t> place = order_processes(merged.processes);
  std::vector<std::int64_t> offset_before;
  for (const TimelineProcess& process : merged.processes)
    offset_before.push_back(process.offset_ns);
  align_processes(merged.processes);

  NameMerger names(merged.names);
  std::uint32_t first_process = 0;
  for (Timeline& part : parts) {
    const std::vector<NameId> to = names.add(part.names);
    const auto processes = static_cast<std::uint32_t>(part.processes.size());
    for (TimelineLane& lane : part.lanes) {
      const std::uint32_t process = place[first_process + lane.key.process];
      lane.key.process = process;
      lane.rename(to);
      lane.shift(merged.processes[process].offset_ns - offset_before[process]);
      merged.lanes.push_back(std::move(lane));
    }
    for (CounterSeries& series : part.counters) {
      series.process = place[first_process + series.process];
      for (std::int64_t& edge_ns : series.edges_ns)
        edge_ns += merged.processes[series.process].offset_ns - offset_before[series.process];
      merged.counters.push_back(std::move(series));
    }
    part = Timeline();
    first_process += processes;
  }
  std::ranges::stable_sort(merged.lanes, {}, [](const TimelineLane& lane) { return lane.key.process; });
  std::ranges::stable_sort(merged.counters, {}, &CounterSeries::process);
  return merged;
}

}  // namespace swinscope
