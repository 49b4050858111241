// Where the time of each device went (METRICS "Time breakdown" and "Scaling: utilization").
//
//   total   = last end - first start of the device's events in the window
//   busy    = |U(all)|                     gpu_busy    = busy / total
//   compute = |U(compute)|, comm = |U(communication)|, memory = |U(copies, sets)|
//   exposed communication = |U(comm) \ U(compute)|
//   exposed memory        = |U(memory) \ U(compute) \ U(comm)|, so that compute + exposed comm + exposed memory = busy
//   overlap = 100 |U(compute) n U(comm)| / |U(comm)|
//   gpu_compute = |U(all but communication)| / total
// and idle = total - busy, each gap of which has one cause.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/intervals.h"
#include "analyzer/steps.h"
#include "analyzer/trace.h"

namespace swinscope {

// Why a device had nothing to do, judged by the event that ends the gap.
//   Its launch began after the gap had; the first that applies:
//     input            the thread that launched it was inside a range that waits for data when the gap began
//     synchronization  that thread was blocked in a synchronizing call when the gap began
//     host             neither
//   Its launch had begun before the gap; the first that applies:
//     communication    it is a collective, or waited for one on another stream
//     dependency       another stream, an event, or the device's own latency between kernels
//   other              its launch was not recorded
struct IdleCauses {
  std::int64_t input_ns = 0;
  std::int64_t synchronization_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t dependency_ns = 0;
  std::int64_t other_ns = 0;
  std::int64_t total_ns() const {
    return input_ns + synchronization_ns + host_ns + communication_ns + dependency_ns + other_ns;
  }
};

struct DeviceBreakdown {
  std::size_t rank_index = 0;  // in Trace::ranks: several processes may have one rank
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t events = 0;
  Interval window;
  std::int64_t busy_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t math_ns = 0;  // |U(matrix products, convolutions, attention)|, by kernel name; part of compute
  std::int64_t communication_ns = 0;
  std::int64_t exposed_communication_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t exposed_memory_ns = 0;
  std::int64_t non_communication_ns = 0;  // |U(all but communication)|
  std::int64_t kernel_sum_ns = 0;         // sum of kernel durations, overlapping or not
  IdleCauses idle;

  std::int64_t total_ns() const { return window.length(); }
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

// One row per rank and device, in that order. Devices without events have no row.
std::vector<DeviceBreakdown> time_breakdown(const Trace& trace);

// The same from the first to the last event of a step, with the wait for the first one since the step began, where the
// device had been seen at work before: what a program does before its steps (weights, the choice of products) and after
// them has no share. Where CUDA was recorded in several windows, each has a row, since what lies between is not known.
// `steps`: of each rank of the trace, in order. Devices and windows without events of a step have no row.
std::vector<DeviceBreakdown> time_breakdown_of_steps(const Trace& trace, const std::vector<RankSteps>& steps);

// The mean step of the slowest rank, by its host or by its devices (of_steps: as above), whichever is longer: a host
// that runs ahead ends its ranges before the device is done, and a device may be done before the host. 0 without steps.
std::int64_t step_time_ns(const std::vector<RankSteps>& steps, const std::vector<DeviceBreakdown>& of_steps);

// gpu_busy and gpu_compute of a part of the trace, 0..1: what a program does before its steps (weights, the choice of
// products) has no share in them. `windows`: one for each rank of the trace, in order; a rank whose window is empty has
// no row.
struct DeviceUtilization {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  double gpu_busy = 0;
  double gpu_compute = 0;
};
std::vector<DeviceUtilization> gpu_utilization(const Trace& trace, const std::vector<Interval>& windows);

// The thesis's definition (seeds: section 3.1), per rank: device time over the total compute time,
//   GPU share = sum of kernel time / (sum of kernel time + sum of CPU operation self time).
// CPU operations are those of the framework's profiler; where it did not run, CUDA calls and annotated operations.
// Nothing where neither was recorded.
struct ThesisUtilization {
  std::int32_t rank = 0;
  std::int64_t kernel_ns = 0;
  std::optional<std::int64_t> cpu_self_ns;
  bool is_of_cuda_calls = false;
  std::optional<double> gpu_share() const;
};
std::vector<ThesisUtilization> thesis_utilization(const Trace& trace);
// The mean over ranks; nothing where no rank has one.
std::optional<double> mean_gpu_share(const std::vector<ThesisUtilization>& ranks);

}  // namespace swinscope
