// GPU time by kernel: METRICS "Kernel table".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/kernel_names.h"
#include "analyzer/statistics.h"
#include "analyzer/steps.h"
#include "analyzer/trace.h"

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
  // Which events count, by the rank's index in Trace::ranks and the event; all when empty.
  std::function<bool(std::size_t, EventIndex)> accept;
};

struct KernelRow {
  std::string name;
  std::int32_t rank = -1;  // -1: all ranks
  GpuClass gpu_class = GpuClass::kCompute;
  std::optional<OperationKind> operation;  // nothing in a row by class, which may hold several
  Summary duration;                        // ns
  std::int64_t in_steps_ns = 0;            // duration of the calls that belong to a step (step_of)
  std::int64_t bytes = 0;                  // of copies and sets
  double busy_share = 0;  // total duration / busy time of all devices (of the rank's): > 1 is possible with overlap
  // The launch configuration of most of the calls; zeros for copies and sets.
  LaunchConfig config;
  std::int64_t configs = 0;  // how many there were
  // Evidence: the longest call, as the rank's index in Trace::ranks and the event.
  std::size_t longest_rank_index = 0;
  EventIndex longest_event = kNoEvent;

  double gigabytes_per_second() const {
    return duration.total == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(duration.total);
  }
};

// By total duration, descending; ties by name, then rank. `steps`: of every rank in the order of Trace::ranks, or none.
std::vector<KernelRow> kernel_table(const Trace& trace, const KernelTableOptions& options,
                                    const std::vector<RankSteps>& steps = {});

}  // namespace swinscope
