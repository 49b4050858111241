#include "analyzer/analyses/hta_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace swinscope::hta {
namespace {

// The microseconds as HTA reads them from the file. long double holds any time in ns, and its quotient rounds to the
// same double as the file's decimal number.
double microseconds(std::int64_t ns) { return static_cast<double>(static_cast<long double>(ns) / 1000.0L); }

std::int64_t begin_us(std::int64_t start_ns) { return static_cast<std::int64_t>(std::ceil(microseconds(start_ns))); }

// HTA adds start and duration as doubles, so we do.
std::int64_t end_us(std::int64_t start_ns, std::int64_t end_ns) {
  return static_cast<std::int64_t>(std::floor(microseconds(start_ns) + microseconds(end_ns - start_ns)));
}

// As Kineto writes them.
std::string_view sync_name(SyncType type) {
  switch (type) {
    case SyncType::kEvent:
      return "Event Sync";
    case SyncType::kStreamWaitEvent:
      return "Stream Wait Event";
    case SyncType::kStream:
      return "Stream Sync";
    case SyncType::kContext:
      return "Context Sync";
    case SyncType::kUnknown:
      break;
  }
  return "Unknown";
}

// For each rank the begin of its last profiler step: what begins later is dropped.
std::vector<std::int64_t> step_limits(const Trace& trace) {
  std::vector<bool> is_step(trace.strings.size());
  for (StringId id = 0; id < trace.strings.size(); ++id) {
    is_step[id] = trace.text(id).find("ProfilerStep") != std::string_view::npos;
  }
  std::set<StringId> names;
  std::vector<std::int64_t> limits(trace.ranks.size(), INT64_MIN);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Ranges& ranges = trace.ranks[r].ranges;
    for (EventIndex i = 0; i < ranges.size(); ++i) {
      if (!is_step[ranges.name[i]]) continue;
      names.insert(ranges.name[i]);
      limits[r] = std::max(limits[r], begin_us(ranges.start_ns[i]));
    }
  }
  if (names.size() < 2) std::ranges::fill(limits, kNoLimit);
  return limits;
}

template <typename Wanted>
std::vector<Group> merge_wanted(const std::vector<Row>& rows, Wanted wanted) {
  std::vector<Group> groups;
  std::int64_t end = INT64_MIN;
  for (const Row& row : rows) {
    if (!wanted(row)) continue;
    if (groups.empty() || row.begin_us > end) {
      groups.push_back({row.begin_us, row.end_us});
    } else {
      groups.back().end_us = std::max(groups.back().end_us, row.end_us);
    }
    end = std::max(end, row.end_us);
  }
  return groups;
}

}  // namespace

KernelType type_of(std::string_view name) {
  name = name.substr(0, name.find('\n'));  // HTA's expressions do not look beyond a line end
  const auto contains = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.starts_with("nccl") && contains("Kernel")) return KernelType::kCommunication;
  if (name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma")) return KernelType::kMemory;
  return contains("Memcpy") || contains("Sync") ? KernelType::kOther : KernelType::kComputation;
}

RankRows::RankRows(const Trace& trace, const Rank& rank, std::int64_t limit_us)
    : number_(rank.run.rank), limit_us_(limit_us) {
  add_calls(rank.api);
  add_events(trace, rank);
  add_syncs(rank.syncs);
  std::ranges::stable_sort(rows_, {}, &Row::begin_us);
  for (const Row& row : rows_)
    row.kernel->durations_us.push_back(row.end_us - row.begin_us);
  std::erase_if(kernels_, [](const auto& kernel) { return kernel->durations_us.empty(); });
}

void RankRows::add_calls(const ApiCalls& api) {
  for (EventIndex i = 0; i < api.size(); ++i) {
    if (api.correlation[i] == 0) continue;
    Calls& calls = calls_[api.correlation[i]];
    const std::int64_t begin = begin_us(api.start_ns[i]);
    calls.last_us = std::max(calls.last_us, begin);
    if (begin < limit_us_) ++calls.kept;
  }
}

void RankRows::add_events(const Trace& trace, const Rank& rank) {
  std::unordered_map<StringId, Kernel*> by_name;
  for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
    Kernel*& kernel = by_name[rank.gpu.name[i]];
    if (kernel == nullptr) kernel = add_kernel(trace.text(rank.gpu.name[i]));
    Row row;
    row.begin_us = begin_us(rank.gpu.start_ns[i]);
    row.end_us = end_us(rank.gpu.start_ns[i], rank.gpu.end_ns[i]);
    row.stream = rank.gpu_lanes[rank.gpu.lane[i]].stream;
    row.kernel = kernel;
    add(row, rank.gpu.correlation[i]);
  }
}

void RankRows::add_syncs(const std::vector<SyncRecord>& syncs) {
  std::map<SyncType, Kernel*> by_type;
  for (const SyncRecord& sync : syncs) {
    if (sync.stream == 0) continue;  // concerns none in particular
    Kernel*& kernel = by_type[sync.type];
    if (kernel == nullptr) kernel = add_kernel(sync_name(sync.type));
    Row row;
    row.begin_us = begin_us(sync.start_ns);
    row.end_us = end_us(sync.start_ns, sync.end_ns);
    row.stream = sync.stream;
    row.is_sync = true;
    row.kernel = kernel;
    add(row, sync.correlation);
  }
}

Kernel* RankRows::add_kernel(std::string_view name) {
  kernels_.push_back(std::make_unique<Kernel>(Kernel{name, type_of(name), {}}));
  return kernels_.back().get();
}

void RankRows::add(Row row, std::uint32_t correlation) {
  const auto calls = calls_.find(correlation);
  if (calls != calls_.end() && calls->second.last_us < limit_us_) row.call_us = calls->second.last_us;
  int copies = 1;
  if (limit_us_ != kNoLimit && correlation == 0) {
    copies = row.begin_us < limit_us_ ? 1 : 0;  // HTA takes it for a host row
  } else if (limit_us_ != kNoLimit) {
    copies = calls == calls_.end() ? 0 : calls->second.kept;
  }
  rows_.insert(rows_.end(), static_cast<std::size_t>(copies), row);
}

std::vector<RankRows> rows_by_rank(const Trace& trace) {
  const std::vector<std::int64_t> limits = step_limits(trace);
  std::vector<RankRows> ranks;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    ranks.emplace_back(trace, trace.ranks[r], limits[r]);
    if (ranks.back().rows().empty()) ranks.pop_back();
  }
  return ranks;
}

std::vector<Group> merge(const RankRows& rank) {
  return merge_wanted(rank.rows(), [](const Row&) { return true; });
}

std::vector<Group> merge(const RankRows& rank, KernelType type) {
  return merge_wanted(rank.rows(), [&](const Row& row) { return row.kernel->type == type; });
}

std::int64_t total_length(const std::vector<Group>& groups) {
  std::int64_t sum = 0;
  for (const Group& group : groups)
    sum += group.end_us - group.begin_us;
  return sum;
}

}  // namespace swinscope::hta
