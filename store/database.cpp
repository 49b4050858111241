#include "store/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/error.h"
#include "store/private_file.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr int kBusyTimeoutMs = 1000;

// Of a file that is only read, sizes that nothing can hold come from damaged pages.
bool is_damage(sqlite3* db, int primary) {
  const bool too_large = primary == SQLITE_NOMEM || primary == SQLITE_TOOBIG;
  return primary == SQLITE_CORRUPT || (too_large && db != nullptr && sqlite3_db_readonly(db, "main") == 1);
}

[[noreturn]] void fail(sqlite3* db, int code, const fs::path& path) {
  const int primary = code & 0xFF;
  const std::string reason = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  if (is_damage(db, primary)) {
    throw DamagedFile(ErrorKind::kInput, fmt::format("{}: the SQLite file is damaged", path.string()), reason,
                      "copy or export the file again");
  }
  switch (primary) {
    case SQLITE_NOTADB:
      throw Error(ErrorKind::kInput, fmt::format("{}: not a SQLite file", path.string()), reason,
                  "give a swinscope trace, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz)");
    case SQLITE_INTERRUPT:
      throw Error(ErrorKind::kInput, fmt::format("{}: reading was stopped", path.string()),
                  "cancelled, or the file's b-trees hold more rows than a file of its size can",
                  "copy or export the file again");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw Error(ErrorKind::kFailure, fmt::format("{}: reading or writing failed", path.string()), reason,
                  "check the free space and the permissions of its folder");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be opened", path.string()), reason,
                  "check that the path exists and its permissions");
    case SQLITE_ERROR:
      // The only sign of a file format that this SQLite does not know.
      if (reason == "unsupported file format") {
        throw Error(ErrorKind::kInput,
                    fmt::format("{}: the SQLite file is damaged or newer than this program", path.string()), reason,
                    "copy or export the file again");
      }
      [[fallthrough]];
    default:
      throw Error(ErrorKind::kFailure, fmt::format("{}: SQLite error {}", path.string(), code), reason);
  }
}

// The path as a SQLite URI: % ? # are the characters that mean something there, and // would begin the name of a host.
std::string immutable_uri(const fs::path& path) {
  std::string uri = "file://";
  for (const char c : fs::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

bool has_content(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && fs::file_size(path, ignored) > 0 && !ignored;
}

constexpr const char* kLogSuffix = "-wal";
constexpr const char* kJournalSuffix = "-journal";

bool has_journal(const fs::path& path) {
  return has_content(path.string() + kLogSuffix) || has_content(path.string() + kJournalSuffix);
}

// At most `count` bytes from the beginning or, where `from_end`, the end of a file; empty when it cannot be read.
std::string read_some(const fs::path& path, std::streamsize count, bool from_end = false) {
  std::ifstream file(path, std::ios::binary);
  if (from_end) file.seekg(-count, std::ios::end);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  file.read(bytes.data(), count);
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

// Changes when the log is begun anew: it holds the salts of its frames.
std::string log_header(const fs::path& database) { return read_some(database.string() + kLogSuffix, 32); }

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes)
    number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

// Whether the header of a database counts more pages than the file has.
bool is_cut_off(const fs::path& path, std::uintmax_t size) {
  constexpr std::size_t kHeaderBytes = 100;
  const std::string header = read_some(path, kHeaderBytes);
  if (header.size() < kHeaderBytes) return false;
  const std::uint32_t stored_page_bytes = big_endian(std::string_view(header).substr(16, 2));
  const std::uintmax_t page_bytes = stored_page_bytes == 1 ? 65'536 : stored_page_bytes;
  // The count holds only when it was written with the last change.
  const bool counts = std::string_view(header).substr(24, 4) == std::string_view(header).substr(92, 4);
  return counts && size < page_bytes * big_endian(std::string_view(header).substr(28, 4));
}

// A journal that ends with these bytes names the journal of a transaction over several files before them.
constexpr std::string_view kSuperJournalMark = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

// Virtual tables are made by other words.
bool is_real_table(std::string_view sql) {
  constexpr std::string_view kPlain = "CREATE TABLE";
  return sql.size() > kPlain.size() && sqlite3_strnicmp(sql.data(), kPlain.data(), kPlain.size()) == 0;
}

}  // namespace

// A private folder with the copy of a database and its journals.
struct Database::TempCopy {
  explicit TempCopy(const fs::path& original) {
    std::error_code none;
    std::string pattern = (fs::temp_directory_path(none) / "swinscope-XXXXXX").string();
    if (none || mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::kFailure, fmt::format("{}: no temporary copy can be made", original.string()),
                  none ? none.message() : fmt::format("{}: {}", pattern, std::strerror(errno)),
                  "set TMPDIR to a folder with free space");
    }
    folder = pattern;
    try {
      copy(original);
    } catch (const fs::filesystem_error& error) {
      remove();
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be copied to {}", original.string(), folder.string()),
                  error.code().message(), "set TMPDIR to a folder with free space");
    } catch (...) {
      remove();
      throw;
    }
  }
  TempCopy(const TempCopy&) = delete;
  TempCopy& operator=(const TempCopy&) = delete;
  TempCopy(TempCopy&&) = delete;
  TempCopy& operator=(TempCopy&&) = delete;
  ~TempCopy() { remove(); }

  fs::path file() const { return folder / "trace.db"; }
  // Of the copies together.
  std::uintmax_t size() const {
    std::uintmax_t sum = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      sum += entry.file_size();
    return sum;
  }

 private:
  // A recording may go on meanwhile. Pages move from the log to the database, so the copy of the log, made second, has
  // what the copy of the database lacks, unless the log was begun anew (or removed) in between: then once more.
  void copy(const fs::path& original) {
    constexpr int kAttempts = 20;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::string log = log_header(original);
      fs::copy_file(original, file(), fs::copy_options::overwrite_existing);
      const bool complete = copy_journal(original, kLogSuffix) && copy_journal(original, kJournalSuffix);
      if (complete && log_header(original) == log) return refuse_super_journal(original);
    }
    throw Error(ErrorKind::kFailure, fmt::format("{}: changes faster than it can be copied", original.string()),
                "the recording still goes on", "try again, or wait for its end");
  }

  // False when the journal vanished meanwhile.
  bool copy_journal(const fs::path& original, const char* suffix) const {
    const fs::path journal = original.string() + suffix;
    const fs::path target = file().string() + suffix;
    fs::remove(target);
    if (!has_content(journal)) return true;
    if (fs::is_symlink(journal)) {
      throw Error(ErrorKind::kInput, fmt::format("{}: cannot be opened safely", original.string()),
                  fmt::format("its journal {} is a link", journal.filename().string()),
                  "put a copy of the journal in its place, or remove it");
    }
    std::error_code error;
    fs::copy_file(journal, target, error);
    if (error == std::errc::no_such_file_or_directory) return false;
    if (error) throw fs::filesystem_error("cannot copy", journal, target, error);
    return true;
  }

  // Played back, such a journal lets SQLite delete the file that it names, which may be any file of the user.
  void refuse_super_journal(const fs::path& original) const {
    const fs::path journal = file().string() + kJournalSuffix;
    constexpr auto kSize = static_cast<std::streamsize>(kSuperJournalMark.size());
    if (read_some(journal, kSize, true) != kSuperJournalMark) return;
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be opened safely", original.string()),
                "its rollback journal belongs to a transaction over several files",
                "open the file where it was made, with the program that made it");
  }

 public:
  void remove() const {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  fs::path folder;
};

// State of the progress handler.
struct Database::Guard {
  static constexpr int kStepsPerCall = 10'000;

  const std::atomic<bool>* cancel = nullptr;
  std::int64_t calls_left = 0;

  static int call(void* self) {
    auto* guard = static_cast<Guard*>(self);
    const bool cancelled = guard->cancel != nullptr && guard->cancel->load(std::memory_order_relaxed);
    return cancelled || --guard->calls_left < 0 ? 1 : 0;
  }
};

namespace {

// Some network file systems have no locks: SQLite would try for a minute, and give up. A lock that another program has
// is one.
bool can_be_locked(const fs::path& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return true;  // to be opened and refused by SQLite
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  const bool is_refused = fcntl(file, F_SETLK, &lock) != 0 && errno != EACCES && errno != EAGAIN;
  close(file);
  return !is_refused;
}

}  // namespace

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Database::Database(const fs::path& file, fs::path shown, int flags, bool immutable) : path_(std::move(shown)) {
  sqlite3* db = nullptr;
  const bool writes = (flags & SQLITE_OPEN_READWRITE) != 0;
  const std::string name = immutable ? immutable_uri(file) : file.string();
  const bool has_locks = !writes || can_be_locked(file);
  const int code = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0),
                                   has_locks ? nullptr : "unix-none");
  db_.reset(db);
  if (code != SQLITE_OK) fail(db, code, path_);
  sqlite3_extended_result_codes(db, 1);
  // Another program that reads our file must not make its recording fail.
  if (writes) sqlite3_busy_timeout(db, kBusyTimeoutMs);
  // A write-ahead log without locks works for one alone.
  if (!has_locks) exec("PRAGMA locking_mode=EXCLUSIVE");
}

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::create(const fs::path& path) {
  const int file = create_private_file(path);
  if (file < 0) {
    throw Error(
        ErrorKind::kFailure, fmt::format("{}: cannot be created", path.string()), std::strerror(errno),
        errno == EEXIST ? "give another name, or --force to replace it" : "check the folder and its permissions");
  }
  close(file);
  return {path, path, SQLITE_OPEN_READWRITE, false};
}

Database Database::open_writable(const fs::path& path) { return {path, path, SQLITE_OPEN_READWRITE, false}; }

Database Database::open_untrusted(const fs::path& path, const UntrustedOptions& options) {
  // Statistics of its memory, which nobody asks for, would cost a lock at each allocation, over which threads that read
  // wait for each other. SQLite refuses once it is in use: then it goes on with them.
  [[maybe_unused]] static const int without_statistics = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  std::error_code error;
  std::uintmax_t size = fs::file_size(path, error);
  if (error) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), error.message(),
                "check the path and its permissions");
  }
  std::unique_ptr<TempCopy> copy;
  if (has_journal(path)) copy = std::make_unique<TempCopy>(path);
  if (copy) size = copy->size();
  Database db(copy ? copy->file() : path, path, copy ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, copy == nullptr);
  db.temp_copy_ = std::move(copy);

  sqlite3* handle = db.handle();
  // SQLite opens a file that was cut off only where the schema counts as writable; the file itself stays read-only.
  db.cut_ = db.temp_copy_ == nullptr && is_cut_off(path, size);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, db.cut_ ? 0 : 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, db.cut_ ? 1 : 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 512);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);

  // An intact table row takes at least 4 bytes of the file and about 100 steps at 32 columns.
  constexpr std::int64_t kStepsPerByte = 32;
  constexpr std::int64_t kBaseSteps = 50'000'000;
  db.guard_ = std::make_unique<Guard>();
  db.guard_->cancel = options.cancel;
  db.guard_->calls_left = options.unlimited
                              ? std::numeric_limits<std::int64_t>::max()
                              : (kBaseSteps + kStepsPerByte * static_cast<std::int64_t>(size)) / Guard::kStepsPerCall;
  sqlite3_progress_handler(handle, Guard::kStepsPerCall, &Guard::call, db.guard_.get());

  db.exec("PRAGMA cell_size_check=ON");
  return db;
}

void Database::exec(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(db_.get(), code, path_);
}

bool Database::exec_unless_locked(const std::string& sql) {
  sqlite3_busy_timeout(db_.get(), 0);
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(db_.get(), kBusyTimeoutMs);
  if ((code & 0xFF) == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) fail(db_.get(), code, path_);
  return true;
}

Statement Database::prepare(std::string_view sql) { return {*this, sql}; }

bool Database::has_table(std::string_view name) {
  Statement found = prepare("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?");
  found.bind(1, name);
  if (!found.step() || !is_real_table(found.text(0))) return false;
  // Damage of the list of tables: an entry whose SQL makes a table of another name.
  Statement columns = prepare("SELECT name FROM pragma_table_info(?)");
  columns.bind(1, name);
  if (columns.step()) return true;
  note_damage(name, 0);
  return false;
}

std::vector<std::string> Database::tables() {
  std::vector<std::string> names;
  Statement rows = prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (rows.step()) {
    if (is_real_table(rows.text(1))) names.emplace_back(rows.text(0));
  }
  std::erase_if(names, [this](const std::string& name) { return !has_table(name); });
  return names;
}

bool Database::has_rows(std::string_view table) {
  try {
    return prepare(fmt::format("SELECT 1 FROM \"{}\" LIMIT 1", table)).step();
  } catch (const DamagedFile&) {
    return true;
  }
}

void Database::note_damage(std::string_view table, std::int64_t rows_read) {
  std::int64_t& most = damage_[std::string(table)];
  most = std::max(most, rows_read);
}

std::int64_t Database::changes() const { return sqlite3_changes64(db_.get()); }
std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(db_.get()); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& db, std::string_view sql) : db_(db.handle()), path_(&db.path()) {
  sqlite3_stmt* statement = nullptr;
  const char* end = nullptr;
  check(sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, &end));
  statement_.reset(statement);
  rest_.assign(sql.substr(static_cast<std::size_t>(end - sql.data())));
}

Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;
Statement::~Statement() = default;

void Statement::check(int code) const {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) fail(db_, code, *path_);
}

void Statement::bind(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_.get(), index, value)); }
void Statement::bind(int index, double value) { check(sqlite3_bind_double(statement_.get(), index, value)); }
void Statement::bind(int index, std::string_view value) {
  // SQLITE_STATIC would save the copy, but then the caller's buffer must live until the next bind.
  check(sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()),
                          SQLITE_TRANSIENT));  // NOLINT(performance-no-int-to-ptr)
}
void Statement::bind_blob(int index, std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(),
                            SQLITE_TRANSIENT));  // NOLINT(performance-no-int-to-ptr)
}
void Statement::bind_null(int index) { check(sqlite3_bind_null(statement_.get(), index)); }

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  check(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  const int code = sqlite3_step(statement_.get());
  // reset repeats the error of step; the first report is the better one
  sqlite3_reset(statement_.get());
  check(code);
}

bool Statement::is_read_only() const { return sqlite3_stmt_readonly(statement_.get()) != 0; }
int Statement::columns() const { return sqlite3_column_count(statement_.get()); }
std::string_view Statement::column_name(int column) const { return sqlite3_column_name(statement_.get(), column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }
bool Statement::is_real(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  // As text, not as a blob: a database may be in UTF-16.
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string_view{} : std::string_view(text, static_cast<std::size_t>(size));
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view{} : std::string_view(bytes, static_cast<std::size_t>(size));
}

Transaction::Transaction(Database& db) : db_(db) { db_.exec("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  // Not through exec: a destructor must not throw, and a failed rollback leaves nothing to do.
  if (open_) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  db_.exec("COMMIT");
  open_ = false;
}

}  // namespace swinscope
