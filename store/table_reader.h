// Reads the rows of one table by column names of which some may be missing: exports of other versions have fewer
// columns.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/read_scope.h"

namespace swinscope {

// Of a damaged table the rows before the damage are read, then those behind it, from the end; Database::damage() tells.
class TableReader {
 public:
  struct Column {
    const char* name;
    bool is_required;
  };
  // The required ones of the columns must exist, otherwise the table counts as unusable.
  // A part of the rows is one of equal stretches of their ids; of a table without ids the first part is all. Damage,
  // and an id out of order, ends a part.
  TableReader(Database& db, std::string_view table, const std::vector<Column>& columns, ReadPart part = {});
  // `required` of the named columns, from the left.
  TableReader(Database& db, std::string_view table, const std::vector<const char*>& columns, int required,
              ReadPart part = {});

  bool exists() const { return exists_; }
  // The table is there, but lacks this required column (empty: none).
  std::string_view missing_column() const { return missing_; }

  bool next();
  std::int64_t rows_read() const { return rows_read_; }

  bool is_null(int column) const { return rows_->is_null(column); }
  bool is_integer(int column) const { return rows_->is_integer(column); }
  bool is_real(int column) const { return rows_->is_real(column); }
  double real(int column) const { return rows_->real(column); }
  // Invalid UTF-8 is replaced.
  std::string text(int column) const;
  // As it is; valid until the next row.
  std::string_view blob(int column) const { return rows_->blob(column); }

  // The value, saturated to T's range; `none` for NULL.
  template <typename T>
  T integer(int column, T none = {}) const {
    const std::int64_t value = rows_->integer(column);
    if (value == 0 && rows_->is_null(column)) return none;  // asked last: most are numbers
    if constexpr (sizeof(T) < sizeof(std::int64_t)) {
      if (value < static_cast<std::int64_t>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
      if (value > static_cast<std::int64_t>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    }
    return static_cast<T>(value);
  }

 private:
  void open(ReadPart part);
  // Goes on behind the damage. False when nothing more can be read.
  bool next_behind();

  Database& db_;
  std::string table_;
  std::string select_;
  int columns_ = 0;
  std::int64_t rows_read_ = 0;
  std::int64_t last_row_ = INT64_MIN;  // its rowid, before the damage
  bool is_whole_;
  bool damaged_ = false;
  bool exists_ = false;
  std::string missing_;
  std::optional<Statement> rows_;
};

// Whether a table has no rows but those that its parts have read together. A page that stands in the place of another
// may end a part early, of which SQLite says nothing.
bool has_all_rows(Database& db, std::string_view table, std::int64_t rows_of_parts);

}  // namespace swinscope
