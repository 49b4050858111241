#include "store/oldest_records.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "store/tables.h"

namespace swinscope {
namespace {

constexpr const char* kReason = "older than what --max-size keeps";

struct EventTable {
  const char* name;
  const char* what;  // as losses are called
  const char* end;   // when a row is over; NULL: it is not
  // Where a row is over whose times are not known: of those the older half goes.
  bool may_be_timeless = false;
};

template <typename Columns>
constexpr EventTable events(const tables::Table<Columns>& table, const char* end = "\"end\"") {
  return {table.name, table.record, end};
}

// What says something of the whole recording (processes, nodes of graphs, communicators, names) is not among them.
constexpr std::array kEvents = {
    // A mark (eventType 34) has no end; names of domains and categories have none either, and stay.
    EventTable{tables::kTable<NvtxRecord>.name, "NVTX range or mark",
               "CASE eventType WHEN 34 THEN start ELSE \"end\" END"},
    events(tables::kTable<KernelRecord>),
    events(tables::kTable<MemcpyRecord>),
    events(tables::kTable<MemsetRecord>),
    events(tables::kTable<SyncRecord>),
    events(tables::kTable<GraphTraceRecord>),
    events(tables::kTable<CudaEventRecord>, "timestamp"),
    events(tables::kTable<MemoryRecord>, "start"),
    events(tables::kTable<MemoryPoolRecord>, "start"),
    events(tables::kTable<ApiRecord>),
    events(tables::kTable<OverheadRecord>),
    EventTable{tables::kProfilerOverheads.name, nullptr, "\"end\""},  // says again what overheads say
    events(tables::kTable<NcclOperationRecord>),
    events(tables::kTable<NcclLaunchRecord>),
    EventTable{tables::kTable<NcclChannelRecord>.name, tables::kTable<NcclChannelRecord>.record,
               "coalesce(\"end\", start)", true},
    events(tables::kTable<ThreadCpuRecord>, "timestamp"),
    events(tables::kTable<ProcessCpuRecord>, "timestamp"),
    events(tables::kTable<MetricRecord>, "timestamp"),
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

std::int64_t middle_of(const Span& rows) { return rows.first + (rows.last - rows.first + 1) / 2; }

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
  Statement row = db.prepare(fmt::format("SELECT {0} FROM {1} WHERE rowid >= {2} AND {0} IS NOT NULL LIMIT 1",
                                         table->end, table->name, middle_of(longest)));
  return row.step() ? row.integer(0) : 0;
}

}  // namespace

RemovedRecords remove_oldest_records(Database& db) {
  RemovedRecords removed;
  removed.whole_from_ns = end_in_the_middle(db);
  for (const EventTable& table : kEvents) {
    std::string old = fmt::format("{} < {}", table.end, removed.whole_from_ns);
    if (table.may_be_timeless)
      old += fmt::format(" OR ({} IS NULL AND rowid < {})", table.end, middle_of(rows_of(db, table)));
    db.exec(fmt::format("DELETE FROM {} WHERE {}", table.name, old));
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
