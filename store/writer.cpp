#include "store/writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "store/database.h"
#include "store/error.h"
#include "store/insert.h"
#include "store/oldest_records.h"
#include "store/run_tables.h"
#include "store/schema.h"
#include "store/string_pool.h"
#include "store/tables.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Rows between commits when nobody calls flush(): bounds the memory of SQLite's page cache.
constexpr int kRowsPerTransaction = 50'000;

// A live recording forgets the strings it has interned beyond this, so that a program that names every range
// differently costs bounded memory; a forgotten string that comes again gets a second row.
constexpr std::size_t kMaxLiveStrings = 200'000;

// A file that disappears again when it cannot be completed.
class FileInTheMaking {
 public:
  explicit FileInTheMaking(const fs::path& path) : path_(path) {}
  FileInTheMaking(const FileInTheMaking&) = delete;
  FileInTheMaking& operator=(const FileInTheMaking&) = delete;
  FileInTheMaking(FileInTheMaking&&) = delete;
  FileInTheMaking& operator=(FileInTheMaking&&) = delete;
  ~FileInTheMaking() {
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }

  void keep() { kept_ = true; }

 private:
  const fs::path& path_;
  bool kept_ = false;
};

Database create_database(const fs::path& path, WriteMode mode) {
  std::error_code none;
  const bool claimed = mode == WriteMode::kLive && fs::is_regular_file(path, none) && fs::is_empty(path, none);
  Database db = claimed ? Database::open_writable(path) : Database::create(path);
  FileInTheMaking file(path);
  // First of all: to change the journal is to write, too, and to wait four times until it is on the disk.
  db.exec("PRAGMA synchronous=OFF; PRAGMA page_size=8192");
  db.exec(mode == WriteMode::kLive ? "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=4000"
                                   : "PRAGMA journal_mode=OFF");
  db.exec("PRAGMA cache_size=-16384");
  // One transaction: each of its own would write the list of tables again, a megabyte in all.
  Transaction first(db);
  db.exec(kSchemaSql);
  db.exec("INSERT INTO StringIds VALUES(0, '')");
  first.commit();
  file.keep();
  return db;
}

// The parameters of a row, one for each column. A text that the record has by its id comes from the file itself, as ids
// may be older than what the pool remembers.
template <typename Columns>
std::string parameters(const tables::Table<Columns>& table) {
  std::string list;
  tables::for_each_column(table, [&]<typename Column>(const Column&) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", Column::kParameter);
  });
  return list;
}

template <typename Columns>
std::string insert_sql(const tables::Table<Columns>& table) {
  return fmt::format("INSERT {}INTO {} VALUES({})", table.is_replaced ? "OR REPLACE " : "", table.name,
                     parameters(table));
}

// Its last parameter is the row that is replaced.
std::string close_range_sql() {
  constexpr const auto& kRanges = tables::kTable<NvtxRecord>;
  std::string names;
  tables::for_each_column(kRanges, [&](const auto& column) { names += fmt::format("{},", column.name); });
  return fmt::format("INSERT OR REPLACE INTO {}({}rowid) VALUES({},?)", kRanges.name, names, parameters(kRanges));
}

template <std::size_t... kKinds>
std::array<Insert, kRecordKinds> inserts_of_kinds(Database& db, std::index_sequence<kKinds...> /*all*/) {
  return {Insert(db, insert_sql(tables::kTable<RecordOfKind<kKinds>>))...};
}

}  // namespace

struct TraceWriter::Impl {
  // A row of a table, of which the columns are bound one after the other.
  class BoundRow {
   public:
    BoundRow(Binder row, Impl& writer) : row_(row), writer_(writer) {}
    void number(std::int64_t value) { row_.value(value); }
    void real(double value) { row_.real(value); }
    void text(std::string_view value) { row_.text(value); }
    void string_id(StringId id) { row_.value(id); }
    void text_of_string(StringId id) { row_.value(id); }
    void blob(std::string_view bytes) { row_.blob(bytes); }
    void null() { row_.null(); }
    std::string_view string(StringId id) { return writer_.text(id); }
    void run() { row_.run(); }

   private:
    Binder row_;
    Impl& writer_;
  };

  Impl(const fs::path& path, WriteMode write_mode)
      : mode(write_mode),
        db(create_database(path, write_mode)),
        strings(db, "StringIds", 2),
        kinds(inserts_of_kinds(db, std::make_index_sequence<kRecordKinds>())),
        profiler_overheads(db, insert_sql(tables::kProfilerOverheads)),
        closed_ranges(db, close_range_sql()) {
    begin();
  }

  void begin() { transaction.emplace(db); }
  void commit() {
    if (transaction) transaction->commit();
    transaction.reset();
    rows = 0;
    flushed_strings = pool.size();
  }
  StringId string_id(StringId local) const { return local == kNoString ? kNoString : first_string + local; }
  std::string_view text(StringId id) {
    if (id > first_string) return pool.text(id - first_string);
    // The pool has forgotten it: the name of a range that was open for long.
    Statement row = db.prepare("SELECT value FROM StringIds WHERE id = ?");
    row.bind(1, static_cast<std::int64_t>(id));
    old_text = row.step() ? row.text(0) : std::string_view();
    return old_text;
  }
  void add_string(StringId local) { strings.row().value(string_id(local)).text(pool.text(local)).run(); }
  void forget_strings() {
    first_string += pool.size() - 1;  // all but the empty string, which keeps its id
    pool = StringPool();
    flushed_strings = pool.size();
  }
  template <typename Columns, typename Record>
  BoundRow bind(Insert& insert, const tables::Table<Columns>& table, const Record& record) {
    BoundRow row(insert.row(), *this);
    tables::for_each_column(table, [&](const auto& column) { column.write(row, record); });
    return row;
  }
  // Into one function: what a column is, is known where it is declared.
  template <typename Record>
  [[gnu::flatten]] void add(Insert& insert, const Record& r) {
    bind(insert, tables::kTable<Record>, r).run();
    if constexpr (std::is_same_v<Record, OverheadRecord>) {
      if (tables::is_of_profiler(r)) bind(profiler_overheads, tables::kProfilerOverheads, r).run();
    }
    if constexpr (requires { r.end_ns; }) {
      added(r.start_ns, r.end_ns == kOpenEnd ? r.start_ns : r.end_ns);
    } else if constexpr (requires { r.timestamp_ns; }) {
      added(r.timestamp_ns, r.timestamp_ns);
    } else if constexpr (requires { r.time_ns; } && !std::is_same_v<Record, CudaEventRecord>) {
      // The GPU reaches a CUDA event between other records, or at a time that is not known.
      added(r.time_ns, r.time_ns);
    }
  }
  // Counts a row with its times; commits now and then. A live recording commits in flush() alone: its owner counts what
  // a commit that fails has lost.
  void added(std::int64_t start_ns, std::int64_t end_ns) {
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, std::max(start_ns, end_ns));
    if (++rows < kRowsPerTransaction || mode == WriteMode::kLive) return;
    commit();
    begin();
  }

  WriteMode mode;
  Database db;
  StringPool pool;
  StringId first_string = 0;     // see string_id
  std::string old_text;          // see text
  StringId flushed_strings = 1;  // of the pool, which survive a roll-back in the file
  Insert strings;
  std::array<Insert, kRecordKinds> kinds;  // by AnyRecord's index
  Insert profiler_overheads;
  Insert closed_ranges;
  std::optional<Transaction> transaction;
  int rows = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  RunInfo run;
  bool finished = false;
};

TraceWriter::TraceWriter(const fs::path& path, WriteMode mode) : impl_(std::make_unique<Impl>(path, mode)) {}

TraceWriter::~TraceWriter() {
  if (impl_->finished || impl_->mode == WriteMode::kLive) return;
  const fs::path path = impl_->db.path();
  impl_.reset();
  std::error_code ignored;
  fs::remove(path, ignored);
}

StringId TraceWriter::intern(std::string_view text) {
  if (text.empty()) return kNoString;
  const StringId known = impl_->pool.size();
  const StringId local = impl_->pool.intern(text);
  if (local == known) impl_->add_string(local);
  return impl_->string_id(local);
}

void TraceWriter::take(AnyRecord record) {
  std::visit([&](const auto* r) { impl_->add(impl_->kinds.at(record.index()), *r); }, record);
}

std::int64_t TraceWriter::add_open(const NvtxRecord& r, std::string_view payload) {
  const NvtxPayloadRecord record{r, payload};
  const AnyRecord kind = &record;
  impl_->bind(impl_->kinds.at(kind.index()), tables::kTable<NvtxPayloadRecord>, record).run();
  const std::int64_t id = impl_->db.last_row();
  impl_->added(r.start_ns, r.start_ns);
  return id;
}

void TraceWriter::close_open(std::int64_t row_id, const NvtxRecord& r, std::string_view payload) {
  Impl::BoundRow row =
      impl_->bind(impl_->closed_ranges, tables::kTable<NvtxPayloadRecord>, NvtxPayloadRecord{r, payload});
  row.number(row_id);
  row.run();
  impl_->added(r.start_ns, r.end_ns == kOpenEnd ? r.start_ns : r.end_ns);
}

void TraceWriter::flush() {
  impl_->commit();
  if (impl_->mode == WriteMode::kLive && impl_->pool.size() > kMaxLiveStrings) impl_->forget_strings();
  impl_->begin();
}

std::int64_t TraceWriter::bytes() const { return used_bytes(impl_->db); }

std::vector<DropInfo> TraceWriter::make_room() {
  RemovedRecords removed = remove_oldest_records(impl_->db);
  if (!removed.counts.empty()) impl_->first_ns = removed.whole_from_ns;
  return std::move(removed.counts);
}

void TraceWriter::roll_back() {
  impl_->transaction.reset();
  impl_->rows = 0;
  impl_->begin();
  // Memory must not grow for as long as the disk is full; the names of what comes next matter more than those of the
  // past.
  if (impl_->pool.size() > kMaxLiveStrings) impl_->forget_strings();
  for (StringId local = impl_->flushed_strings; local < impl_->pool.size(); ++local)
    impl_->add_string(local);
}

void TraceWriter::write_threads() {
  Insert threads(impl_->db, "ThreadNames", 3);
  for (const ThreadInfo& thread : impl_->run.threads) {
    threads.row().value(intern(thread.name)).null().value(thread.global_tid).run();
  }
}

void TraceWriter::set_run(const RunInfo& run) {
  impl_->run = run;
  // A recording may be cut off at any moment: its identity must be in the file by then.
  if (impl_->mode != WriteMode::kLive) return;
  write_run(impl_->db, run, false);
  write_threads();
}

const RunInfo& TraceWriter::run() const { return impl_->run; }

void TraceWriter::finish() {
  Impl& impl = *impl_;
  const RunInfo& run = impl.run;
  write_run(impl.db, run, run.complete);
  write_threads();
  if (impl.first_ns <= impl.last_ns) {
    Insert details(impl.db, "ANALYSIS_DETAILS", 4);
    details.row().value(0).value(impl.last_ns - impl.first_ns).value(impl.first_ns).value(impl.last_ns).run();
  }
  impl.commit();
  impl.db.exec(kIndexSql);
  // Somebody who reads the file with another program keeps the log, until that program closes it.
  if (impl.mode == WriteMode::kLive) impl.db.exec_unless_locked("PRAGMA journal_mode=DELETE");
  impl.finished = true;
}

void TraceWriter::finish_as(const fs::path& final_path, bool replace) {
  finish();
  const fs::path path = impl_->db.path();
  std::error_code error;
  if (!replace) {
    // A hard link fails when the name is taken, a rename would replace it.
    fs::create_hard_link(path, final_path, error);
    if (!error) fs::remove(path, error);
  } else {
    fs::rename(path, final_path, error);
  }
  if (!error) return;
  impl_->finished = false;  // so that the destructor removes the unfinished name
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", final_path.string()), error.message(),
              "give another folder with -o, or --force to replace the file");
}

}  // namespace swinscope
