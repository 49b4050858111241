// swinscope query RUN "SELECT …": SQL on the trace file, read-only.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "analyzer/importers/import.h"
#include "analyzer/importers/open.h"
#include "cli/command.h"
#include "store/error.h"
#include "store/reader.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

struct QueryOptions {
  CommonOptions common;
  std::string run;
  std::string sql;
};

// A folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "swinscope-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot create a temporary folder", pattern), {},
                  "set TMPDIR to a folder with free space");
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Error sql_error(const std::string& cause) {
  return {ErrorKind::kUsage, "the SQL cannot be run", cause, "tables and columns are documented in docs/schema.md"};
}

Statement prepare(Database& database, const std::string& sql) {
  Statement rows = [&] {
    try {
      return database.prepare(sql);
    } catch (const Error& error) {
      throw sql_error(error.cause());
    }
  }();
  if (!rows.is_read_only()) {
    throw Error(ErrorKind::kUsage, "only statements that read can be run", "traces are never changed",
                "use SELECT or WITH");
  }
  // BEGIN and ATTACH count as reading, and so does nothing at all.
  if (rows.columns() == 0) throw sql_error("it is no statement that returns rows");
  if (rows.rest().find_first_not_of(" \t\r\n;") != std::string::npos) {
    throw sql_error(fmt::format("one statement at a time; behind the first stands: {}", rows.rest()));
  }
  return rows;
}

// Whether the failure of a running statement lies in the SQL (an overflow, malformed JSON) rather than in the file.
bool is_fault_of_sql(Database& database) {
  switch (sqlite3_errcode(database.handle()) & 0xFF) {
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_AUTH:
      return true;
    default:
      return false;
  }
}

bool next_row(Statement& rows, Database& database) {
  try {
    return rows.step();
  } catch (const Error& error) {
    if (is_fault_of_sql(database)) throw sql_error(error.cause());
    throw;
  }
}

Cell cell_of(const Statement& row, int column) {
  if (row.is_null(column)) return {};
  if (row.is_integer(column)) return row.integer(column);
  if (row.is_real(column)) return row.real(column);
  return std::string(row.text(column));
}

// Adds the result of one file; with several files the first column says which.
void query_file(const fs::path& path, const std::string& sql, bool name_file, Table& table) {
  TraceFile file(path, {&interrupted(), true});
  Statement rows = prepare(file.database(), sql);
  if (table.columns.empty()) {
    if (name_file) table.columns.push_back({"file", "file"});
    for (int c = 0; c < rows.columns(); ++c) {
      const std::string name(rows.column_name(c));
      table.columns.push_back({name, name, Unit::kValue});
    }
  }
  while (next_row(rows, file.database())) {
    std::vector<Cell> cells;
    if (name_file) cells.emplace_back(path.filename().string());
    for (int c = 0; c < rows.columns(); ++c)
      cells.push_back(cell_of(rows, c));
    table.rows.push_back(std::move(cells));
  }
}

int run_query(const QueryOptions& options) {
  std::vector<fs::path> files = trace_files(options.run);
  std::unique_ptr<TemporaryFolder> converted;
  ImportResult imported;
  if (!std::all_of(files.begin(), files.end(), is_trace_database)) {
    converted = std::make_unique<TemporaryFolder>();
    imported = import_traces(files, converted->path() / "run", false, &interrupted());
    files = trace_files(converted->path() / "run");
  }
  if (!options.common.quiet) {
    for (const std::string& warning : imported.warnings)
      fmt::print(stderr, "warning: {}\n", warning);
  }
  Table table{"rows", "Result", {}, {}};
  for (const fs::path& file : files)
    query_file(file, options.sql, files.size() > 1, table);
  Document document;
  document.schema = "query";
  document.run = options.run;
  document.warnings = imported.warnings;
  document.tables = {std::move(table)};
  emit(document, options.common);
  return imported.corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_query(Program& program) {
  auto options = std::make_shared<QueryOptions>();
  Command& command = program.add_command("query", "Run SQL on a trace, read-only");
  command.option("RUN", options->run, "Trace to query").required();
  command.option("SQL", options->sql, "The statement; tables are documented in docs/schema.md").required();
  options->common.add_to(command);
  command.does([options] { return run_query(*options); });
}

}  // namespace swinscope::cli
