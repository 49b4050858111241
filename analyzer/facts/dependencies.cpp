#include "analyzer/facts/dependencies.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace swinscope {
namespace {

enum class Waits : std::uint8_t { kNothing, kDevice, kSomething };

// "cudaStreamSynchronize_v3020": a call that waits for GPU work whatever its arguments are.
Waits waits_of(std::string_view call) {
  const auto is = [&](std::string_view name) { return call.starts_with(name); };
  if (is("cudaDeviceSynchronize") || is("cuCtxSynchronize") || is("hipDeviceSynchronize")) return Waits::kDevice;
  if (is("cudaStreamSynchronize") || is("cuStreamSynchronize") || is("cudaEventSynchronize") ||
      is("cuEventSynchronize") || is("hipStreamSynchronize") || is("hipEventSynchronize")) {
    return Waits::kSomething;
  }
  return Waits::kNothing;
}

bool is_pageable(const CopyEnds& ends) {
  return ends.src_kind == MemoryKind::kPageable || ends.dst_kind == MemoryKind::kPageable;
}

}  // namespace

Dependencies::Dependencies(const Trace& trace, const Rank& rank) : trace_(&trace), rank_(&rank) {
  find_launches();
  if (are_recorded()) {
    add_recorded();
  } else {
    add_by_name();
  }
  add_blocking_copies();
  const auto by_call = [&](const auto& a, const auto& b) {
    return std::tuple(rank_->api.start_ns[a.call], a.call, a.event) <
           std::tuple(rank_->api.start_ns[b.call], b.call, b.event);
  };
  std::ranges::sort(stream_waits_, by_call);
  std::ranges::sort(host_waits_, by_call);
}

void Dependencies::find_launches() {
  const GpuEvents& gpu = rank_->gpu;
  launches_.resize(rank_->gpu_lanes.size());
  for (std::uint32_t lane = 0; lane < rank_->gpu_lanes.size(); ++lane) {
    const GpuLane& of = rank_->gpu_lanes[lane];
    lanes_.emplace(std::tuple(of.device, of.context, of.stream), lane);
    for (EventIndex e = of.events.begin; e < of.events.end; ++e) {
      const EventIndex call = gpu.launch[e];
      if (call == kNoEvent) continue;
      launches_[lane].push_back({rank_->api.start_ns[call], e});
      if (gpu.graph_node[e] == 0) continue;
      EventIndex& last = last_of_graph_.emplace(call, e).first->second;
      if (gpu.end_ns[e] > gpu.end_ns[last]) last = e;
    }
    std::ranges::stable_sort(launches_[lane], {}, &Launch::at_ns);
  }
  for (EventIndex call = 0; call < rank_->api.size(); ++call) {
    const std::uint64_t process = global_pid_of(rank_->api_lanes[rank_->api.lane[call]].global_tid);
    if (rank_->api.correlation[call] != 0) calls_.push_back({{process, rank_->api.correlation[call]}, call});
  }
  std::ranges::sort(calls_);
}

EventIndex Dependencies::call_of(std::uint64_t global_pid, std::uint32_t correlation) const {
  const ProcessAndCorrelation key(global_pid_of(global_pid == 0 ? rank_->run.global_pid : global_pid), correlation);
  const auto found = std::ranges::lower_bound(calls_, std::pair(key, EventIndex{0}));
  return found != calls_.end() && found->first == key ? found->second : kNoEvent;
}

EventIndex Dependencies::last_launched(std::uint32_t lane, std::int64_t before_ns) const {
  const std::vector<Launch>& launches = launches_[lane];
  const auto after = std::ranges::lower_bound(launches, before_ns, {}, &Launch::at_ns);
  if (after == launches.begin()) return kNoEvent;
  const EventIndex event = std::prev(after)->event;
  const auto graph = last_of_graph_.find(rank_->gpu.launch[event]);
  return graph == last_of_graph_.end() ? event : graph->second;
}

void Dependencies::wait_for_lane(EventIndex call, std::uint32_t lane) {
  const EventIndex event = last_launched(lane, rank_->api.start_ns[call]);
  if (event != kNoEvent) host_waits_.push_back({call, event});
}

void Dependencies::wait_for_device(EventIndex call, std::int32_t device, std::uint32_t context, bool any_context) {
  for (std::uint32_t lane = 0; lane < rank_->gpu_lanes.size(); ++lane) {
    const GpuLane& of = rank_->gpu_lanes[lane];
    if (any_context || (of.device == device && of.context == context)) wait_for_lane(call, lane);
  }
}

void Dependencies::add_recorded() {
  // The records of one event, by the time of the call; where the recorder numbers them, by that number.
  struct Recorded {
    std::int64_t at_ns;
    EventIndex last;  // what the stream held; kNoEvent: nothing
  };
  std::unordered_map<std::uint64_t, Recorded> by_number;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Recorded>> by_event;
  for (const CudaEventRecord& record : rank_->cuda_events) {
    const EventIndex call = call_of(record.global_pid, record.correlation);
    const auto lane = lanes_.find(std::tuple(record.device, record.context, record.stream));
    if (call == kNoEvent) continue;
    const std::int64_t at_ns = rank_->api.start_ns[call];
    const Recorded recorded = {at_ns, lane == lanes_.end() ? kNoEvent : last_launched(lane->second, at_ns)};
    if (record.event_sync != 0) by_number.emplace(record.event_sync, recorded);
    by_event[{record.context, record.event}].push_back(recorded);
  }
  for (auto& [event, records] : by_event)
    std::ranges::sort(records, {}, &Recorded::at_ns);
  const auto find_record = [&](const SyncRecord& sync, EventIndex call) -> const Recorded* {
    if (sync.event_sync != 0) {
      const auto found = by_number.find(sync.event_sync);
      if (found == by_number.end()) return nullptr;
      // Some recorders join a wait to whatever record of the event they saw last.
      if (found->second.at_ns <= rank_->api.start_ns[call]) return &found->second;
    }
    const auto records = by_event.find({sync.context, sync.event});
    if (records == by_event.end()) return nullptr;
    const auto after = std::ranges::upper_bound(records->second, rank_->api.start_ns[call], {}, &Recorded::at_ns);
    return after == records->second.begin() ? nullptr : &*std::prev(after);
  };
  for (const SyncRecord& sync : rank_->syncs) {
    const EventIndex call = call_of(sync.global_pid, sync.correlation);
    if (call == kNoEvent) continue;  // a call that was not asked for: a query
    const auto lane = lanes_.find(std::tuple(sync.device, sync.context, sync.stream));
    if (sync.type == SyncType::kContext) {
      wait_for_device(call, sync.device, sync.context, false);
    } else if (sync.type == SyncType::kStream) {
      if (lane != lanes_.end()) wait_for_lane(call, lane->second);
    } else if (const Recorded* record = find_record(sync, call); record == nullptr) {
      ++unresolved_;
    } else if (record->last == kNoEvent) {
      // Recorded before anything was put onto the stream: nothing to wait for.
    } else if (sync.type == SyncType::kEvent) {
      host_waits_.push_back({call, record->last});
    } else if (sync.type == SyncType::kStreamWaitEvent && lane != lanes_.end()) {
      stream_waits_.push_back({call, lane->second, record->last});
    }
  }
}

// The stream or event is not known: it is the work that ended last before the call did.
void Dependencies::add_by_name() {
  constexpr std::int64_t kClockNs = 20'000;  // the GPU's and the host's times differ by less
  const ApiCalls& api = rank_->api;
  std::unordered_map<StringId, Waits> known;
  for (EventIndex call = 0; call < api.size(); ++call) {
    const auto [entry, is_new] = known.emplace(api.name[call], Waits::kNothing);
    if (is_new) entry->second = waits_of(trace_->text(api.name[call]));
    if (entry->second == Waits::kDevice) wait_for_device(call, 0, 0, true);
    if (entry->second != Waits::kSomething) continue;
    EventIndex last = kNoEvent;
    for (std::uint32_t lane = 0; lane < launches_.size(); ++lane) {
      const EventIndex event = last_launched(lane, api.start_ns[call]);
      if (event == kNoEvent || rank_->gpu.end_ns[event] > api.end_ns[call] + kClockNs) continue;
      if (last == kNoEvent || rank_->gpu.end_ns[event] > rank_->gpu.end_ns[last]) last = event;
    }
    if (last != kNoEvent) host_waits_.push_back({call, last});
  }
}

// Of memory that is not pinned: the call returns when the copy is done, or has left the memory for the driver's own.
void Dependencies::add_blocking_copies() {
  const GpuEvents& gpu = rank_->gpu;
  for (EventIndex e = 0; e < gpu.size(); ++e) {
    const CopyEnds* ends = rank_->ends_of(e);
    const EventIndex call = gpu.launch[e];
    if (ends == nullptr || call == kNoEvent || gpu.graph_node[e] != 0 || !is_pageable(*ends)) continue;
    if (rank_->api.end_ns[call] >= gpu.end_ns[e]) host_waits_.push_back({call, e});
  }
}

}  // namespace swinscope
