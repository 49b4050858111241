// Where the time of each device went in its window of the scope (METRICS "Time breakdown" and "Scaling: utilization").
//
//   total   = length of the window         busy = |U(all)|, cut to the window;  gpu_busy = busy / total
//   compute = |U(kernels of known kind that do not communicate)|, math = |U(matrix products, convolutions, attention)|
//   unknown = |U(kernels of unknown kind, whole graphs) \ U(compute)|
//   communication = |U(communication)|, exposed = |U(communication) \ U(compute) \ U(unknown)|, of which, where the
//             collectives of the ranks were matched (collective_waits.h), wait and wire (transfer) are told apart; a
//             copy between GPUs is wire
//   memory  = |U(copies, sets)|, exposed = |U(memory) \ U(all the above)|, of which host copies (over PCIe or C2C) are
//             what no copy within the device and no set hides
// so that compute + unknown + exposed communication + exposed memory = busy;
//   overlap = 100 |U(compute, unknown) n U(communication)| / |U(communication)|
//   gpu_compute = |U(all but communication)| / total
// and idle = total - busy, each gap of which has one cause (idle_causes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/analyses/collective_waits.h"
#include "analyzer/analyses/idle_causes.h"
#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct DeviceBreakdown {
  std::size_t rank_index = 0;  // in Trace::ranks: several processes may have one rank
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t events = 0;
  std::int64_t steps = 0;  // 0 where the scope is the whole trace
  std::int64_t window_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t math_ns = 0;  // part of compute
  std::int64_t unknown_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t exposed_communication_ns = 0;
  std::int64_t exposed_wait_ns =
      0;  // parts of it; what no match tells apart is in neither and none copied between GPUs
  std::int64_t exposed_wire_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t exposed_memory_ns = 0;
  std::int64_t exposed_host_copy_ns = 0;  // part of it
  std::int64_t non_communication_ns = 0;  // |U(all but communication)|
  std::int64_t kernel_sum_ns = 0;         // sum of kernel durations, overlapping or not
  IdleCauses idle;

  std::int64_t total_ns() const { return window_ns; }
  std::int64_t idle_ns() const { return total_ns() - busy_ns; }
  double gpu_busy() const { return ratio(busy_ns); }
  double gpu_compute() const { return ratio(non_communication_ns); }
  // Percent; nothing without communication.
  std::optional<double> overlap_percent() const;

 private:
  double ratio(std::int64_t ns) const {
    return total_ns() == 0 ? 0.0 : static_cast<double>(ns) / static_cast<double>(total_ns());
  }
};

// One row per rank and device, in that order, of all its windows. Devices without events in the scope have no row.
// `waits`: of the scope's collectives.
std::vector<DeviceBreakdown> time_breakdown(const Trace& trace, const RunScope& scope, const CollectiveWaits& waits);

// Means over devices of gpu_busy and gpu_compute, 0..1; nothing without any.
struct MeanUtilization {
  double gpu_busy = 0;
  double gpu_compute = 0;
};
std::optional<MeanUtilization> mean_utilization(const std::vector<DeviceBreakdown>& devices);

// A row for each of them: how much of its window it was busy; where the window went; why it was idle.
Table utilization_table(const std::vector<DeviceBreakdown>& devices);
Table breakdown_table(const std::vector<DeviceBreakdown>& devices);
Table idle_table(const std::vector<DeviceBreakdown>& devices);

}  // namespace swinscope
