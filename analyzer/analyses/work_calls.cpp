#include "analyzer/analyses/work_calls.h"

#include <fmt/format.h>

#include "analyzer/analyses/exclusive_time.h"

namespace swinscope {
namespace {

std::string shape_of(const Rank& rank, EventIndex e) {
  if (rank.gpu.kind[e] != GpuKind::kKernel) return rank.gpu.bytes[e] > 0 ? fmt::format("{} B", rank.gpu.bytes[e]) : "";
  const LaunchConfig& config = rank.configs[rank.gpu.config[e]];
  const auto text = [](const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
  return fmt::format("{} of {}", text(config.grid), text(config.block));
}

IntervalSet communication_of(const Rank& rank, const DeviceScope& device) {
  std::vector<Interval> intervals;
  for (const EventIndex e : device.events) {
    if (rank.gpu.gpu_class[e] == GpuClass::kCommunication)
      intervals.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
  }
  return unite(std::move(intervals));
}

}  // namespace

WorkCalls::WorkCalls(const RunFacts& run) : run_(run) {
  for (const DeviceScope& device : run.scope.devices())
    add(device);
}

void WorkCalls::add(const DeviceScope& device) {
  const Rank& rank = run_.trace.ranks[device.rank_index];
  const std::vector<std::int64_t> exclusive = exclusive_ns(rank, device);
  const IntervalSet communication = communication_of(rank, device);
  IntervalCover beside(communication);
  for (std::size_t i = 0; i < device.events.size(); ++i) {
    const EventIndex e = device.events[i];
    if (rank.gpu.gpu_class[e] == GpuClass::kCommunication) continue;
    calls_.push_back({key_of(device.rank_index, e), device.rank_index, e,
                      step_of(rank, run_.scope.steps()[device.rank_index], e), exclusive[i],
                      beside.of({rank.gpu.start_ns[e], rank.gpu.end_ns[e]}) > 0});
  }
}

std::size_t WorkCalls::key_of(std::size_t rank_index, EventIndex event) {
  const Rank& rank = run_.trace.ranks[rank_index];
  const OperationId operation = run_.operations()[rank_index].of_event(event);
  const bool is_kernel = rank.gpu.kind[event] == GpuKind::kKernel;
  const std::int64_t shape = is_kernel ? std::int64_t{rank.gpu.config[event]} : rank.gpu.bytes[event];
  const auto [known, is_new] =
      by_ids_.try_emplace({rank_index, layer_of(rank_index, operation), rank.gpu.name[event], shape}, 0);
  if (is_new) {
    const auto [same, is_other] = by_key_.try_emplace(make_key(rank_index, operation, event), keys_.size());
    if (is_other) keys_.push_back(same->first);
    known->second = same->second;
  }
  return known->second;
}

// Operations of one path and phase have one number.
std::size_t WorkCalls::layer_of(std::size_t rank_index, OperationId operation) {
  if (operation == kNoOperation) return 0;
  const Operation& of = run_.operations()[rank_index].all()[operation];
  return layers_.try_emplace({of.path, of.phase}, layers_.size() + 1).first->second;
}

WorkKey WorkCalls::make_key(std::size_t rank_index, OperationId operation, EventIndex event) const {
  const Rank& rank = run_.trace.ranks[rank_index];
  WorkKey key;
  if (operation != kNoOperation) {
    const Operation& of = run_.operations()[rank_index].all()[operation];
    key.path = of.path;
    key.phase = of.phase;
  }
  key.name = run_.trace.text(rank.gpu.name[event]);
  key.shape = shape_of(rank, event);
  return key;
}

}  // namespace swinscope
