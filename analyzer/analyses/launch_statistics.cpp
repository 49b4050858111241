#include "analyzer/analyses/launch_statistics.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/base/parallel.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// Most streams run in the order in which they were launched.
template <typename Value>
void sort_if_needed(std::vector<Value>& values) {
  if (!std::ranges::is_sorted(values)) std::ranges::sort(values);
}

// Of the times at which kernels were launched and at which they started.
void measure_queue(std::vector<std::int64_t> launched, std::vector<std::int64_t> started, LaunchRow& row) {
  if (launched.empty()) return;
  sort_if_needed(launched);
  sort_if_needed(started);
  const std::int64_t begin_ns = std::min(launched.front(), started.front());
  const std::int64_t end_ns = std::max(launched.back(), started.back());
  std::int64_t length = 0;
  std::int64_t before_ns = begin_ns;
  double weighted = 0;
  auto launch = launched.begin();
  auto start = started.begin();
  while (launch != launched.end() || start != started.end()) {
    // At one instant the starts come first: a kernel that starts with the launch of another never queued behind it.
    const bool is_start = start != started.end() && (launch == launched.end() || *start <= *launch);
    const std::int64_t at_ns = is_start ? *start++ : *launch++;
    weighted += static_cast<double>(length) * static_cast<double>(at_ns - before_ns);
    before_ns = at_ns;
    length += is_start ? -1 : 1;
    row.max_queue_length = std::max(row.max_queue_length, length);
  }
  if (end_ns > begin_ns) row.mean_queue_length = weighted / static_cast<double>(end_ns - begin_ns);
}

// The smallest correlation id of a recorded call; 0 where no call was recorded: then no kernel was launched before it.
std::uint32_t first_correlation(const Rank& rank) {
  std::uint32_t first = 0;
  for (const std::uint32_t id : rank.api.correlation) {
    if (id != 0 && (first == 0 || id < first)) first = id;
  }
  return first;
}

// Of one device, or of all.
LaunchRow measure(const Rank& rank, std::size_t r, const RunScope& scope, std::optional<std::int32_t> device) {
  const std::uint32_t first = first_correlation(rank);
  LaunchRow row;
  row.rank = rank.run.rank;
  row.device = device.value_or(0);
  std::vector<std::int64_t> queue;
  std::vector<std::int64_t> delay;
  std::vector<EventIndex> calls;
  std::vector<std::int64_t> launched;
  std::vector<std::int64_t> started;
  double kernel_sum = 0;
  for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
    if (rank.gpu.kind[i] != GpuKind::kKernel || !scope.has_gpu_event(r, i)) continue;
    if (device && rank.gpu_lanes[rank.gpu.lane[i]].device != *device) continue;
    ++row.kernels;
    const std::int64_t start = rank.gpu.start_ns[i];
    kernel_sum += static_cast<double>(rank.gpu.end_ns[i] - start);
    const EventIndex call = rank.gpu.launch[i];
    if (call == kNoEvent) {
      const std::uint32_t id = rank.gpu.correlation[i];
      row.launched_before += id != 0 && id < first ? 1 : 0;
      continue;
    }
    ++row.joined;
    calls.push_back(call);
    queue.push_back(std::max<std::int64_t>(0, start - rank.api.end_ns[call]));
    delay.push_back(start - rank.api.start_ns[call]);
    launched.push_back(rank.api.start_ns[call]);
    started.push_back(start);
  }
  sort_if_needed(calls);
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());  // one call may have launched several kernels
  std::vector<std::int64_t> api;
  api.reserve(calls.size());
  for (const EventIndex call : calls)
    api.push_back(rank.api.end_ns[call] - rank.api.start_ns[call]);
  row.api_ns = summarize(std::move(api));
  row.queue_ns = summarize(std::move(queue));
  row.delay_ns = summarize(std::move(delay));
  measure_queue(std::move(launched), std::move(started), row);
  if (row.kernels > 0) row.mean_kernel_ns = kernel_sum / static_cast<double>(row.kernels);
  return row;
}

}  // namespace

std::vector<LaunchRow> launch_statistics(const Trace& trace, const RunScope& scope) {
  std::vector<LaunchRow> rows(trace.ranks.size());
  parallel_for(rows.size(), processors(), [&](std::size_t r) { rows[r] = measure(trace.ranks[r], r, scope, {}); });
  std::erase_if(rows, [](const LaunchRow& row) { return row.kernels == 0; });
  return rows;
}

Table launch_table(const std::vector<LaunchRow>& rows) {
  Table table{"launches",
              "Launches",
              {{"rank", "rank", Unit::kCount},
               {"kernels", "kernels", Unit::kCount},
               {"joined", "launch found", Unit::kCount},
               {"launched_before", "before recording", Unit::kCount},
               {"launch_not_recorded", "launch lost", Unit::kCount},
               {"api_total_ns", "API total", Unit::kDuration},
               {"api_median_ns", "API median", Unit::kDuration},
               {"api_p99_ns", "API p99", Unit::kDuration, true},
               {"queue_median_ns", "queue median", Unit::kDuration},
               {"queue_p99_ns", "queue p99", Unit::kDuration, true},
               {"delay_median_ns", "delay median", Unit::kDuration},
               {"delay_p99_ns", "delay p99", Unit::kDuration, true},
               {"tklqt_ns", "total launch+queue time", Unit::kDuration},
               {"akd_ns", "mean kernel", Unit::kDuration},
               {"mean_queue_length", "mean queue", Unit::kNumber},
               {"max_queue_length", "max queue", Unit::kCount}},
              {}};
  for (const LaunchRow& r : rows) {
    table.rows.push_back({int_cell(r.rank), r.kernels, r.joined, r.launched_before,
                          r.kernels - r.joined - r.launched_before, r.api_ns.total, r.api_ns.median, r.api_ns.p99,
                          r.queue_ns.median, r.queue_ns.p99, r.delay_ns.median, r.delay_ns.p99, r.tklqt_ns(),
                          r.mean_kernel_ns, r.mean_queue_length, r.max_queue_length});
  }
  return table;
}

std::vector<LaunchRow> device_launches(const Trace& trace, const RunScope& scope) {
  std::vector<LaunchRow> rows;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    std::set<std::int32_t> devices;
    for (const GpuLane& lane : trace.ranks[r].gpu_lanes)
      devices.insert(lane.device);
    for (const std::int32_t device : devices) {
      if (LaunchRow row = measure(trace.ranks[r], r, scope, device); row.joined > 0) rows.push_back(row);
    }
  }
  return rows;
}

Table queue_table(const std::vector<LaunchRow>& rows) {
  Table table{"queue",
              "Queues of the devices",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"joined", "kernels", Unit::kCount},
               {"mean_queue_length", "mean queue", Unit::kNumber},
               {"max_queue_length", "max queue", Unit::kCount},
               {"tklqt_ns", "total launch+queue time", Unit::kDuration},
               {"delay_mean_ns", "of it a kernel", Unit::kDuration},
               {"akd_ns", "mean kernel", Unit::kDuration}},
              {}};
  for (const LaunchRow& r : rows) {
    table.rows.push_back({int_cell(r.rank), int_cell(r.device), r.joined, r.mean_queue_length, r.max_queue_length,
                          r.tklqt_ns(), r.delay_ns.mean(), r.mean_kernel_ns});
  }
  return table;
}

}  // namespace swinscope
