#include "analyzer/query/query.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "analyzer/importers/file_facts.h"
#include "analyzer/importers/import.h"
#include "analyzer/importers/trace_files.h"
#include "store/error.h"
#include "store/reader.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

// Settings that only say what is there.
constexpr std::array<std::string_view, 12> kReadingPragmas = {
    "table_info", "table_xinfo",    "table_list", "index_list",     "index_info",      "index_xinfo",
    "page_count", "freelist_count", "encoding",   "schema_version", "compile_options", "function_list"};

bool is_reading_pragma(const char* name) {
  return std::ranges::any_of(kReadingPragmas,
                             [&](std::string_view known) { return sqlite3_stricmp(known.data(), name) == 0; });
}

// What may be done, whoever asks for it: the statement, or a view that it reads.
int authorize(void* /*unused*/, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE:
      // So SQLite asks where it makes a table of a function (json_each); a statement that would do it is no reading
      // one.
      return std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return is_reading_pragma(first) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

Error sql_error(const std::string& cause) {
  return {ErrorKind::kUsage, "the SQL cannot be run", cause, "tables and columns are documented in docs/schema.md"};
}

Error refusal(const std::string& cause) {
  return {ErrorKind::kUsage, "only statements that read can be run", "traces are never changed: " + cause,
          "use SELECT or WITH"};
}

int primary_code(Database& database) { return sqlite3_errcode(database.handle()) & 0xFF; }

Statement prepare(Database& database, const std::string& sql) {
  Statement rows = [&] {
    try {
      return database.prepare(sql);
    } catch (const Error& error) {
      if (primary_code(database) == SQLITE_AUTH) throw refusal(error.cause());
      throw sql_error(error.cause());
    }
  }();
  if (!rows.is_read_only()) throw refusal("it would write");
  if (rows.columns() == 0) throw sql_error("it is no statement that returns rows");  // nothing at all, or a comment
  if (rows.rest().find_first_not_of(" \t\r\n;") != std::string::npos)
    throw sql_error(fmt::format("one statement at a time; behind the first stands: {}", rows.rest()));
  return rows;
}

// Whether the failure of a running statement lies in the SQL (an overflow, malformed JSON) rather than in the file.
bool is_fault_of_sql(int primary) {
  return primary == SQLITE_ERROR || primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH || primary == SQLITE_AUTH;
}

bool next_row(Statement& rows, Database& database) {
  try {
    return rows.step();
  } catch (const Error& error) {
    const int primary = primary_code(database);
    if (primary == SQLITE_INTERRUPT) throw Error(ErrorKind::kInterrupted, "the query was stopped");
    if (is_fault_of_sql(primary)) throw sql_error(error.cause());
    throw;
  }
}

Cell cell_of(const Statement& row, int column) {
  if (row.is_null(column)) return {};
  if (row.is_integer(column)) return row.integer(column);
  if (row.is_real(column)) return row.real(column);
  return std::string(row.text(column));
}

std::size_t text_bytes(const std::vector<Cell>& cells) {
  std::size_t bytes = 0;
  for (const Cell& cell : cells) {
    if (const auto* text = std::get_if<std::string>(&cell)) bytes += text->size();
  }
  return bytes;
}

// A result while it grows.
class Rows {
 public:
  explicit Rows(const QueryOptions& options) : options_(options) { result_.table = {"rows", "Result", {}, {}}; }

  // Those of one file; `name`: its first column, empty for none.
  void read(Statement& rows, Database& database, const std::string& name, std::optional<std::int32_t> rank) {
    add_columns(rows, !name.empty());
    while (next_row(rows, database)) {
      if (result_.table.rows.size() >= options_.most_rows || bytes_ > options_.most_bytes) {
        result_.is_cut = true;
        return;
      }
      std::vector<Cell> cells;
      if (!name.empty()) cells.emplace_back(name);
      for (int c = 0; c < rows.columns(); ++c)
        cells.push_back(cell_of(rows, c));
      bytes_ += text_bytes(cells);
      result_.table.rows.push_back(std::move(cells));
      result_.rank_of_row.push_back(rank);
    }
  }
  bool is_full() const { return result_.is_cut; }
  QueryResult take() { return std::move(result_); }

 private:
  void add_columns(const Statement& rows, bool names_file) {
    if (!result_.table.columns.empty()) return;
    if (names_file) result_.table.columns.push_back({"file", "file"});
    for (int c = 0; c < rows.columns(); ++c) {
      const std::string name(rows.column_name(c));
      result_.table.columns.push_back({name, name, Unit::kValue});
    }
  }

  const QueryOptions& options_;
  QueryResult result_;
  std::size_t bytes_ = 0;
};

std::optional<std::int32_t> stated_rank(const fs::path& file) {
  try {
    return read_file_facts(file).rank;
  } catch (const Error&) {
    return std::nullopt;  // a query says what is wrong with it
  }
}

bool is_cancelled(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

}  // namespace

// The run as our own files, in a folder that is removed with its content.
class QueriedRun::Converted {
 public:
  Converted() {
    std::string pattern = (fs::temp_directory_path() / "swinscope-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot create a temporary folder", pattern), {},
                  "set TMPDIR to a folder with free space");
    }
    folder_ = pattern;
  }
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  Converted(Converted&&) = delete;
  Converted& operator=(Converted&&) = delete;
  ~Converted() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path run() const { return folder_ / "run"; }

 private:
  fs::path folder_;
};

QueriedRun::QueriedRun(const fs::path& run, const std::atomic<bool>* cancel) {
  std::vector<fs::path> files = trace_files(run);
  if (!std::ranges::all_of(files, is_trace_database)) {
    converted_ = std::make_unique<Converted>();
    ImportResult imported = import_traces(files, converted_->run(), false, cancel);
    files = trace_files(converted_->run());
    warnings_ = std::move(imported.warnings);
    is_corrupt_ = imported.corrupt;
  }
  for (const fs::path& file : files)
    files_.push_back({file, stated_rank(file)});
}

QueriedRun::~QueriedRun() = default;

std::string QueryResult::note() const {
  if (files < 2) return {};
  return fmt::format("The statement ran on each of the {} files: a LIMIT, a sum or an order is of each, not of all.",
                     files);
}

QueryResult QueriedRun::run(const std::string& sql, const QueryOptions& options) const {
  Rows result(options);
  for (const File& one : files_) {
    if (is_cancelled(options.cancel)) throw Error(ErrorKind::kInterrupted, "the query was stopped");
    TraceFile file(one.path, {options.cancel, true});
    sqlite3_set_authorizer(file.database().handle(), &authorize, nullptr);
    Statement rows = prepare(file.database(), sql);
    result.read(rows, file.database(), files_.size() > 1 ? one.path.filename().string() : std::string(), one.rank);
    if (result.is_full()) break;
  }
  QueryResult taken = result.take();
  taken.files = files_.size();
  return taken;
}

std::vector<QueryTable> QueriedRun::tables() const {
  std::map<std::string, QueryTable> found;
  for (const File& one : files_) {
    TraceFile file(one.path, {nullptr, true});
    Statement columns = file.database().prepare(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND m.sql "
        "LIKE 'CREATE TABLE%' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid");
    std::map<std::string, std::vector<std::string>> of_file;
    while (columns.step())
      of_file[std::string(columns.text(0))].emplace_back(columns.text(1));
    for (auto& [name, its_columns] : of_file) {
      QueryTable& table = found[name];
      table.name = name;
      if (table.columns.empty()) table.columns = std::move(its_columns);
      table.has_rows = table.has_rows || file.database().has_rows(name);
    }
  }
  std::vector<QueryTable> tables;
  tables.reserve(found.size());
  for (auto& [name, table] : found)
    tables.push_back(std::move(table));
  return tables;
}

}  // namespace swinscope
