#include "analyzer/table/table.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "analyzer/base/name_pattern.h"
#include "store/error.h"

namespace swinscope {
namespace {

double number_of(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return 0;
}

bool sorts_before(const Cell& a, const Cell& b) {
  const bool missing_a = std::holds_alternative<std::monostate>(a);
  const bool missing_b = std::holds_alternative<std::monostate>(b);
  if (missing_a || missing_b) return !missing_a && missing_b;
  const auto* text_a = std::get_if<std::string>(&a);
  const auto* text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr && text_b != nullptr) return *text_a < *text_b;
  return number_of(a) > number_of(b);
}

}  // namespace

std::size_t find_column(const Table& table, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key == name || table.columns[i].title == name) return i;
    known += fmt::format("{}{}", i == 0 ? "" : ", ", table.columns[i].key);
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no column '{}'", name),
              fmt::format("the columns are: {}", known), "use one of these names");
}

void sort_rows(Table& table, std::string_view column) {
  const std::size_t at = find_column(table, column);
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return sorts_before(a[at], b[at]); });
}

void filter_rows(Table& table, std::string_view column, const std::string& pattern) {
  const std::size_t at = find_column(table, column);
  const NamePattern compiled("--filter", pattern);
  const auto rejected = [&](const std::vector<Cell>& row) {
    const auto* text = std::get_if<std::string>(&row[at]);
    return text == nullptr || !compiled.matches(*text);
  };
  table.rows.erase(std::remove_if(table.rows.begin(), table.rows.end(), rejected), table.rows.end());
}

void filter_rows(Table& table, const std::string& pattern) {
  const NamePattern compiled("--filter", pattern);
  const auto text_of = [](const Cell& cell) { return std::get_if<std::string>(&cell); };
  const auto has_texts = [&](const std::vector<Cell>& row) { return std::ranges::any_of(row, text_of); };
  if (std::ranges::none_of(table.rows, has_texts)) return;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return std::ranges::none_of(row, [&](const Cell& cell) {
      const std::string* const text = text_of(cell);
      return text != nullptr && compiled.matches(*text);
    });
  });
}

void keep_top(Table& table, std::size_t count) {
  if (table.rows.size() > count) table.rows.resize(count);
}

void hide_empty(Table& table, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::size_t at = find_column(table, key);
    table.columns[at].detail = std::ranges::all_of(
        table.rows, [&](const std::vector<Cell>& row) { return std::holds_alternative<std::monostate>(row[at]); });
  }
}

}  // namespace swinscope
