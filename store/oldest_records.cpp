#include "store/oldest_records.h"

#include <array>
#include <string>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr const char* kReason = "older than what --max-size keeps";

struct EventTable {
  const char* name;
  const char* what;  // as losses are called
  const char* end;   // when a row is over; NULL: it is not
};

// A mark (eventType 34) has no end; names of domains and categories have none either, and stay.
constexpr std::array kEvents = {
    EventTable{"NVTX_EVENTS", "NVTX range or mark", "CASE eventType WHEN 34 THEN start ELSE \"end\" END"},
    EventTable{"CUPTI_ACTIVITY_KIND_KERNEL", "kernel", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_MEMSET", "memset", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graph execution", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUDA event", "timestamp"},
    EventTable{"CUDA_GPU_MEMORY_USAGE_EVENTS", "memory operation", "start"},
    EventTable{"CUDA_GPU_MEMORY_POOL_EVENTS", "memory pool operation", "start"},
    EventTable{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA call", "\"end\""},
    EventTable{"CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead", "\"end\""},
    EventTable{"PROFILER_OVERHEAD", nullptr, "\"end\""},  // says again what overheads say
    EventTable{"SWINSCOPE_NCCL_OPERATION", "operation of NCCL", "\"end\""},
    EventTable{"SWINSCOPE_NCCL_LAUNCH", "launch of NCCL", "\"end\""},
    EventTable{"SWINSCOPE_NCCL_CHANNEL", "channel of NCCL", "coalesce(\"end\", start)"},
    EventTable{"SWINSCOPE_THREAD_CPU", "CPU time sample", "timestamp"},
    EventTable{"SWINSCOPE_PROCESS_CPU", "CPU time sample", "timestamp"},
    EventTable{"GPU_METRICS", "GPU metric", "timestamp"},
};

struct Span {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

// Rows are numbered as they come.
Span rows_of(Database& db, const EventTable& table) {
  Statement row = db.prepare(fmt::format("SELECT min(rowid), max(rowid) FROM {}", table.name));
  if (!row.step() || row.is_null(0)) return {};
  return {row.integer(0), row.integer(1)};
}

std::int64_t end_in_the_middle(Database& db) {
  Span longest;
  const EventTable* table = nullptr;
  for (const EventTable& each : kEvents) {
    const Span span = rows_of(db, each);
    if (span.last - span.first <= longest.last - longest.first) continue;
    longest = span;
    table = &each;
  }
  if (table == nullptr) return 0;
  Statement row =
      db.prepare(fmt::format("SELECT {0} FROM {1} WHERE rowid >= {2} AND {0} IS NOT NULL LIMIT 1", table->end,
                             table->name, longest.first + (longest.last - longest.first + 1) / 2));
  return row.step() ? row.integer(0) : 0;
}

}  // namespace

RemovedRecords remove_oldest_records(Database& db) {
  RemovedRecords removed;
  removed.whole_from_ns = end_in_the_middle(db);
  for (const EventTable& table : kEvents) {
    db.exec(fmt::format("DELETE FROM {} WHERE {} < {}", table.name, table.end, removed.whole_from_ns));
    const std::int64_t count = db.changes();
    if (count > 0 && table.what != nullptr) removed.counts.push_back({table.what, count, kReason});
  }
  return removed;
}

std::int64_t used_bytes(Database& db) {
  Statement pages = db.prepare(
      "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "
      "pragma_page_size");
  return pages.step() ? pages.integer(0) : 0;
}

}  // namespace swinscope
