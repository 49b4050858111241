#include "analyzer/trace/event_columns.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/sort_by_lane.h"

namespace swinscope {
namespace {

template <typename... Column>
void reserve(std::size_t events, Column&... columns) {
  (columns.reserve(events), ...);
}

template <typename Lane>
void fill_lane_column(const std::vector<Lane>& lanes, std::vector<std::uint32_t>& column, std::size_t size) {
  column.resize(size);
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    std::fill(column.begin() + lanes[lane].events.begin, column.begin() + lanes[lane].events.end, lane);
  }
}

// Whether the record at a place is within the times.
template <typename Raw>
auto within(const Raw& raw, Interval times) {
  return [&raw, times](EventIndex i) { return raw.start_ns[i] >= times.begin_ns && raw.end_ns[i] <= times.end_ns; };
}

// Other programs attach such values to ranges of their own, which are no operators: whoever asks knows the domain.
bool has_sequence(const NvtxRecord& r) { return r.value_type == NvtxValueType::kInt64 && r.int64_value >= 0; }

void fill_depths(Rank& rank) {
  Ranges& ranges = rank.ranges;
  ranges.depth.resize(ranges.size());
  std::vector<std::int64_t> open;  // ends of the enclosing ranges
  for (const RangeLane& lane : rank.range_lanes) {
    open.clear();
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      while (!open.empty() && open.back() <= ranges.start_ns[i])
        open.pop_back();
      ranges.depth[i] = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), 0xFFFF));
      open.push_back(ranges.end_ns[i]);
    }
  }
}

void fill_classes(Rank& rank, const StringPool& strings, const Watch& watch) {
  std::unordered_map<StringId, OperationKind> of_kernels;  // asked once per name
  const auto operation_of = [&](GpuKind kind, StringId name) {
    if (kind != GpuKind::kKernel) return operation_kind(kind, {});
    const auto [entry, is_new] = of_kernels.try_emplace(name, OperationKind::kUnknown);
    if (is_new) entry->second = operation_kind(kind, strings.text(name));
    return entry->second;
  };
  GpuEvents& gpu = rank.gpu;
  reserve(gpu.size(), gpu.gpu_class, gpu.operation);
  for (EventIndex i = 0; i < gpu.size(); ++i) {
    watch.tick();
    const OperationKind operation = operation_of(gpu.kind[i], gpu.name[i]);
    gpu.operation.push_back(operation);
    const CopyEnds* ends = rank.ends_of(i);
    gpu.gpu_class.push_back(ends != nullptr && ends->is_between_gpus() ? GpuClass::kCommunication
                                                                       : class_of(operation));
  }
}

// Where nsys wraps the functions of the library it records them twice: cudaMalloc and, within it and with its
// correlation, cudaMalloc_v3020. Gives how many it left out.
EventIndex leave_out_repeated(const RawApiCalls& raw, LaneOrder& lanes, const Watch& watch) {
  const auto repeats = [&](EventIndex inner, EventIndex outer) {
    return raw.correlation[inner] != 0 && raw.correlation[inner] == raw.correlation[outer] &&
           raw.name[inner] == raw.name[outer] && raw.end_ns[inner] <= raw.end_ns[outer];
  };
  EventIndex kept = 0;
  for (const std::uint32_t lane : raw.lanes.sorted()) {
    Slice& events = lanes.events[lane];
    const EventIndex begin = kept;
    for (EventIndex i = events.begin; i < events.end; ++i) {
      watch.tick();
      if (kept == begin || !repeats(lanes.order[i], lanes.order[kept - 1])) lanes.order[kept++] = lanes.order[i];
    }
    events = {begin, kept};
  }
  const auto repeated = static_cast<EventIndex>(lanes.order.size() - kept);
  lanes.order.resize(kept);
  return repeated;
}

}  // namespace

Interval plausible_times(const RawGpuEvents& gpu, const RawApiCalls& calls, const RawRanges& ranges) {
  constexpr std::size_t kSample = 1000;
  constexpr std::int64_t kFarNs = std::int64_t{1} << 52U;
  std::vector<std::int64_t> starts;
  const auto sample = [&](const auto& column, auto start_of) {
    const std::size_t step = column.size() / kSample + 1;
    std::size_t i = 0;
    column.for_each_place([&](EventIndex place) {
      if (i++ % step == 0) starts.push_back(start_of(column[place]));
    });
  };
  sample(gpu.start_ns, std::identity());
  sample(calls.start_ns, std::identity());
  sample(ranges.record, [](const NvtxRecord& r) { return r.start_ns; });
  if (starts.empty()) return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  const auto middle = starts.begin() + std::ssize(starts) / 2;
  std::nth_element(starts.begin(), middle, starts.end());
  return {*middle - kFarNs, *middle + kFarNs};
}

EventIndex take_calls(RawApiCalls& raw, Rank& rank, Interval times, const Watch& watch) {
  // Of two calls that start together the longer is the outer one.
  const auto outer_first = [&](EventIndex i) { return std::pair(raw.start_ns[i], -raw.end_ns[i]); };
  LaneOrder ordered = order_by_lane(raw.lane, raw.lanes.sorted(), outer_first, within(raw, times), watch);
  const EventIndex repeated = leave_out_repeated(raw, ordered, watch);
  const auto& [order, lanes] = ordered;
  for (const std::uint32_t lane : raw.lanes.sorted()) {
    if (lanes[lane].size() > 0) rank.api_lanes.push_back({raw.lanes.key(lane), lanes[lane]});
  }
  rank.api.start_ns = raw.start_ns.take_in_order(order);
  rank.api.end_ns = raw.end_ns.take_in_order(order);
  rank.api.name = raw.name.take_in_order(order);
  rank.api.correlation = raw.correlation.take_in_order(order);
  raw = {};
  fill_lane_column(rank.api_lanes, rank.api.lane, order.size());
  return repeated;
}

void take_ranges(RawRanges& raw, Rank& rank, Interval times, const Watch& watch) {
  const auto& records = raw.record;
  // Of two ranges that start together the longer is the outer one.
  const auto outer_first = [&](EventIndex i) { return std::pair(records[i].start_ns, -records[i].end_ns); };
  const auto is_kept = [&](EventIndex i) {
    return records[i].start_ns >= times.begin_ns && records[i].end_ns <= times.end_ns;
  };
  const auto [order, lanes] = order_by_lane(raw.lane, raw.lanes.sorted(), outer_first, is_kept, watch);
  for (const std::uint32_t lane : raw.lanes.sorted()) {
    if (lanes[lane].size() == 0) continue;
    const auto& [global_tid, domain] = raw.lanes.key(lane);
    rank.range_lanes.push_back({global_tid, domain, lanes[lane]});
  }
  Ranges& ranges = rank.ranges;
  reserve(order.size(), ranges.start_ns, ranges.end_ns, ranges.name, ranges.json);
  for (const EventIndex i : order) {
    watch.tick();
    const NvtxRecord& r = records[i];
    ranges.start_ns.push_back(r.start_ns);
    ranges.end_ns.push_back(r.end_ns);
    ranges.name.push_back(r.text);
    ranges.json.push_back(r.json);
    if (r.type == NvtxType::kStartEnd) rank.start_end_ranges.push_back(ranges.size() - 1);
  }
  if (std::ranges::any_of(order, [&](EventIndex i) { return has_sequence(records[i]); })) {
    ranges.sequence.reserve(order.size());
    for (const EventIndex i : order)
      ranges.sequence.push_back(has_sequence(records[i]) ? records[i].int64_value : -1);
  }
  fill_lane_column(rank.range_lanes, ranges.lane, order.size());
  raw = {};
  fill_depths(rank);
}

std::vector<std::uint32_t> take_gpu_events(RawGpuEvents& raw, Rank& rank, const StringPool& strings, Interval times,
                                           const Watch& watch) {
  // With the kind, so that which table was read first does not matter.
  const auto key = [&](EventIndex i) {
    return std::tuple(raw.start_ns[i], raw.end_ns[i], raw.correlation[i], raw.kind[i]);
  };
  const auto [order, lanes] = order_by_lane(raw.lane, raw.lanes.sorted(), key, within(raw, times), watch);
  for (const std::uint32_t lane : raw.lanes.sorted()) {
    if (lanes[lane].size() == 0) continue;
    const auto& [device, context, stream] = raw.lanes.key(lane);
    rank.gpu_lanes.push_back({device, context, stream, lanes[lane]});
  }
  GpuEvents& gpu = rank.gpu;
  gpu.start_ns = raw.start_ns.take_in_order(order);
  gpu.end_ns = raw.end_ns.take_in_order(order);
  gpu.name = raw.name.take_in_order(order);
  gpu.short_name = raw.short_name.take_in_order(order);
  gpu.bytes = raw.bytes.take_in_order(order);
  gpu.config = raw.config.take_in_order(order);
  gpu.correlation = raw.correlation.take_in_order(order);
  gpu.graph_node = raw.graph_node.take_in_order(order);
  gpu.kind = raw.kind.take_in_order(order);
  std::vector<std::uint32_t> process_of = raw.process.take_in_order(order);
  fill_lane_column(rank.gpu_lanes, gpu.lane, order.size());
  fill_classes(rank, strings, watch);
  return process_of;
}

}  // namespace swinscope
