// GPU time by kernel: METRICS "Kernel table".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/time_breakdown.h"
#include "analyzer/base/statistics.h"
#include "analyzer/facts/operations.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class KernelGrouping : std::uint8_t {
  kName,       // full demangled name
  kShortName,  // without namespaces, template arguments and parameters
  kOperation,  // what the name says it does (gemm, elementwise, …)
  kClass,      // compute, communication, memory
};

struct KernelTableOptions {
  KernelGrouping grouping = KernelGrouping::kName;
  bool by_rank = false;  // one row per rank instead of one over all
  bool copies = true;    // with memory copies and sets
  // In the order of Trace::ranks; nullptr: no kernel's cost is known.
  const std::vector<RankOperations>* operations = nullptr;
};

struct KernelRow {
  std::string name;
  std::int32_t rank = -1;  // -1: all ranks
  GpuClass gpu_class = GpuClass::kCompute;
  std::optional<OperationKind> operation;  // nothing where a row holds several
  Summary duration;                        // ns
  std::int64_t steps = 0;                  // of the ranks that the row is of, summed; 0 without
  std::int64_t bytes = 0;                  // of copies and sets; of kernels where has_cost
  std::int64_t flops = 0;                  // where has_cost
  std::string precision;                   // where has_cost; "mixed"
  bool has_cost = false;                   // FLOPs and bytes of each call are known (event_costs.h)
  bool is_host_copy = false;               // copies between host and device
  double busy_share = 0;  // total duration / busy time of the scope's devices (of the rank's): > 1 with overlap
  // The launch configuration of most of the calls, of several the smallest; zeros for copies and sets.
  LaunchConfig config;
  std::int64_t configs = 0;  // how many there were
  // Evidence: the longest call, as the rank's index in Trace::ranks and the event.
  std::size_t longest_rank_index = 0;
  EventIndex longest_event = kNoEvent;

  // Mean over steps and ranks; 0 without steps.
  std::int64_t per_step_ns() const { return steps == 0 ? 0 : duration.total / steps; }
  double gigabytes_per_second() const {
    return duration.total == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(duration.total);
  }
};

// The events of the scope, by total duration, descending; ties by name, then rank. `devices`: time_breakdown() of it.
std::vector<KernelRow> kernel_table(const Trace& trace, const RunScope& scope,
                                    const std::vector<DeviceBreakdown>& devices,
                                    const KernelTableOptions& options = {});

// `name` is the name in that style, `full_name` always the full one. Per step and rank where the scope is of steps.
Table kernel_rows_table(const Trace& trace, const RunScope& scope, const std::vector<KernelRow>& rows, NameStyle style);

}  // namespace swinscope
