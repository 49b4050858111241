#include "store/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "store/error.h"
#include "store/nsys_export.h"
#include "store/numbered_name.h"
#include "store/schema.h"
#include "store/table_reader.h"
#include "store/tables.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using tables::ReadGroup;

// Times beyond this cannot be real and would overflow when subtracted.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

// A machine has no more ranks than that; each is a process of its own in memory, and a file of its own when imported.
constexpr std::size_t kMostProcesses = 4096;

constexpr std::array<const char*, 4> kGpuTables = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                   "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
constexpr std::array<const char*, 2> kHostTables = {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};

// What of an export is read; other tables with rows are named, so that nobody thinks they were read.
constexpr std::array<const char*, 16> kReadTables = {"StringIds",
                                                     "CUPTI_ACTIVITY_KIND_KERNEL",
                                                     "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                     "CUPTI_ACTIVITY_KIND_MEMSET",
                                                     "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                     "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                                     "PROFILER_OVERHEAD",
                                                     "CUDA_GRAPH_NODE_EVENTS",
                                                     "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                                     "NVTX_EVENTS",
                                                     "MPI_RANKS",
                                                     "DIAGNOSTIC_EVENT",
                                                     "PROCESSES",
                                                     "ThreadNames"};

template <typename... Records>
struct Kinds {
  template <typename Record>
  static constexpr bool has = (std::is_same_v<Record, Records> || ...);
};
// What timelines show of GPUs and of the host; a range without a payload is read as one with an empty payload. Of these
// there are many: readers of a part share their rows.
using Spans = Kinds<KernelRecord, MemcpyRecord, MemsetRecord, GraphTraceRecord, ApiRecord, NvtxPayloadRecord>;
// What else is read of any source. All other kinds are read of our own files only; the tables of an export are named
// among those that are not read (kReadTables).
using OfAnySource = Kinds<GraphNodeRecord, MemoryRecord, SyncRecord, OverheadRecord, CollectiveRecord, ThreadCpuRecord,
                          ProcessCpuRecord, ProcessRecord>;

// Adds the processes with rows in a table, each with its smallest device.
void find_processes(Database& db, const char* table, const char* id, const char* device, ReadPart part,
                    ExportProcesses& found) {
  TableReader rows(db, table, {id, device}, 1, part);
  auto entry = found.end();
  while (rows.next()) {
    const std::uint64_t pid = global_pid_of(rows.integer<std::uint64_t>(0));
    const auto ordinal = rows.integer<std::int64_t>(1);
    if (entry == found.end() || entry->first != pid) entry = found.try_emplace(pid, ordinal).first;
    if (found.size() > kMostProcesses) {
      throw Error(ErrorKind::kInput, fmt::format("{}: too many processes", db.path().string()),
                  fmt::format("more than {} of them have events; one Nsight Systems report has those of one machine",
                              kMostProcesses),
                  "export the report again");
    }
    entry->second = std::min(entry->second, ordinal);
  }
}

std::string list_tables(Database& db) {
  Statement names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 8");
  std::string list;
  while (names.step())
    list += fmt::format("{}{}", list.empty() ? "" : ", ", replace_invalid_utf8(names.text(0)));
  return list.empty() ? "it has no tables" : fmt::format("its tables are: {}", list);
}

// One rank while it is read: its sink, and the file's string ids as the sink knows them.
class RankReader {
 public:
  RankReader(RecordSink& sink, const FileStrings& strings) : sink_(sink), strings_(strings) {}

  RecordSink& sink() { return sink_; }

  // The text of a string of the file's own, nothing where it has none of that number.
  std::string_view text(std::int64_t id) const {
    const auto text = strings_.find(id);
    return text == strings_.end() ? std::string_view() : std::string_view(text->second);
  }

  // Names the range; what its name says of numbers goes where they belong.
  void name_range(NvtxRecord& r, std::string_view name) {
    const auto numbered = split_numbered_name(name);
    if (!numbered) {
      r.text = sink_.intern(name);
    } else if (take_numbers(*numbered, sink_, r) && !has_numbered_domain_) {
      has_numbered_domain_ = true;
      NvtxRecord domain;
      domain.type = NvtxType::kDomain;
      domain.domain = kNumberedDomain;
      domain.text = sink_.intern(kTorchOperatorDomain);
      sink_.add(domain);
    }
  }

  StringId string(std::int64_t id) {
    if (const auto known = ids_.find(id); known != ids_.end()) return known->second;
    const auto text = strings_.find(id);
    const StringId mapped = text == strings_.end() ? kNoString : sink_.intern(text->second);
    ids_.emplace(id, mapped);
    return mapped;
  }

  RunInfo run;

 private:
  RecordSink& sink_;
  const FileStrings& strings_;
  std::unordered_map<std::int64_t, StringId> ids_;
  bool has_numbered_domain_ = false;
};

// A row of which the strings go to a rank.
class RankRow {
 public:
  RankRow(const TableReader& rows, RankReader& rank) : rows_(rows), rank_(rank) {}

  RankReader& rank() const { return rank_; }
  bool is_null(int i) const { return rows_.is_null(i); }
  std::string text(int i) const { return rows_.text(i); }
  std::string_view blob(int i) const { return rows_.blob(i); }
  StringId string_of_id(int i) const { return rank_.string(rows_.integer<std::int64_t>(i)); }
  StringId string_of_text(int i) const { return rank_.sink().intern(rows_.text(i)); }
  void name_by_text(int i, NvtxRecord& r) const {
    if (is_range(r)) {
      rank_.name_range(r, rows_.text(i));
    } else {
      r.text = string_of_text(i);
    }
  }
  void name_by_id(int i, NvtxRecord& r) const {
    const std::string_view name = rank_.text(rows_.integer<std::int64_t>(i));
    if (is_range(r) && name.find(" = ") != std::string_view::npos) {
      rank_.name_range(r, name);
    } else {
      r.text = string_of_id(i);
    }
  }

 private:
  static bool is_range(const NvtxRecord& r) { return r.type == NvtxType::kPushPop || r.type == NvtxType::kStartEnd; }

  const TableReader& rows_;
  RankReader& rank_;
};

}  // namespace

// Reads all tables of a file and hands each row to its rank.
class TraceFile::Reader {
 public:
  Reader(Database& db, TraceSink& sink, bool own, ReadScope scope, ReadPart part, const FileStrings& strings,
         const ExportProcesses& processes)
      : db_(db), own_(own), scope_(scope), part_(part), strings_(strings) {
    make_ranks(sink, processes);
  }

  void read_rows() { read_tables(Spans()); }

  // What a reader of another part has found out beside its records.
  void take_over(const Reader& other) {
    for (const auto& [what_and_reason, count] : other.drops_)
      drops_[what_and_reason] += count;
    for (const auto& [table, rows] : other.shared_rows_)
      shared_rows_[table] += rows;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      ranks_[i]->run.graph_level_only |= other.ranks_[i]->run.graph_level_only;
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
    read_run_info();
  }

 private:
  void make_ranks(TraceSink& sink, ExportProcesses first_device) {
    if (first_device.empty()) first_device.emplace(0, 0);
    for (const std::uint64_t pid : in_order_of_ranks(first_device)) {
      auto& rank = ranks_.emplace_back(std::make_unique<RankReader>(sink.add_process(), strings_));
      rank->run.rank = static_cast<std::int32_t>(ranks_.size()) - 1;
      rank->run.global_pid = pid;
      reader_of_.emplace(pid, rank.get());
    }
    state_mpi_ranks();
  }

  // The processes of an export, by node and first device; one that MPI has numbered stands by its rank.
  std::vector<std::uint64_t> in_order_of_ranks(const std::map<std::uint64_t, std::int64_t>& first_device) {
    if (!own_) mpi_ranks_ = mpi_ranks(db_);
    std::vector<std::uint64_t> order;
    order.reserve(first_device.size());
    for (const auto& [pid, device] : first_device)
      order.push_back(pid);
    std::ranges::sort(order, {}, [&](std::uint64_t pid) {
      const auto rank = mpi_ranks_.find(pid);
      return std::tuple(rank == mpi_ranks_.end() ? std::numeric_limits<std::int32_t>::max() : rank->second,
                        node_of(pid), first_device.at(pid), pid);
    });
    return order;
  }

  // Processes without a rank of MPI get numbers that no other has.
  void state_mpi_ranks() {
    std::set<std::int32_t> taken;
    for (const auto& rank : ranks_) {
      if (const auto stated = mpi_ranks_.find(rank->run.global_pid); stated != mpi_ranks_.end()) {
        rank->run.rank = stated->second;
        rank->run.collector.push_back({std::string(kRankStatedBy), "MPI_RANKS"});
        taken.insert(stated->second);
      }
    }
    std::int32_t next = 0;
    for (const auto& rank : ranks_) {
      if (taken.empty() || mpi_ranks_.contains(rank->run.global_pid)) continue;
      while (!taken.insert(next).second)
        ++next;
      rank->run.rank = next;
    }
  }

  RankReader& rank(std::uint64_t global_id) {
    if (ranks_.size() == 1) return *ranks_.front();
    const auto found = reader_of_.find(global_pid_of(global_id));
    return found == reader_of_.end() ? *ranks_.front() : *found->second;
  }

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
      hand_over(row.rank(), record);
    }
    const bool is_read = rows.exists() && rows.missing_column().empty();
    if (Spans::has<Record> && !part_.is_whole() && is_read) shared_rows_[name] += rows.rows_read();
  }

  // Whose the record is; the first rank's where it does not say.
  template <typename Record>
  RankReader& rank_of(const Record& record) {
    if constexpr (requires { record.global_tid; }) {
      return rank(record.global_tid);
    } else if constexpr (requires { record.global_pid; }) {
      return rank(record.global_pid);
    } else {
      return *ranks_.front();
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

  void read_run_info() {
    std::int64_t utc_epoch_ns = 0;
    if (TableReader rows(db_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1); rows.next()) {
      utc_epoch_ns = rows.integer<std::int64_t>(0);
    }
    for (const auto& rank : ranks_) {
      rank->run.source = own_ ? "swinscope" : "nsys";
      if (!own_) rank->run.source_file = replace_invalid_utf8(db_.path().filename().string());
      rank->run.complete = !own_ && !db_.is_cut() &&
                           db_.damage().empty();  // a file of ours says so itself, unless it was cut off before
      rank->run.utc_epoch_ns = utc_epoch_ns;
    }
    read_identity();
    read_processes();
    read_threads();
    read_gpus();
    read_windows();
    read_environment();
    read_collector();
    read_drops();
    for (const auto& rank : ranks_)
      rank->sink().set_run(rank->run);
  }

  void read_identity() {
    TableReader rows(db_, "SWINSCOPE_RUN",
                     {"source", "sourceFile", "rank", "worldSize", "globalPid", "host", "command", "complete"}, 8);
    if (!own_ || !rows.next()) return;
    RunInfo& run = ranks_.front()->run;
    run.source = rows.text(0);
    run.source_file = rows.text(1);
    run.rank = rows.integer<std::int32_t>(2);
    run.world_size = rows.integer<std::int32_t>(3);
    run.global_pid = rows.integer<std::uint64_t>(4);
    run.host = rows.text(5);
    run.command = rows.text(6);
    run.complete = rows.integer<std::int32_t>(7) != 0;
  }

  void read_processes() {
    TableReader rows(db_, "PROCESSES", {"globalPid", "name"}, 2);
    while (rows.next()) {
      const auto pid = rows.integer<std::uint64_t>(0);
      // An export lists every process of the machine; keep those that were recorded.
      if (own_ || reader_of_.count(pid) != 0) rank(pid).run.processes.push_back({pid, rows.text(1)});
    }
  }

  void read_threads() {
    TableReader rows(db_, "ThreadNames", {"nameId", "globalTid"}, 2);
    while (rows.next()) {
      const auto tid = rows.integer<std::uint64_t>(1);
      if (!own_ && reader_of_.count(global_pid_of(tid)) == 0) continue;
      const auto text = strings_.find(rows.integer<std::int64_t>(0));
      if (text != strings_.end()) rank(tid).run.threads.push_back({tid, text->second});
    }
  }

  void read_gpus() {
    std::vector<std::uint64_t> processes;
    for (const auto& rank : ranks_)
      processes.push_back(rank->run.global_pid);
    for (auto& [process, gpus] : gpus_of(db_, processes))
      rank(process).run.gpus = std::move(gpus);
  }

  void read_windows() {
    TableReader rows(db_, "SWINSCOPE_WINDOW", {"start", "end"}, 2);
    while (rows.next())
      ranks_.front()->run.windows.push_back({rows.integer<std::int64_t>(0), rows.integer<std::int64_t>(1)});
  }

  void read_environment() {
    TableReader own(db_, "SWINSCOPE_ENVIRONMENT", {"name", "value"}, 2);
    while (own.next())
      ranks_.front()->run.environment.push_back({own.text(0), own.text(1)});
    if (own_) return;  // TARGET_INFO_SYSTEM_ENV says the same again, in the words of Nsight Systems
    TableReader rows(db_, "TARGET_INFO_SYSTEM_ENV", {"name", "value", "globalVid"}, 2);
    while (rows.next()) {
      const std::uint64_t node = node_of(rows.integer<std::uint64_t>(2));
      const auto of_node =
          std::ranges::find_if(ranks_, [&](const auto& rank) { return node_of(rank->run.global_pid) == node; });
      RunInfo& run = of_node == ranks_.end() ? ranks_.front()->run : (*of_node)->run;
      run.environment.push_back({rows.text(0), rows.text(1)});
    }
    state_nodes_and_launcher();
  }

  // What an export says of the machines, and of the launcher where it recorded one process of many.
  void state_nodes_and_launcher() {
    const std::map<std::uint64_t, std::string> hosts = host_names(db_);
    const std::uint64_t first = node_of(ranks_.front()->run.global_pid);
    const bool several =
        std::ranges::any_of(ranks_, [&](const auto& rank) { return node_of(rank->run.global_pid) != first; });
    for (const auto& rank : ranks_) {
      const std::uint64_t node = node_of(rank->run.global_pid);
      const auto host = hosts.find(node);
      if (host != hosts.end() && (several || hosts.size() == 1)) {
        rank->run.host = host->second;
      } else if (several) {
        rank->run.host = fmt::format("node {}", node);
      }
    }
    RunInfo& run = ranks_.front()->run;
    const auto launched = launcher_rank(run.environment);
    if (ranks_.size() > 1 || !launched) return;
    run.world_size = launched->world_size;
    if (!mpi_ranks_.empty()) return;
    run.rank = launched->rank;
    run.collector.push_back({std::string(kRankStatedBy), launched->variable});
  }

  void read_collector() {
    TableReader rows(db_, "SWINSCOPE_COLLECTOR", {"name", "value"}, 2);
    while (rows.next())
      ranks_.front()->run.collector.push_back({rows.text(0), rows.text(1)});
    if (own_) return;
    for (NamedValue& fact : diagnostics(db_))
      ranks_.front()->run.collector.push_back(std::move(fact));
  }

  void read_drops() {
    std::vector<DropInfo>& drops = ranks_.front()->run.drops;
    TableReader rows(db_, "SWINSCOPE_DROPS", {"what", "count", "reason"}, 3);
    while (rows.next()) {
      drops.push_back({rows.text(0), rows.integer<std::int64_t>(1), rows.text(2)});
    }
    for (const auto& [what_and_reason, count] : drops_)
      drops.push_back({what_and_reason.first, count, what_and_reason.second});
    if (own_) return;
    const std::vector<std::string> read(kReadTables.begin(), kReadTables.end());
    for (const auto& [name, count] : other_tables(db_, read))
      drops.push_back({fmt::format("{} row", name), count, "this table is not read"});
  }

  Database& db_;
  bool own_;
  ReadScope scope_;
  ReadPart part_;
  const FileStrings& strings_;
  std::vector<std::unique_ptr<RankReader>> ranks_;
  std::unordered_map<std::uint64_t, RankReader*> reader_of_;
  std::map<std::uint64_t, std::int32_t> mpi_ranks_;  // of an export, by process
  std::map<std::pair<std::string, std::string>, std::int64_t> drops_;
  std::map<std::string, std::int64_t> shared_rows_;  // that were read of tables of which this is a part
};

TraceFile::TraceFile(const std::filesystem::path& path, const UntrustedOptions& options)
    : db_(Database::open_untrusted(path, options)) {
  identify();
}

TraceFile::~TraceFile() = default;

void TraceFile::identify() {
  find_kind();
  // What a file is has to be known; of one that was cut off the rest may do without.
  if (db_.is_cut() || db_.damage().empty()) return;
  throw DamagedFile(ErrorKind::kInput, fmt::format("{}: the SQLite file is damaged", db_.path().string()),
                    fmt::format("{} cannot be read, and with it the version of the file", db_.damage().begin()->first),
                    "copy or export the file again");
}

void TraceFile::find_kind() {
  const std::string name = db_.path().string();
  if (TableReader run(db_, "SWINSCOPE_RUN", {"schemaVersion"}, 1); run.exists()) {
    own_ = true;
    const int version = run.next() ? run.integer<int>(0) : 0;
    if (version > kSchemaVersion) {
      throw Error(ErrorKind::kInput, fmt::format("{}: made by a newer swinscope", name),
                  fmt::format("its schema version is {}, this program reads up to {}", version, kSchemaVersion),
                  "install a newer swinscope");
    }
    description_ = version == 0 ? "swinscope trace, cut off before its identity was written"
                                : fmt::format("swinscope trace, schema {}", version);
    return;
  }
  const std::string schema = export_fact(db_, "EXPORT_SCHEMA_VERSION");
  int major = 0;
  std::from_chars(schema.data(), schema.data() + schema.size(), major);
  if (major > 3) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a newer Nsight Systems export", name),
                fmt::format("its schema version is {}, this program reads 3.x", schema),
                "export the report with an older nsys, or install a newer swinscope");
  }
  const auto exists = [&](const char* table) { return db_.has_table(table); };
  if (std::ranges::none_of(kGpuTables, exists) && std::ranges::none_of(kHostTables, exists)) refuse(name);
  // Exports that are not lazy have all tables, with rows in those of what was recorded.
  const auto has_rows = [&](const char* table) { return exists(table) && db_.has_rows(table); };
  if (std::ranges::none_of(kGpuTables, has_rows) && std::ranges::none_of(kHostTables, has_rows) && !schema.empty() &&
      !other_tables(db_, {kReadTables.begin(), kReadTables.end()}).empty())
    refuse(name);
  const std::string product = export_fact(db_, "EXPORT_PRODUCT_VERSION");
  description_ = fmt::format("Nsight Systems{}{}, schema {}", product.empty() ? "" : " ", product,
                             schema.empty() ? "unknown" : schema);
}

void TraceFile::refuse(const std::string& name) {
  if (!is_nsys_export(db_)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a SQLite file, but not a trace", name), list_tables(db_),
                "export the report with `nsys export --type sqlite`, or record with `swinscope record`");
  }
  std::string cause = "nothing of the GPU and no range of the program was recorded";
  for (const NamedValue& fact : diagnostics(db_))
    cause += fmt::format("; Nsight Systems says: {}", fact.value);
  throw Error(ErrorKind::kInput, fmt::format("{}: Nsight Systems export without CUDA or NVTX rows", name), cause,
              "record with --trace cuda,nvtx");
}

std::vector<std::string> TraceFile::warnings() const {
  std::vector<std::string> lines;
  if (db_.is_cut() && db_.damage().empty()) {
    lines.push_back(
        fmt::format("{}: the SQLite file is cut off; what it is read for could be read", db_.path().string()));
  }
  for (const auto& [table, rows] : db_.damage()) {
    lines.push_back(fmt::format("{}: the SQLite file is damaged; {} rows of {} could be read, the others are lost",
                                db_.path().string(), rows, table));
  }
  return lines;
}

FileStrings TraceFile::strings() {
  FileStrings strings;
  TableReader rows(db_, "StringIds", {"id", "value"}, 2);
  while (rows.next())
    strings.emplace(rows.integer<std::int64_t>(0), rows.text(1));
  return strings;
}

ExportProcesses TraceFile::processes(ReadPart part) {
  ExportProcesses found;
  if (own_) return found;
  const bool has_gpu_work = std::ranges::any_of(
      kGpuTables, [&](const char* table) { return TableReader(db_, table, {"globalPid"}, 1).next(); });
  if (has_gpu_work) {
    for (const char* table : kGpuTables)
      find_processes(db_, table, "globalPid", "deviceId", part, found);
  } else {
    for (const char* table : kHostTables)
      find_processes(db_, table, "globalTid", "", part, found);
  }
  return found;
}

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
