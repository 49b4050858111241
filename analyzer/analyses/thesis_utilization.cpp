#include "analyzer/analyses/thesis_utilization.h"

#include <map>
#include <string_view>
#include <utility>

#include "analyzer/base/intervals.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// Time of the outermost operator ranges less nothing: the self times of nested operators add up to their outermost one.
std::optional<std::int64_t> operator_time(const Trace& trace, std::size_t r, const RunScope& scope) {
  const Rank& rank = trace.ranks[r];
  std::optional<std::int64_t> sum;
  for (const RangeLane& lane : rank.range_lanes) {
    if (rank.domain_name(lane.domain, trace.strings) != kDomainTorchOp) continue;
    std::vector<Interval> ranges;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (scope.has_host_time(r, rank.ranges.start_ns[i]))
        ranges.push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
    }
    sum = sum.value_or(0) + total_length(unite(std::move(ranges)));
  }
  return sum;
}

// Time in which a thread was in a CUDA call or in an annotated operation, over all threads.
std::optional<std::int64_t> call_time(const Trace& trace, std::size_t r, const RunScope& scope) {
  const Rank& rank = trace.ranks[r];
  std::map<std::uint64_t, std::vector<Interval>> by_thread;
  for (const ThreadLane& lane : rank.api_lanes) {
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (scope.has_host_time(r, rank.api.start_ns[i]))
        by_thread[lane.global_tid].push_back({rank.api.start_ns[i], rank.api.end_ns[i]});
    }
  }
  for (const RangeLane& lane : rank.range_lanes) {
    if (rank.domain_name(lane.domain, trace.strings) != kDomainOwn) continue;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const StringId json = rank.ranges.json[i];
      if (!scope.has_host_time(r, rank.ranges.start_ns[i])) continue;
      if (json == kNoString || trace.text(json).find("swinscope.operation/1") == std::string_view::npos) continue;
      by_thread[lane.global_tid].push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
    }
  }
  if (by_thread.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (auto& [thread, calls] : by_thread)
    sum += total_length(unite(std::move(calls)));
  return sum;
}

}  // namespace

std::optional<double> ThesisUtilization::gpu_share() const {
  if (!cpu_self_ns || kernel_ns + *cpu_self_ns == 0) return std::nullopt;
  return static_cast<double>(kernel_ns) / static_cast<double>(kernel_ns + *cpu_self_ns);
}

std::vector<ThesisUtilization> thesis_utilization(const Trace& trace, const RunScope& scope) {
  std::vector<ThesisUtilization> rows;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (!scope.has_rank(r)) continue;
    const Rank& rank = trace.ranks[r];
    ThesisUtilization row;
    row.rank = rank.run.rank;
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      if (rank.gpu.kind[i] == GpuKind::kKernel && scope.has_gpu_event(r, i))
        row.kernel_ns += rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    }
    row.cpu_self_ns = operator_time(trace, r, scope);
    if (!row.cpu_self_ns) {
      row.cpu_self_ns = call_time(trace, r, scope);
      row.is_of_cuda_calls = row.cpu_self_ns.has_value();
    }
    rows.push_back(row);
  }
  return rows;
}

std::optional<double> mean_gpu_share(const std::vector<ThesisUtilization>& ranks) {
  double sum = 0;
  int count = 0;
  for (const ThesisUtilization& rank : ranks) {
    if (const auto share = rank.gpu_share(); share && rank.kernel_ns > 0) {
      sum += *share;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

Table thesis_table(const std::vector<ThesisUtilization>& ranks) {
  Table table{"thesis_utilization",
              "Shares of the compute time (summed kernel and CPU operation time)",
              {{"rank", "rank", Unit::kCount},
               {"kernel_ns", "kernels", Unit::kDuration},
               {"cpu_operation_ns", "CPU operations", Unit::kDuration},
               {"gpu_share_percent", "GPU share", Unit::kPercent},
               {"cpu_share_percent", "CPU share", Unit::kPercent},
               {"note", "note"}},
              {}};
  for (const ThesisUtilization& r : ranks) {
    const auto gpu = r.gpu_share();
    table.rows.push_back({int_cell(r.rank), r.kernel_ns, r.cpu_self_ns ? Cell(*r.cpu_self_ns) : Cell(),
                          gpu ? Cell(100 * *gpu) : Cell(), gpu ? Cell(100 * (1 - *gpu)) : Cell(),
                          std::string(!gpu                 ? "not available: no CPU operations were recorded"
                                      : r.is_of_cuda_calls ? "of CUDA calls and annotated operations"
                                                           : "")});
  }
  return table;
}

}  // namespace swinscope
