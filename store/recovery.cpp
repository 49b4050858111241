#include "store/recovery.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "store/database.h"
#include "store/error.h"
#include "store/schema.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

struct TimedTable {
  const char* name;
  const char* start;
  const char* end;
};
constexpr std::array<TimedTable, 14> kTimedTables = {{
    {"CUPTI_ACTIVITY_KIND_KERNEL", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start", "end"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", "start", "end"},
    {"CUDA_GRAPH_NODE_EVENTS", "start", "end"},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS", "start", "start"},
    {"CUDA_GPU_MEMORY_POOL_EVENTS", "start", "start"},
    {"NVTX_EVENTS", "start", "coalesce(end, start)"},
    {"SWINSCOPE_THREAD_CPU", "timestamp", "timestamp"},
    {"SWINSCOPE_PROCESS", "start", "coalesce(end, start)"},
    {"SWINSCOPE_PROCESS_CPU", "timestamp", "timestamp"},
}};

std::optional<TraceFileSummary> read_summary(Database& db) {
  TraceFileSummary summary;
  Statement run = db.prepare("SELECT rank, worldSize, globalPid, complete FROM SWINSCOPE_RUN");
  if (!run.step()) return std::nullopt;
  summary.rank = static_cast<std::int32_t>(run.integer(0));
  summary.world_size = static_cast<std::int32_t>(run.integer(1));
  summary.global_pid = static_cast<std::uint64_t>(run.integer(2));
  summary.complete = run.integer(3) != 0;
  Statement drops = db.prepare("SELECT what, count, reason FROM SWINSCOPE_DROPS");
  while (drops.step()) {
    summary.drops.push_back({std::string(drops.text(0)), drops.integer(1), std::string(drops.text(2))});
  }
  for (const char* table : {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
                            "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}) {
    Statement any = db.prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", table));
    summary.has_events = summary.has_events || any.step();
  }
  if (!db.has_table("SWINSCOPE_COLLECTOR")) return summary;  // of an older version
  Statement facts = db.prepare("SELECT name, value FROM SWINSCOPE_COLLECTOR");
  while (facts.step())
    summary.collector.push_back({std::string(facts.text(0)), std::string(facts.text(1))});
  return summary;
}

bool has_any_table(Database& db) {
  Statement any = db.prepare("SELECT 1 FROM sqlite_master LIMIT 1");
  return any.step();
}

// The counts are totals: one that the file has already is replaced by a larger one.
void merge(std::vector<DropInfo>& into, const std::vector<DropInfo>& drops) {
  for (const DropInfo& drop : drops) {
    const auto known = std::find_if(into.begin(), into.end(),
                                    [&](const DropInfo& d) { return d.what == drop.what && d.reason == drop.reason; });
    if (known == into.end()) {
      into.push_back(drop);
    } else {
      known->count = std::max(known->count, drop.count);
    }
  }
}

void write_drops(Database& db, const std::vector<DropInfo>& drops) {
  db.exec("DELETE FROM SWINSCOPE_DROPS");
  Statement insert = db.prepare("INSERT INTO SWINSCOPE_DROPS VALUES(?,?,?)");
  for (const DropInfo& drop : drops) {
    insert.bind(1, drop.what);
    insert.bind(2, drop.count);
    insert.bind(3, drop.reason);
    insert.run();
  }
}

void write_span(Database& db) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (const TimedTable& table : kTimedTables) {
    if (!db.has_table(table.name)) continue;  // of an older version
    Statement span = db.prepare(fmt::format("SELECT min({}), max({}) FROM {}", table.start, table.end, table.name));
    if (!span.step() || span.is_null(0)) continue;
    first_ns = std::min(first_ns, span.integer(0));
    last_ns = std::max(last_ns, span.integer(1));
  }
  db.exec("DELETE FROM ANALYSIS_DETAILS");
  if (first_ns > last_ns) return;
  db.exec(fmt::format("INSERT INTO ANALYSIS_DETAILS VALUES(0, {}, {}, {})", last_ns - first_ns, first_ns, last_ns));
}

}  // namespace

std::optional<TraceFileSummary> finish_trace_file(const fs::path& path, const std::vector<DropInfo>& drops) {
  Database db = Database::open_writable(path);
  if (!has_any_table(db)) return std::nullopt;
  if (!db.has_table("SWINSCOPE_RUN")) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no swinscope trace", path.string()));
  }
  std::optional<TraceFileSummary> summary = read_summary(db);
  if (!summary || (summary->complete && drops.empty())) return summary;
  merge(summary->drops, drops);
  {
    Transaction transaction(db);
    write_drops(db, summary->drops);
    if (!summary->complete) write_span(db);
    transaction.commit();
  }
  db.exec(kIndexSql);
  db.exec("PRAGMA journal_mode=DELETE");
  return summary;
}

}  // namespace swinscope
