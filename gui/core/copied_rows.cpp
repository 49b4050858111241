#include "gui/core/copied_rows.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analyzer/table/render.h"

namespace swinscope::gui {
namespace {

struct CopyUnit {
  double size;
  const char* name;
};
constexpr std::array<CopyUnit, 4> kTimes = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
constexpr std::array<CopyUnit, 4> kSizes = {{{1ULL << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}};

std::optional<double> number_in(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

// Nothing where cells are written as they are shown.
std::optional<CopyUnit> unit_of(const Table& table, std::size_t column, std::span<const std::size_t> rows) {
  const Unit unit = table.columns[column].unit;
  if (unit == Unit::kPercent) return CopyUnit{1, "%"};
  if (unit != Unit::kDuration && unit != Unit::kBytes) return std::nullopt;
  double largest = 0;
  for (const std::size_t row : rows)
    largest = std::max(largest, std::abs(number_in(table.rows[row][column]).value_or(0)));
  const auto& units = unit == Unit::kDuration ? kTimes : kSizes;
  const auto* const found = std::ranges::find_if(units, [&](const CopyUnit& u) { return largest >= u.size; });
  return found == units.end() ? units.back() : *found;
}

}  // namespace

QString copied_rows(const Table& table, std::span<const std::size_t> columns, std::span<const std::size_t> rows) {
  std::vector<std::optional<CopyUnit>> units;
  QStringList titles;
  for (const std::size_t column : columns) {
    units.push_back(unit_of(table, column, rows));
    titles << QString::fromStdString(table.columns[column].title);
    if (units.back()) titles.back() += QStringLiteral(" (%1)").arg(QLatin1String(units.back()->name));
  }
  QStringList lines{titles.join(QLatin1Char('\t'))};
  for (const std::size_t row : rows) {
    QStringList cells;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Cell& cell = table.rows[row][columns[i]];
      const std::optional<double> number = number_in(cell);
      cells << (units[i] && number ? QString::number(*number / units[i]->size, 'g', 6)
                                   : QString::fromStdString(format_cell(cell, table.columns[columns[i]].unit)));
    }
    lines << cells.join(QLatin1Char('\t'));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace swinscope::gui
