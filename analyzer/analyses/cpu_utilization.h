// How much of the cores that it may use a rank used: METRICS "cpu_util".
//   cpu_util = CPU time of the rank's process and of all processes below it / (wall time x cores allowed)
// over a window, CPU times read off the samples by linear interpolation. Cores allowed: by affinity and cgroup.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct CpuUtilization {
  std::int32_t rank = 0;             // kNoRank: of a command without ranks
  Interval window;                   // in the rank's time
  std::int64_t process_cpu_ns = 0;   // the rank's own process
  std::int64_t children_cpu_ns = 0;  // processes below it, such as loader workers
  double cores_allowed = 0;          // 0: not recorded
  std::optional<double> utilization() const;
};

// One row per rank with CPU samples; further processes of a rank count as its children. From the start of the rank's
// first measured step to the end of its last one; of the whole recording where the scope is the whole trace. Of a run
// in which no process recorded itself, what the launcher saw.
std::vector<CpuUtilization> cpu_utilization(const Trace& trace, const RunScope& scope);

// No rows where the CPU was not sampled.
Table cpu_utilization_table(const std::vector<CpuUtilization>& ranks);

}  // namespace swinscope
