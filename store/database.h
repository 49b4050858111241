// RAII over SQLite: a connection, a statement, a transaction. Each checks every return code in one place and throws
// swinscope::Error; nothing of SQLite leaks to callers.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace swinscope {

class Statement;

// The file does not hold what its pages say: truncated, overwritten.
class DamagedFile : public Error {
 public:
  using Error::Error;
};

// How a file from an unknown source is opened. The progress handler stops a statement when `cancel` becomes true, and
// when it has executed more steps than any intact file of that size could need (a corrupt b-tree can loop for ever).
struct UntrustedOptions {
  const std::atomic<bool>* cancel = nullptr;
  // No limit on the steps: for queries that a user wrote, who can also stop them.
  bool unlimited = false;
};

class Database {
 public:
  // Creates a new file; fails when it exists (O_EXCL, so that two processes can never share one).
  static Database create(const std::filesystem::path& path);
  // Opens an existing trusted file for reading and writing.
  static Database open_writable(const std::filesystem::path& path);
  // Opens a file from anywhere, read-only and hardened: no trusted schema, limits, progress handler. A file with a
  // write-ahead log or a rollback journal beside it (a recording that was cut off, or is still going on) is opened from
  // a temporary copy of both, so the original is never touched.
  static Database open_untrusted(const std::filesystem::path& path, const UntrustedOptions& options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs statements that return no rows.
  void exec(const std::string& sql);
  // The same; false when it did not happen because another connection has locked the file.
  bool exec_unless_locked(const std::string& sql);
  Statement prepare(std::string_view sql);
  // A real table of that name exists (views and virtual tables do not count: reading them runs foreign code).
  bool has_table(std::string_view name);
  // The real tables, by name.
  std::vector<std::string> tables();
  // Whether a table, which exists, has a row or is damaged.
  bool has_rows(std::string_view table);
  // The rowid of the last row inserted.
  std::int64_t last_row() const;
  // Rows that the last statement added, changed or removed.
  std::int64_t changes() const;

  // Read from a temporary copy, since a journal lies beside the file.
  bool is_copy() const { return temp_copy_ != nullptr; }
  // The file is shorter than it says: its last pages are missing.
  bool is_cut() const { return cut_; }
  // Tables that could be read only in part, each with the rows that were read.
  void note_damage(std::string_view table, std::int64_t rows_read);
  const std::map<std::string, std::int64_t>& damage() const { return damage_; }

  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return db_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct TempCopy;
  struct Guard;

  Database(const std::filesystem::path& file, std::filesystem::path shown, int flags, bool immutable);

  std::filesystem::path path_;  // as the user named it, for messages
  std::map<std::string, std::int64_t> damage_;
  bool cut_ = false;
  std::unique_ptr<TempCopy> temp_copy_;
  std::unique_ptr<Guard> guard_;
  std::unique_ptr<sqlite3, Close> db_;  // declared last: closed before the copy is removed
};

// Parameters count from 1, columns from 0, as in SQLite.
class Statement {
 public:
  Statement(Database& db, std::string_view sql);
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind_blob(int index, std::string_view bytes);
  void bind_null(int index);

  // True while there is a row.
  bool step();
  // Executes a statement without rows and makes it ready for the next bindings.
  void run();

  // What stands behind the statement in its text: white space, comments, or a further statement that is never run.
  const std::string& rest() const { return rest_; }
  // Changes nothing in any database.
  bool is_read_only() const;
  int columns() const;
  std::string_view column_name(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_real(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  // Valid until the next step; blobs are read as text.
  std::string_view text(int column) const;
  // The bytes of a blob as they are; valid until the next step.
  std::string_view blob(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int code) const;

  sqlite3* db_;
  const std::filesystem::path* path_;
  std::string rest_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction(Transaction&&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  void commit();

 private:
  Database& db_;
  bool open_ = true;
};

}  // namespace swinscope
