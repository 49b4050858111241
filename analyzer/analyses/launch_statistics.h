// From the launching call to the kernel: METRICS "Launch" and SKIP (arXiv 2504.11750).
//   API time     = duration of the launching call (once per call, however many kernels a graph launch starts)
//   queue time   = kernel start - end of the call, 0 where the kernel began earlier
//   launch delay = kernel start - start of the call
//   TKLQT        = sum of the launch delays;  AKD = mean kernel duration
//   queue length : +1 when a kernel is launched (start of its call), -1 when it starts; mean weighted by time
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct LaunchRow {
  std::int32_t rank = 0;
  std::int32_t device = 0;  // of device_launches()
  std::int64_t kernels = 0;
  // Kernels whose launching call was recorded; only they enter the figures below. The others were launched before the
  // recording began, or by a call that was not recorded.
  std::int64_t joined = 0;
  // Of the others: those whose correlation id is smaller than that of every recorded call. Ids ascend, so these kernels
  // were launched before the recording (or the part of it that was exported) began. None where no call was recorded.
  std::int64_t launched_before = 0;
  Summary api_ns;
  Summary queue_ns;
  Summary delay_ns;
  std::int64_t max_queue_length = 0;
  double mean_queue_length = 0;
  double mean_kernel_ns = 0;  // AKD, over all kernels
  std::int64_t tklqt_ns() const { return delay_ns.total; }
};

// One row per rank that has kernels in the scope, of these.
std::vector<LaunchRow> launch_statistics(const Trace& trace, const RunScope& scope);

Table launch_table(const std::vector<LaunchRow>& rows);

// The same of each device of a rank.
std::vector<LaunchRow> device_launches(const Trace& trace, const RunScope& scope);
// Its queue, and what waits in it.
Table queue_table(const std::vector<LaunchRow>& rows);

}  // namespace swinscope
