#include "store/table_reader.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

std::vector<std::string> columns_of(Database& db, std::string_view table) {
  std::vector<std::string> names;
  Statement info = db.prepare("SELECT name FROM pragma_table_info(?)");
  info.bind(1, table);
  while (info.step())
    names.emplace_back(info.text(0));
  return names;
}

// SQLite compares column names without case, for ASCII.
bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::vector<TableReader::Column> with_required(const std::vector<const char*>& names, int required) {
  std::vector<TableReader::Column> columns;
  columns.reserve(names.size());
  for (const char* name : names)
    columns.push_back({name, required-- > 0});
  return columns;
}

// A column of that name hides the ids.
bool hides_ids(const std::vector<std::string>& columns) {
  return std::ranges::any_of(columns, [](const std::string& name) { return same_name(name, "rowid"); });
}

std::int64_t one_number(Database& db, const std::string& sql) {
  Statement statement = db.prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

// The condition that a row is of this part; fails for a table without ids. Differences of ids may need all 64 bits.
std::string ids_of(Database& db, const std::string& table, ReadPart part) {
  const auto least = static_cast<std::uint64_t>(one_number(db, fmt::format("SELECT min(rowid) FROM \"{}\"", table)));
  const auto most = static_cast<std::uint64_t>(one_number(db, fmt::format("SELECT max(rowid) FROM \"{}\"", table)));
  const std::uint64_t length = (most - least) / static_cast<std::uint64_t>(part.count) + 1;
  const std::uint64_t first = length * static_cast<std::uint64_t>(part.index);
  if (first > most - least) return "0";
  const std::uint64_t last = most - least - first < length ? most - least : first + length - 1;
  return fmt::format("rowid BETWEEN {} AND {}", static_cast<std::int64_t>(least + first),
                     static_cast<std::int64_t>(least + last));
}

}  // namespace

TableReader::TableReader(Database& db, std::string_view table, const std::vector<const char*>& columns, int required,
                         ReadPart part)
    : TableReader(db, table, with_required(columns, required), part) {}

TableReader::TableReader(Database& db, std::string_view table, const std::vector<Column>& columns, ReadPart part)
    : db_(db),
      table_(table),
      columns_(static_cast<int>(columns.size())),
      is_whole_(part.is_whole()),
      exists_(db.has_table(table)) {
  if (!exists_) return;
  const std::vector<std::string> present = columns_of(db, table);
  for (const Column& column : columns) {
    const bool found = std::any_of(present.begin(), present.end(),
                                   [&](const std::string& name) { return same_name(name, column.name); });
    if (!found && column.is_required) {
      missing_ = column.name;
      return;
    }
    select_ += fmt::format("{}{}", select_.empty() ? "" : ",", found ? fmt::format("\"{}\"", column.name) : "NULL");
  }
  if (!is_whole_ && hides_ids(present)) {
    is_whole_ = true;
    if (!part.is_first()) return;
  }
  open(part);
}

void TableReader::open(ReadPart part) {
  try {
    // Without an index the rows come in the order of their ids.
    const std::string rows = fmt::format("SELECT {},rowid FROM \"{}\" NOT INDEXED", select_, table_);
    rows_.emplace(db_.prepare(is_whole_ ? rows : fmt::format("{} WHERE {}", rows, ids_of(db_, table_, part))));
  } catch (const DamagedFile&) {
    throw;
  } catch (const Error&) {  // a table without ids
    is_whole_ = true;
    if (part.is_first()) rows_.emplace(db_.prepare(fmt::format("SELECT {},0 FROM \"{}\"", select_, table_)));
  }
}

bool TableReader::next() {
  if (!rows_) return false;
  if (damaged_) return next_behind();
  try {
    if (!rows_->step()) return false;
    const std::int64_t row = rows_->integer(columns_);
    damaged_ = !is_whole_ && rows_read_ > 0 && row <= last_row_;
    last_row_ = row;
  } catch (const DamagedFile&) {
    damaged_ = true;
  }
  if (!damaged_) {
    ++rows_read_;
    return true;
  }
  db_.note_damage(table_, rows_read_);
  if (!is_whole_) {
    rows_.reset();
    return false;
  }
  try {
    rows_.emplace(db_.prepare(fmt::format(
        "SELECT {},rowid FROM \"{}\" NOT INDEXED WHERE rowid > {} ORDER BY rowid DESC", select_, table_, last_row_)));
    return next_behind();
  } catch (const Error&) {
    rows_.reset();
    return false;
  }
}

bool TableReader::next_behind() {
  try {
    if (!rows_->step()) return false;
  } catch (const DamagedFile&) {
    return false;
  }
  db_.note_damage(table_, ++rows_read_);
  return true;
}

bool has_all_rows(Database& db, std::string_view table, std::int64_t rows_of_parts) {
  return one_number(db, fmt::format("SELECT count(*) FROM \"{}\" NOT INDEXED", table)) == rows_of_parts;
}

std::string TableReader::text(int column) const {
  const std::string_view raw = rows_->text(column);
  return is_valid_utf8(raw) ? std::string(raw) : replace_invalid_utf8(raw);
}

}  // namespace swinscope
