// The rows of the analyses as tables: which columns, under which names. Nothing is computed here beyond shares and
// means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/cpu_utilization.h"
#include "analyzer/experiment.h"
#include "analyzer/host_phases.h"
#include "analyzer/kernel_table.h"
#include "analyzer/launch_statistics.h"
#include "analyzer/layers.h"
#include "analyzer/ranges.h"
#include "analyzer/scope.h"
#include "analyzer/table.h"
#include "analyzer/thesis_utilization.h"
#include "analyzer/time_breakdown.h"
#include "analyzer/verdict.h"

namespace swinscope {

enum class NameStyle { kShort, kFull, kMangled };

Table step_table(const Trace& trace, const RunScope& scope);
Table utilization_table(const std::vector<DeviceBreakdown>& devices);
// No rows where the CPU was not sampled.
Table cpu_utilization_table(const std::vector<CpuUtilization>& ranks);
Table thesis_table(const std::vector<ThesisUtilization>& ranks);
Table breakdown_table(const std::vector<DeviceBreakdown>& devices);
Table idle_table(const std::vector<DeviceBreakdown>& devices);
Table input_wait_table(const std::vector<HostPhases>& ranks);
Table launch_table(const std::vector<LaunchRow>& rows);
Table scaling_rows_table(const std::vector<ScalingRow>& rows);
// What the numbers of that table's column "gpus" count, its title: "GPUs", or "ranks" where no GPU was used.
std::string_view counted_in(const Table& scaling_rows);
Table layer_rows_table(const std::vector<LayerRow>& rows);
// No figures of GPUs where the trace has no GPU activity; none of the host for what a CUDA graph replayed.
Table range_rows_table(const Trace& trace, const RunScope& scope, const std::vector<RangeRow>& rows);
Table thread_cpu_rows_table(const std::vector<ThreadCpuRow>& rows);
// A row for each bound, which sum to the verdict's whole; no rows where nothing could be split.
Table bound_table(const Verdict& verdict, const RunScope& scope);
// `name` is the name in that style, `full_name` always the full one. Per step and rank where the scope is of steps.
Table kernel_rows_table(const Trace& trace, const RunScope& scope, const std::vector<KernelRow>& rows, NameStyle style);

}  // namespace swinscope
