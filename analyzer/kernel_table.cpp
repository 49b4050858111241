#include "analyzer/kernel_table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace swinscope {
namespace {

// The events of one row while they are collected.
struct Group {
  KernelRow row;
  std::int64_t longest_ns = -1;
  std::vector<std::int64_t> durations;
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> config_calls;  // (rank index, config) -> calls

  void add(const Rank& rank, std::size_t rank_index, EventIndex i) {
    const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    durations.push_back(duration);
    row.bytes += rank.gpu.bytes[i];
    if (rank.gpu.kind[i] == GpuKind::kKernel) ++config_calls[{rank_index, rank.gpu.config[i]}];
    if (duration <= longest_ns) return;
    longest_ns = duration;
    row.longest_rank_index = rank_index;
    row.longest_event = i;
  }
};

// What an event is grouped by: the name's id, or the number of its operation or class.
std::uint32_t group_id(const GpuEvents& gpu, EventIndex i, KernelGrouping grouping) {
  switch (grouping) {
    case KernelGrouping::kName:
      return gpu.name[i];
    case KernelGrouping::kShortName:
      return gpu.short_name[i];
    case KernelGrouping::kOperation:
      return static_cast<std::uint32_t>(gpu.operation[i]);
    case KernelGrouping::kClass:
      break;
  }
  return static_cast<std::uint32_t>(gpu.gpu_class[i]);
}

std::string group_name(const Trace& trace, std::uint32_t id, KernelGrouping grouping) {
  if (grouping == KernelGrouping::kOperation)
    return std::string(operation_name(OperationKind{static_cast<std::uint8_t>(id)}));
  if (grouping == KernelGrouping::kClass) return std::string(class_name(GpuClass{static_cast<std::uint8_t>(id)}));
  return std::string(trace.text(id));
}

// Busy time of the devices and steps, by rank, and over all of them under -1.
struct RankSums {
  std::int64_t busy_ns = 0;
  std::int64_t steps = 0;
};
std::map<std::int32_t, RankSums> sums_by_rank(const Trace& trace, const RunScope& scope,
                                              const std::vector<DeviceBreakdown>& devices) {
  std::map<std::int32_t, RankSums> sums;
  for (const DeviceBreakdown& device : devices) {
    sums[device.rank].busy_ns += device.busy_ns;
    sums[-1].busy_ns += device.busy_ns;
  }
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    sums[trace.ranks[r].run.rank].steps += scope.step_count(r);
    sums[-1].steps += scope.step_count(r);
  }
  return sums;
}

auto config_key(const LaunchConfig& c) {
  return std::tuple(c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.cluster.x, c.cluster.y,
                    c.cluster.z, c.registers_per_thread, c.static_shared_bytes, c.dynamic_shared_bytes);
}

// How many launch configurations there were, and the one of most of the calls. Each rank numbers its own, so equal ones
// are brought together here.
void set_config(const Group& group, const Trace& trace, KernelRow& row) {
  std::map<decltype(config_key({})), std::int64_t> calls_of;
  std::int64_t most = 0;
  for (const auto& [at, calls] : group.config_calls) {
    const LaunchConfig& config = trace.ranks[at.first].configs[at.second];
    const std::int64_t sum = calls_of[config_key(config)] += calls;
    if (sum > most) row.config = config;
    most = std::max(most, sum);
  }
  row.configs = static_cast<std::int64_t>(calls_of.size());
}

KernelRow finish(Group& group, const Trace& trace, const RankSums& sums) {
  KernelRow& row = group.row;
  row.duration = summarize(std::move(group.durations));
  row.steps = sums.steps;
  if (sums.busy_ns > 0) row.busy_share = static_cast<double>(row.duration.total) / static_cast<double>(sums.busy_ns);
  set_config(group, trace, row);
  return std::move(row);
}

}  // namespace

std::vector<KernelRow> kernel_table(const Trace& trace, const RunScope& scope,
                                    const std::vector<DeviceBreakdown>& devices, const KernelTableOptions& options) {
  // Kind is part of the key: a kernel named like a copy must not be added to the copies.
  std::map<std::tuple<std::int32_t, std::uint32_t, GpuKind>, Group> groups;
  const bool kinds_apart = options.grouping == KernelGrouping::kName || options.grouping == KernelGrouping::kShortName;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const std::int32_t rank_key = options.by_rank ? rank.run.rank : -1;
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      const GpuKind kind = rank.gpu.kind[i];
      if (!options.copies && (kind == GpuKind::kMemcpy || kind == GpuKind::kMemset)) continue;
      if (!scope.has_gpu_event(r, i)) continue;
      const std::uint32_t id = group_id(rank.gpu, i, options.grouping);
      Group& group = groups[{rank_key, id, kinds_apart ? kind : GpuKind::kKernel}];
      if (group.row.longest_event == kNoEvent) {
        group.row.name = group_name(trace, id, options.grouping);
        group.row.rank = rank_key;
        group.row.gpu_class = rank.gpu.gpu_class[i];
        if (options.grouping != KernelGrouping::kClass) {
          group.row.operation = rank.gpu.operation[i];
        }
      }
      if (group.row.operation != rank.gpu.operation[i]) group.row.operation.reset();  // one name, launched by several
      group.add(rank, r, i);
    }
  }
  const auto sums = sums_by_rank(trace, scope, devices);
  std::vector<KernelRow> rows;
  rows.reserve(groups.size());
  for (auto& [key, group] : groups)
    rows.push_back(finish(group, trace, sums.at(std::get<0>(key))));
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return std::tuple(-a.duration.total, a.name, a.rank) < std::tuple(-b.duration.total, b.name, b.rank);
  });
  return rows;
}

}  // namespace swinscope
