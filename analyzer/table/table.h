// What every analysis ends in and every output starts from: typed rows under named columns. Renderers compute nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace swinscope {

enum class Unit : std::uint8_t { kText, kCount, kNumber, kDuration, kBytes, kPercent, kValue };

struct Column {
  std::string key;    // JSON and CSV name; carries the unit ("total_ns")
  std::string title;  // for people
  Unit unit = Unit::kText;
  bool detail = false;  // not shown in the terminal table: only in CSV, JSON and Markdown
};

// kDuration is int64 ns (or a double), kBytes int64 bytes, kPercent a double in 0..100, kNumber is shown to people with
// four digits, kValue as it is. No value is monostate.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct Table {
  std::string key;    // name within a document with several tables
  std::string title;  // heading for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string definition = {};  // what its figures are, in one or two sentences; empty: nobody has said it
};

// The column of that key or title. Throws Error(kUsage) naming the columns there are.
std::size_t find_column(const Table& table, std::string_view name);
// Stable; numbers descending, text ascending; missing values last.
void sort_rows(Table& table, std::string_view column);
// Keeps rows whose text in the column matches the regular expression. Throws Error(kUsage) when it is
// none.
void filter_rows(Table& table, std::string_view column, const std::string& pattern);
// Keeps rows of which a text matches; a table without texts keeps all of them.
void filter_rows(Table& table, const std::string& pattern);
void keep_top(Table& table, std::size_t count);
// Of these columns those without any value are details, the others are not.
void hide_empty(Table& table, std::initializer_list<std::string_view> keys);

}  // namespace swinscope
