#include "analyzer/analyses/launch_statistics.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

struct QueueChange {
  std::int64_t at_ns;
  int change;
};

void measure_queue(std::vector<QueueChange>& changes, LaunchRow& row) {
  // At one instant the starts come first: a kernel that starts with the launch of another never queued behind it.
  std::sort(changes.begin(), changes.end(), [](const QueueChange& a, const QueueChange& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.change < b.change;
  });
  std::int64_t length = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) weighted += static_cast<double>(length) * static_cast<double>(changes[i].at_ns - changes[i - 1].at_ns);
    length += changes[i].change;
    row.max_queue_length = std::max(row.max_queue_length, length);
  }
  const std::int64_t span = changes.empty() ? 0 : changes.back().at_ns - changes.front().at_ns;
  if (span > 0) row.mean_queue_length = weighted / static_cast<double>(span);
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
  std::set<EventIndex> calls;
  std::vector<QueueChange> changes;
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
    calls.insert(call);
    queue.push_back(std::max<std::int64_t>(0, start - rank.api.end_ns[call]));
    delay.push_back(start - rank.api.start_ns[call]);
    changes.push_back({rank.api.start_ns[call], +1});
    changes.push_back({start, -1});
  }
  std::vector<std::int64_t> api;
  api.reserve(calls.size());
  for (const EventIndex call : calls)
    api.push_back(rank.api.end_ns[call] - rank.api.start_ns[call]);
  row.api_ns = summarize(std::move(api));
  row.queue_ns = summarize(std::move(queue));
  row.delay_ns = summarize(std::move(delay));
  measure_queue(changes, row);
  if (row.kernels > 0) row.mean_kernel_ns = kernel_sum / static_cast<double>(row.kernels);
  return row;
}

}  // namespace

std::vector<LaunchRow> launch_statistics(const Trace& trace, const RunScope& scope) {
  std::vector<LaunchRow> rows;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (LaunchRow row = measure(trace.ranks[r], r, scope, {}); row.kernels > 0) rows.push_back(row);
  }
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
