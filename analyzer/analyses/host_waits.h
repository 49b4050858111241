// What the host did while the GPUs waited for it: in all gaps whose cause is the host or a synchronizing call, by the
// call or range of the thread that launched what ends the gap, open then and begun last (as idle_gaps.h has it for each
// gap).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/analyses/idle_gaps.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct HostActivity {
  // By name, the longest first. Names that only a number at their end tells apart are one: ProfilerStep#*.
  std::vector<std::pair<std::string, std::int64_t>> parts;
  std::int64_t unrecorded_ns = 0;  // the thread was in no call or range
  std::int64_t total_ns = 0;       // the sum of all these

  // "aten::normal_ 88 %, cudaMemcpyAsync 6 %, nothing recorded 3 %": the three largest, and what is not recorded.
  std::string shares() const;
};

// `gaps`: all of the scope.
HostActivity host_waits(const Trace& trace, const std::vector<IdleGap>& gaps);

// The row of what is in no call or range.
inline constexpr std::string_view kNothingRecorded = "nothing recorded";

// The largest parts as rows, which sum to the idle time of those causes.
Table host_waits_table(const HostActivity& waits, const RunScope& scope);

}  // namespace swinscope
