#include "store/recovery.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/database.h"
#include "store/error.h"
#include "store/schema.h"
#include "store/sink.h"
#include "store/tables.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

struct Span {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

// A time that rows have always; the others say nothing of when the recording was (see TraceWriter).
template <typename Column>
bool is_certain(const Column& column) {
  if constexpr (Column::kGroup == tables::ReadGroup::kTimes) {
    return !column.is_optional || column.role == tables::TimeRole::kEnd;
  }
  return false;
}

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

// Takes in the times of a table's rows.
template <typename Columns>
void widen(Span& span, Database& db, const tables::Table<Columns>& table) {
  std::string times;
  tables::for_each_column(table, [&](const auto& column) {
    if (is_certain(column)) times += fmt::format("{0}min({1}), max({1})", times.empty() ? "" : ", ", column.name);
  });
  if (times.empty() || !db.has_table(table.name)) return;  // of an older version
  Statement extremes = db.prepare(fmt::format("SELECT {} FROM {}", times, table.name));
  if (!extremes.step()) return;
  for (int i = 0; i < extremes.columns(); ++i) {
    if (extremes.is_null(i)) continue;
    span.first_ns = std::min(span.first_ns, extremes.integer(i));
    span.last_ns = std::max(span.last_ns, extremes.integer(i));
  }
}

template <std::size_t... kKinds>
Span span_of(Database& db, std::index_sequence<kKinds...> /*all*/) {
  Span span;
  std::set<std::string_view> seen;  // ranges with and without payload have one table
  const auto take = [&](const auto& table) {
    if (seen.insert(table.name).second) widen(span, db, table);
  };
  (take(tables::kTable<RecordOfKind<kKinds>>), ...);
  return span;
}

void write_span(Database& db) {
  const Span span = span_of(db, std::make_index_sequence<kRecordKinds>());
  db.exec("DELETE FROM ANALYSIS_DETAILS");
  if (span.first_ns > span.last_ns) return;
  db.exec(fmt::format("INSERT INTO ANALYSIS_DETAILS VALUES(0, {}, {}, {})", span.last_ns - span.first_ns, span.first_ns,
                      span.last_ns));
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
