#include "store/reader.h"

#include <array>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/file_ranks.h"
#include "store/rank_reader.h"
#include "store/span_tables.h"
#include "store/table_reader.h"
#include "store/tables.h"

namespace swinscope {
namespace {

using tables::ReadGroup;

// Times beyond this cannot be real and would overflow when subtracted.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

template <typename... Records>
struct Kinds {
  template <typename Record>
  static constexpr bool has = (std::is_same_v<Record, Records> || ...);
};
// What timelines show of GPUs and of the host; a range without a payload is read as one with an empty payload. Of these
// there are many: readers of a part share their rows.
using Spans = Kinds<KernelRecord, MemcpyRecord, MemsetRecord, GraphTraceRecord, ApiRecord, NvtxPayloadRecord>;
// What else is read of any source. All other kinds are read of our own files only; the tables of an export are named
// among those that are not read (store/nsys_export.cpp).
using OfAnySource = Kinds<GraphNodeRecord, MemoryRecord, SyncRecord, CudaEventRecord, OverheadRecord, CollectiveRecord,
                          ThreadCpuRecord, ProcessCpuRecord, ProcessRecord>;

template <typename... Records>
constexpr auto tables_of(Kinds<Records...> /*kinds*/) {
  return std::array{tables::kTable<Records>.name...};
}

}  // namespace

std::span<const char* const> span_tables() {
  static constexpr auto kNames = tables_of(Spans());
  return kNames;
}

// Reads all tables of a file and hands each row to its rank.
class TraceFile::Reader {
 public:
  Reader(Database& db, TraceSink& sink, bool own, ReadScope scope, ReadPart part, const FileStrings& strings,
         const ExportProcesses& processes)
      : db_(db), own_(own), scope_(scope), part_(part), ranks_(db, own, sink, strings, processes) {}

  void read_rows() { read_tables(Spans()); }

  // What a reader of another part has found out beside its records.
  void take_over(const Reader& other) {
    for (const auto& [what_and_reason, count] : other.drops_)
      drops_[what_and_reason] += count;
    for (const auto& [table, rows] : other.shared_rows_)
      shared_rows_[table] += rows;
    ranks_.take_over(other.ranks_);
  }

  void read_rest() {
    for (const auto& [table, rows] : shared_rows_) {
      if (!has_all_rows(db_, table, rows)) db_.note_damage(table, rows);
    }
    if (scope_ != ReadScope::kTimeline) {
      read_tables(OfAnySource());
      if (own_) {
        read_others(std::make_index_sequence<kRecordKinds>());
      } else {
        // Overhead has this name in some versions; our own table says again what the other one says.
        read_rows<OverheadRecord>(tables::kProfilerOverheads.name);
      }
    }
    ranks_.finish(drops_);
  }

 private:
  void drop(const std::string& what, const std::string& reason) { ++drops_[{what, reason}]; }

  // Why the times of a record cannot be used; nothing when they can.
  template <typename Record>
  static const char* fault_of_times(const Record& r) {
    const auto is_real = [](std::int64_t time) { return time >= -kMaxTimeNs && time <= kMaxTimeNs; };
    if constexpr (requires { r.end_ns; }) {
      const std::int64_t end_ns = r.end_ns == kOpenEnd ? r.start_ns : r.end_ns;
      if (end_ns < r.start_ns) return "the end is before the start";
      return is_real(r.start_ns) && is_real(end_ns) ? nullptr : tables::kOutOfRange;
    } else if constexpr (requires { r.time_ns; }) {
      return r.time_ns == kUnknownTime || is_real(r.time_ns) ? nullptr : tables::kOutOfRange;
    } else if constexpr (requires { r.timestamp_ns; }) {
      return is_real(r.timestamp_ns) ? nullptr : tables::kOutOfRange;
    } else {
      return nullptr;
    }
  }

  // Counts every row of a table.
  void drop_table(const char* name, const std::string& reason) {
    try {
      Statement count = db_.prepare(fmt::format("SELECT count(*) FROM \"{}\"", name));
      if (count.step() && count.integer(0) > 0) drops_[{fmt::format("{} row", name), reason}] += count.integer(0);
    } catch (const DamagedFile&) {
      db_.note_damage(name, 0);
    }
  }

  template <typename... Records>
  void read_tables(Kinds<Records...> /*kinds*/) {
    (read_rows<Records>(tables::kTable<Records>.name), ...);
  }

  template <std::size_t... kKinds>
  void read_others(std::index_sequence<kKinds...> /*kinds*/) {
    (read_other<RecordOfKind<kKinds>>(), ...);
  }
  template <typename Record>
  void read_other() {
    constexpr bool kIsRead = Spans::has<Record> || OfAnySource::has<Record>;
    if constexpr (!kIsRead && !std::is_same_v<Record, NvtxRecord>) read_tables(Kinds<Record>());
  }

  // Reads the table of a kind of record, which may have another name.
  template <typename Record>
  void read_rows(const char* name) {
    switch (scope_) {
      case ReadScope::kTimeline:
        return read_rows<Record, tables::Selection<tables::kTable<Record>, ReadScope::kTimeline>>(name);
      case ReadScope::kAnalysis:
        return read_rows<Record, tables::Selection<tables::kTable<Record>, ReadScope::kAnalysis>>(name);
      case ReadScope::kAll:
        return read_rows<Record, tables::Selection<tables::kTable<Record>, ReadScope::kAll>>(name);
    }
  }

  template <typename Record, typename Columns>
  void read_rows(const char* name) {
    std::vector<TableReader::Column> columns;
    Columns::for_each([&](const auto& column, int /*number*/) {
      columns.push_back({column.name, column.is_required});
    });
    TableReader rows(db_, name, columns, Spans::has<Record> ? part_ : ReadPart());
    // The rows of a table that lacks a required column are counted.
    if (!rows.missing_column().empty() && part_.is_first())
      drop_table(name, fmt::format("the table has no column {}", rows.missing_column()));
    while (rows.next()) {
      Record record;
      const char* fault = Columns::read_times(rows, record);
      if (fault == nullptr) fault = fault_of_times(record);
      if (fault != nullptr) {
        drop(tables::kTable<Record>.record, fault);
        continue;
      }
      Columns::template read<ReadGroup::kValues>(rows, record);
      const RankRow row(rows, rank_of(record));
      Columns::template read<ReadGroup::kStrings>(row, record);
      Columns::template read<ReadGroup::kName>(row, record);
      if (!own_) clear_placeholders(record);
      hand_over(row.rank(), record);
    }
    const bool is_read = rows.exists() && rows.missing_column().empty();
    if (Spans::has<Record> && !part_.is_whole() && is_read) shared_rows_[name] += rows.rows_read();
  }

  // Whose the record is; the first rank's where it does not say.
  template <typename Record>
  RankReader& rank_of(const Record& record) {
    if constexpr (requires { record.global_tid; }) {
      return ranks_.of(record.global_tid);
    } else if constexpr (requires { record.global_pid; }) {
      return ranks_.of(record.global_pid);
    } else {
      return ranks_.first();
    }
  }

  // What Nsight Systems writes where it knows nothing: of events no time, and a number that joins nothing.
  template <typename Record>
  static void clear_placeholders(Record& record) {
    constexpr std::uint64_t kJoinsNothing = 0xFFFF'FFFF;
    if constexpr (requires { record.event_sync; }) {
      if (record.event_sync == kJoinsNothing) record.event_sync = 0;
    }
    if constexpr (std::is_same_v<Record, CudaEventRecord>) {
      if (record.time_ns == 0) record.time_ns = kUnknownTime;
    }
  }

  template <typename Record>
  void hand_over(RankReader& to, const Record& record) {
    if constexpr (std::is_same_v<Record, GraphTraceRecord>) to.run.graph_level_only = true;
    if constexpr (std::is_same_v<Record, NvtxPayloadRecord>) {
      // The schemas of an export's payloads are not read.
      if (record.payload.empty() || !own_) return to.sink().add(static_cast<const NvtxRecord&>(record));
    }
    to.sink().add(record);
  }

  Database& db_;
  bool own_;
  ReadScope scope_;
  ReadPart part_;
  FileRanks ranks_;
  DroppedRows drops_;
  std::map<std::string, std::int64_t> shared_rows_;  // that were read of tables of which this is a part
};

TraceFile::TraceFile(const std::filesystem::path& path, const UntrustedOptions& options)
    : db_(Database::open_untrusted(path, options)) {
  identify();
}

TraceFile::~TraceFile() = default;

void TraceFile::read_rows(TraceSink& sink, ReadScope scope, ReadPart part, const FileStrings& strings,
                          const ExportProcesses& processes) {
  reader_ = std::make_unique<Reader>(db_, sink, own_, scope, part, strings, processes);
  reader_->read_rows();
}

void TraceFile::take_over(const TraceFile& other) { reader_->take_over(*other.reader_); }

void TraceFile::read_rest() { reader_->read_rest(); }

void TraceFile::read(TraceSink& sink, ReadScope scope) {
  const ExportProcesses of_all = processes({});
  const FileStrings texts = strings();
  read_rows(sink, scope, {}, texts, of_all);
  read_rest();
  reader_.reset();
}

}  // namespace swinscope
