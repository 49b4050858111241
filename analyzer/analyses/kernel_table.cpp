#include "analyzer/analyses/kernel_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/facts/event_costs.h"
#include "analyzer/facts/gpu_peaks.h"
#include "analyzer/table/cells.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

// The events of one row while they are collected.
struct Group {
  KernelRow row;
  std::int64_t longest_ns = -1;
  std::vector<std::int64_t> durations;
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> config_calls;  // (rank index, config) -> calls
  OperationPayload cost;                                                       // of all calls that have one
  std::size_t calls_with_cost = 0;

  void add_cost(const OperationPayload& of_call) {
    cost.flops += of_call.flops;
    cost.bytes_read += of_call.bytes_read + of_call.bytes_written;
    if (calls_with_cost++ == 0) cost.precision = of_call.precision;
    if (cost.precision != of_call.precision) cost.precision = "mixed";
  }

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

// How many launch configurations there were, and the one of most of the calls, of several the smallest: not the one
// that the file has first. Each rank numbers its own, so equal ones are brought together here.
void set_config(const Group& group, const Trace& trace, KernelRow& row) {
  const auto is_smaller = [](const LaunchConfig& a, const LaunchConfig& b) { return config_key(a) < config_key(b); };
  std::map<LaunchConfig, std::int64_t, decltype(is_smaller)> calls_of;
  for (const auto& [at, calls] : group.config_calls)
    calls_of[trace.ranks[at.first].configs[at.second]] += calls;
  const auto most = std::ranges::max_element(calls_of, {}, [](const auto& config) { return config.second; });
  if (most != calls_of.end()) row.config = most->first;
  row.configs = static_cast<std::int64_t>(calls_of.size());
}

KernelRow finish(Group& group, const Trace& trace, const RankSums& sums) {
  KernelRow& row = group.row;
  row.has_cost = group.calls_with_cost == group.durations.size();
  if (row.has_cost) {
    row.flops = group.cost.flops;
    row.bytes = group.cost.bytes_read;
    row.precision = std::move(group.cost.precision);
  }
  row.duration = summarize(std::move(group.durations));
  const CopyEnds* ends = trace.ranks[row.longest_rank_index].ends_of(row.longest_event);
  row.is_host_copy = ends != nullptr && ends->is_with_host();
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
    const EventCosts costs = options.operations == nullptr ? EventCosts() : EventCosts(rank, (*options.operations)[r]);
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
        if (options.grouping != KernelGrouping::kClass) group.row.operation = rank.gpu.operation[i];
      }
      if (group.row.operation != rank.gpu.operation[i]) group.row.operation.reset();  // one name, launched by several
      group.add(rank, r, i);
      if (const OperationPayload* cost = costs.of(i)) group.add_cost(*cost);
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

namespace {

std::string dimensions(const Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string styled_name(const Trace& trace, const KernelRow& row, NameStyle style) {
  if (style == NameStyle::kFull) return row.name;
  return event_name(trace, trace.ranks[row.longest_rank_index], row.longest_event, style);
}

// Bytes and FLOPs, and how near they come to the GPU's peaks.
struct Reached {
  Cell bytes, gbps, tflops, peak_percent, bound_by;
};

Reached reached_by(const KernelRow& row, const GpuPeaks& peaks) {
  Reached reached;
  if (row.bytes > 0) {
    reached.bytes = row.bytes;
    reached.gbps = row.gigabytes_per_second();
  }
  if (!row.has_cost || row.duration.total == 0) return reached;
  if (row.flops > 0) reached.tflops = static_cast<double>(row.flops) / static_cast<double>(row.duration.total) / 1e3;
  if (const auto shares = peak_shares(peaks, row.precision, row.flops, row.bytes, row.duration.total)) {
    reached.peak_percent = 100 * shares->larger();
    reached.bound_by = std::string(bound_name(*shares));
  }
  return reached;
}

}  // namespace

Table kernel_rows_table(const Trace& trace, const RunScope& scope, const std::vector<KernelRow>& rows,
                        NameStyle style) {
  Table table{"kernels",
              "Kernels",
              {{"name", "name"},
               {"full_name", "full name", Unit::kText, true},
               {"rank", "rank", Unit::kCount, rows.empty() || rows.front().rank < 0},
               {"operation", "operation"},
               {"class", "class", Unit::kText, true},
               {"calls", "calls", Unit::kCount},
               {"total_ns", "total", Unit::kDuration},
               {"busy_share_percent", "of busy", Unit::kPercent},
               {"per_step_ns", fmt::format("per {}", scope.unit()), Unit::kDuration},
               {"mean_ns", "mean", Unit::kDuration},
               {"median_ns", "median", Unit::kDuration},
               {"p95_ns", "p95", Unit::kDuration, true},
               {"p99_ns", "p99", Unit::kDuration},
               {"min_ns", "min", Unit::kDuration, true},
               {"max_ns", "max", Unit::kDuration},
               {"bytes", "bytes", Unit::kBytes, true},
               {"achieved_gbps", "GB/s", Unit::kNumber, true},
               {"achieved_tflops", "TFLOP/s", Unit::kNumber, true},
               {"peak_percent", "of peak", Unit::kPercent, true},
               {"bound_by", "bound by", Unit::kText, true},
               {"registers_per_thread", "registers", Unit::kCount, true},
               {"shared_memory_bytes", "shared memory", Unit::kBytes, true},
               {"grid", "grid", Unit::kText, true},
               {"block", "block", Unit::kText, true},
               {"launch_configurations", "configurations", Unit::kCount, true}},
              {}};
  const GpuPeaks peaks = gpu_peaks(trace);
  for (const KernelRow& r : rows) {
    const bool is_kernel = r.configs > 0;
    Reached reached = reached_by(r, peaks);
    const auto of_kernel = [&](Cell cell) { return is_kernel ? std::move(cell) : Cell(); };
    table.rows.push_back(
        {styled_name(trace, r, style),
         r.name,
         r.rank < 0 ? Cell() : int_cell(r.rank),
         r.operation ? Cell(std::string(operation_name(*r.operation))) : Cell(),
         std::string(class_name(r.gpu_class)),
         r.duration.count,
         r.duration.total,
         100 * r.busy_share,
         r.steps == 0 ? Cell() : Cell(r.per_step_ns()),
         r.duration.mean(),
         r.duration.median,
         r.duration.p95,
         r.duration.p99,
         r.duration.min,
         r.duration.max,
         std::move(reached.bytes),
         std::move(reached.gbps),
         std::move(reached.tflops),
         std::move(reached.peak_percent),
         std::move(reached.bound_by),
         of_kernel(int_cell(r.config.registers_per_thread)),
         of_kernel(int_cell(std::int64_t{r.config.static_shared_bytes} + r.config.dynamic_shared_bytes)),
         of_kernel(dimensions(r.config.grid)),
         of_kernel(dimensions(r.config.block)),
         of_kernel(r.configs)});
  }
  hide_empty(table, {"achieved_gbps", "achieved_tflops", "peak_percent", "bound_by"});
  return table;
}

}  // namespace swinscope
