#include "analyzer/analyses/time_breakdown.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "analyzer/table/cells.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

// The intervals of one device by what they are, cut to its window.
struct DeviceIntervals {
  std::vector<Interval> known;
  std::vector<Interval> math;
  std::vector<Interval> unknown;
  std::vector<Interval> communication;
  std::vector<Interval> wait;  // of communication: until the last rank came
  std::vector<Interval> wire;  // of communication: from then on
  std::vector<Interval> memory;
  std::vector<Interval> device_memory;  // of memory: all but host copies
};

class DeviceCounter {
 public:
  DeviceCounter(const Trace& trace, const CollectiveWaits& waits) : trace_(trace), waits_(waits) {}

  DeviceBreakdown count(const DeviceScope& device, const IdleJudge& judge) {
    const Rank& rank = trace_.ranks[device.rank_index];
    DeviceBreakdown row;
    row.rank_index = device.rank_index;
    row.rank = rank.run.rank;
    row.device = device.device;
    row.events = static_cast<std::int64_t>(device.events.size());
    row.steps = device.steps;
    row.window_ns = device.window.length();
    DeviceIntervals of;
    for (const EventIndex e : device.events) {
      const Interval interval{std::max(rank.gpu.start_ns[e], device.window.begin_ns),
                              std::min(rank.gpu.end_ns[e], device.window.end_ns)};
      sort_in(device, e, interval, of);
      if (rank.gpu.kind[e] == GpuKind::kKernel) row.kernel_sum_ns += interval.length();
    }
    measure(std::move(of), row);
    row.idle = judge.judge(device);
    return row;
  }

 private:
  void sort_in(const DeviceScope& device, EventIndex e, const Interval& interval, DeviceIntervals& of) {
    const Rank& rank = trace_.ranks[device.rank_index];
    const GpuEvents& gpu = rank.gpu;
    switch (gpu.gpu_class[e]) {
      case GpuClass::kCompute:
        of.known.push_back(interval);
        // What only a rule of the user's calls compute is no data movement.
        if (is_math(gpu.operation[e]) || gpu.operation[e] == OperationKind::kUnknown) of.math.push_back(interval);
        break;
      case GpuClass::kUnknown:
        of.unknown.push_back(interval);
        break;
      case GpuClass::kCommunication: {
        of.communication.push_back(interval);
        // A copy from one GPU to another waits for nobody once it runs.
        if (gpu.kind[e] == GpuKind::kMemcpy) {
          of.wire.push_back(interval);
        } else if (const auto wait = waits_.wait_ns(device.rank_index, e)) {
          const std::int64_t arrived =
              std::clamp(gpu.start_ns[e] + *wait, interval.begin_ns, std::max(interval.begin_ns, interval.end_ns));
          of.wait.push_back({interval.begin_ns, arrived});
          of.wire.push_back({arrived, interval.end_ns});
        }
        break;
      }
      case GpuClass::kMemory:
        of.memory.push_back(interval);
        if (const CopyEnds* ends = rank.ends_of(e); ends == nullptr || !ends->is_with_host())
          of.device_memory.push_back(interval);
        break;
    }
  }

  static IntervalSet both(const IntervalSet& a, const IntervalSet& b) {
    if (b.empty()) return a;
    std::vector<Interval> all = a;
    all.insert(all.end(), b.begin(), b.end());
    return unite(std::move(all));
  }

  static void measure(DeviceIntervals of, DeviceBreakdown& row) {
    const IntervalSet known = unite(std::move(of.known));
    const IntervalSet kernels = both(known, unite(std::move(of.unknown)));
    const IntervalSet communication = unite(std::move(of.communication));
    const IntervalSet memory = unite(std::move(of.memory));
    row.compute_ns = total_length(known);
    row.math_ns = total_length(unite(std::move(of.math)));
    row.unknown_ns = total_length(kernels) - row.compute_ns;
    row.communication_ns = total_length(communication);
    row.memory_ns = total_length(memory);
    row.non_communication_ns = total_length(both(kernels, memory));
    const IntervalSet exposed = subtract(communication, kernels);
    const IntervalSet exposed_wait = intersect(exposed, unite(std::move(of.wait)));
    row.exposed_communication_ns = total_length(exposed);
    row.exposed_wait_ns = total_length(exposed_wait);
    row.exposed_wire_ns = total_length(subtract(intersect(exposed, unite(std::move(of.wire))), exposed_wait));
    const IntervalSet exposed_memory = subtract(subtract(memory, kernels), communication);
    row.exposed_memory_ns = total_length(exposed_memory);
    row.exposed_host_copy_ns = total_length(subtract(exposed_memory, unite(std::move(of.device_memory))));
    row.busy_ns = row.compute_ns + row.unknown_ns + row.exposed_communication_ns + row.exposed_memory_ns;
  }

  const Trace& trace_;
  const CollectiveWaits& waits_;
};

void add(DeviceBreakdown& row, const DeviceBreakdown& window) {
  const auto sum = [&](auto... member) { ((row.*member += window.*member), ...); };
  sum(&DeviceBreakdown::events, &DeviceBreakdown::steps, &DeviceBreakdown::window_ns, &DeviceBreakdown::busy_ns,
      &DeviceBreakdown::compute_ns, &DeviceBreakdown::math_ns, &DeviceBreakdown::unknown_ns,
      &DeviceBreakdown::communication_ns, &DeviceBreakdown::exposed_communication_ns, &DeviceBreakdown::exposed_wait_ns,
      &DeviceBreakdown::exposed_wire_ns, &DeviceBreakdown::memory_ns, &DeviceBreakdown::exposed_memory_ns,
      &DeviceBreakdown::exposed_host_copy_ns, &DeviceBreakdown::non_communication_ns, &DeviceBreakdown::kernel_sum_ns);
  const auto sum_idle = [&](auto... member) { ((row.idle.*member += window.idle.*member), ...); };
  sum_idle(&IdleCauses::input_ns, &IdleCauses::synchronization_ns, &IdleCauses::host_ns, &IdleCauses::communication_ns,
           &IdleCauses::dependency_ns, &IdleCauses::other_ns);
}

}  // namespace

std::optional<double> DeviceBreakdown::overlap_percent() const {
  if (communication_ns == 0) return std::nullopt;
  return 100.0 * static_cast<double>(communication_ns - exposed_communication_ns) /
         static_cast<double>(communication_ns);
}

std::vector<DeviceBreakdown> time_breakdown(const Trace& trace, const RunScope& scope, const CollectiveWaits& waits) {
  std::vector<DeviceBreakdown> rows;
  DeviceCounter counter(trace, waits);
  std::unique_ptr<IdleJudge> judge;
  std::size_t judged = trace.ranks.size();
  for (const DeviceScope& device : scope.devices()) {
    if (judged != device.rank_index) {
      judged = device.rank_index;
      judge = std::make_unique<IdleJudge>(trace, trace.ranks[judged], scope.steps()[judged]);
    }
    DeviceBreakdown row = counter.count(device, *judge);
    const bool same_device =
        !rows.empty() && rows.back().rank_index == row.rank_index && rows.back().device == row.device;
    if (same_device) {
      add(rows.back(), row);
    } else {
      rows.push_back(row);
    }
  }
  return rows;
}

std::optional<MeanUtilization> mean_utilization(const std::vector<DeviceBreakdown>& devices) {
  if (devices.empty()) return std::nullopt;
  MeanUtilization mean;
  for (const DeviceBreakdown& device : devices) {
    mean.gpu_busy += device.gpu_busy() / static_cast<double>(devices.size());
    mean.gpu_compute += device.gpu_compute() / static_cast<double>(devices.size());
  }
  return mean;
}

Table utilization_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"utilization",
              "Utilization",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"events", "events", Unit::kCount},
               {"span_ns", "window", Unit::kDuration},
               {"busy_ns", "busy", Unit::kDuration},
               {"gpu_busy_percent", "GPU busy", Unit::kPercent},
               {"gpu_compute_percent", "GPU compute", Unit::kPercent},
               {"idle_ns", "idle", Unit::kDuration},
               {"idle_percent", "idle %", Unit::kPercent}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back({int_cell(d.rank), int_cell(d.device), d.events, d.total_ns(), d.busy_ns, 100 * d.gpu_busy(),
                          100 * d.gpu_compute(), d.idle_ns(), percent_of(d.idle_ns(), d.total_ns())});
  }
  return table;
}

Table breakdown_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"breakdown",
              "Time breakdown",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"compute_ns", "compute", Unit::kDuration},
               {"math_ns", "matrix/attention", Unit::kDuration},
               {"unknown_ns", "unknown kernels", Unit::kDuration},
               {"communication_ns", "communication", Unit::kDuration, true},
               {"exposed_communication_ns", "comm exposed", Unit::kDuration},
               {"exposed_wait_ns", "of it waiting", Unit::kDuration, true},
               {"exposed_transfer_ns", "of it transfer", Unit::kDuration, true},
               {"overlap_percent", "overlap", Unit::kPercent},
               {"memory_ns", "copies and sets", Unit::kDuration, true},
               {"exposed_memory_ns", "copies exposed", Unit::kDuration},
               {"exposed_host_copy_ns", "of it host", Unit::kDuration},
               {"idle_ns", "idle", Unit::kDuration},
               {"idle_percent", "idle %", Unit::kPercent},
               {"sum_ns", "sum", Unit::kDuration}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back(
        {int_cell(d.rank), int_cell(d.device), d.compute_ns, d.math_ns, d.unknown_ns, d.communication_ns,
         d.exposed_communication_ns, d.exposed_wait_ns, d.exposed_wire_ns, optional_cell(d.overlap_percent()),
         d.memory_ns, d.exposed_memory_ns, d.exposed_host_copy_ns, d.idle_ns(), percent_of(d.idle_ns(), d.total_ns()),
         d.compute_ns + d.unknown_ns + d.exposed_communication_ns + d.exposed_memory_ns + d.idle.total_ns()});
  }
  return table;
}

Table idle_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"idle",
              "Idle, by cause",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"host_ns", "host", Unit::kDuration},
               {"synchronization_ns", "synchronization", Unit::kDuration},
               {"input_ns", "input", Unit::kDuration},
               {"communication_ns", "communication", Unit::kDuration},
               {"dependency_ns", "dependency", Unit::kDuration},
               {"other_ns", "other", Unit::kDuration},
               {"idle_ns", "sum", Unit::kDuration}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back({int_cell(d.rank), int_cell(d.device), d.idle.host_ns, d.idle.synchronization_ns,
                          d.idle.input_ns, d.idle.communication_ns, d.idle.dependency_ns, d.idle.other_ns,
                          d.idle.total_ns()});
  }
  return table;
}

}  // namespace swinscope
