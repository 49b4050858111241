// SQL that a user wrote, on the trace files of a run. Every statement runs on each file, and reads: SQLite is asked
// before anything else is done (its authorizer), so that no statement, and no view, trigger or function that the file
// itself brings along, writes, attaches a file, loads an extension or changes a setting. Traces of other programs are
// converted into a temporary folder first, which is removed with this object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/table/table.h"

namespace swinscope {

struct QueryOptions {
  const std::atomic<bool>* cancel = nullptr;  // true: Error(kInterrupted) is thrown soon
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  // of texts
};

struct QueryResult {
  // "rows". A column for each of the statement, as the statement calls it; of several files the first one, `file`, says
  // which file a row is from.
  Table table;
  std::vector<std::optional<std::int32_t>> rank_of_row;  // where the row's file states its rank
  bool is_cut = false;                                   // there are more rows than the options allow
  std::size_t files = 1;                                 // on each of which the statement ran
  // "… a LIMIT, a sum or an order is of each file": what those who ask of several files must know; else empty.
  std::string note() const;
};

// A table that a statement can read.
struct QueryTable {
  std::string name;
  std::vector<std::string> columns;
  bool has_rows = false;  // in a file of the run
};

class QueriedRun {
 public:
  // A trace, or a folder of traces that are one run. Converts what has to be. Throws Error.
  explicit QueriedRun(const std::filesystem::path& run, const std::atomic<bool>* cancel = nullptr);
  QueriedRun(const QueriedRun&) = delete;
  QueriedRun& operator=(const QueriedRun&) = delete;
  QueriedRun(QueriedRun&&) = delete;
  QueriedRun& operator=(QueriedRun&&) = delete;
  ~QueriedRun();

  // One statement that returns rows. Throws Error(kUsage) where the SQL is wrong or would do more than read. May be
  // called by several threads at once.
  QueryResult run(const std::string& sql, const QueryOptions& options = {}) const;
  // By name, those of all files.
  std::vector<QueryTable> tables() const;

  // What was wrong with what was converted.
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool is_corrupt() const { return is_corrupt_; }

 private:
  class Converted;
  struct File {
    std::filesystem::path path;
    std::optional<std::int32_t> rank;
  };

  std::unique_ptr<Converted> converted_;  // null: the files are those of the user
  std::vector<File> files_;
  std::vector<std::string> warnings_;
  bool is_corrupt_ = false;
};

}  // namespace swinscope
