// How a table of an export is declared: columns with the function that gives a row's value.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "analyzer/export/table_file.h"

namespace swinscope {

// No value is monostate. Text lives as long as the row is written.
using ExportValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;

template <typename Row>
struct DeclaredColumn {
  ExportColumn column;
  ExportValue (*value)(const Row& row);
};

template <typename Row>
std::vector<ExportColumn> columns_of(const std::vector<DeclaredColumn<Row>>& declared) {
  std::vector<ExportColumn> columns;
  columns.reserve(declared.size());
  for (const DeclaredColumn<Row>& column : declared)
    columns.push_back(column.column);
  return columns;
}

inline void write_value(TableFile& file, const ExportValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    file.integer(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    file.real(*real);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    file.text(*text);
  } else {
    file.null();
  }
}

template <typename Row>
void write_row(TableFile& file, const std::vector<DeclaredColumn<Row>>& declared, const Row& row) {
  for (const DeclaredColumn<Row>& column : declared)
    write_value(file, column.value(row));
  file.end_row();
}

// An integer of any type.
template <typename Integer>
ExportValue number(Integer value) {
  return static_cast<std::int64_t>(value);
}
// Nothing where it is the value that stands for nothing.
template <typename Integer>
ExportValue number_unless(Integer value, Integer nothing) {
  return value == nothing ? ExportValue() : number(value);
}
inline ExportValue text_or_none(std::string_view text) { return text.empty() ? ExportValue() : ExportValue(text); }

inline constexpr bool kMayMiss = true;

}  // namespace swinscope
