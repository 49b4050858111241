#include "analyzer/experiment/quality.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/error.h"

namespace swinscope {
namespace {

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return format_cell(cell, Unit::kValue);
}

// Of the points' table as it is for readers and programs.
std::optional<std::size_t> column_named(const Table& table, std::string_view key) {
  const auto found = std::ranges::find(table.columns, key, &Column::key);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

}  // namespace

bool add_quality(const Quality& quality, Document& document) {
  const auto points = std::ranges::find(document.tables, "points", &Table::key);
  if (points == document.tables.end()) return false;
  const std::optional<std::size_t> factor = column_named(*points, quality.factor);
  if (!factor) return false;
  const std::size_t gpus = find_column(*points, "gpus");
  const std::size_t rate = find_column(*points, "images_per_s");
  const std::size_t step = find_column(*points, "step_ns");

  Table table{"quality", fmt::format("Speed and {}", quality.name), {}, {}};
  table.columns = {points->columns[*factor],
                   points->columns[step],
                   points->columns[rate],
                   {"quality", quality.name, Unit::kValue},
                   {"least", "least", Unit::kValue},
                   {"most", "most", Unit::kValue},
                   {"measured", "measured", Unit::kCount}};
  const bool is_by_gpus = *factor == gpus;
  if (!is_by_gpus) table.columns.push_back(points->columns[gpus]);
  for (Column& column : table.columns)
    column.detail = false;
  table.definition =
      fmt::format("{}: the mean of what was measured of the points with this {}, the least and the most of it.",
                  quality.name, quality.factor);
  std::vector<std::string> names;
  for (const std::vector<Cell>& row : points->rows) {
    if (row[*factor] == Cell()) continue;  // a point of other factors
    names.push_back(text_of(row[*factor]));
    const auto found = quality.measured.find(names.back());
    if (found == quality.measured.end()) continue;
    const std::vector<double>& values = found->second;
    const auto [least, most] = std::ranges::minmax(values);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    table.rows.push_back(
        {row[*factor], row[step], row[rate], mean, least, most, static_cast<std::int64_t>(values.size())});
    if (!is_by_gpus) table.rows.back().push_back(row[gpus]);
  }
  for (const auto& [value, measured] : quality.measured) {
    if (std::ranges::find(names, value) != names.end()) continue;
    throw Error(ErrorKind::kInput, fmt::format("{} {}: no point of the experiment has it", quality.factor, value),
                fmt::format("its points have {}", fmt::join(names, ", ")), "name points by the values that were swept");
  }
  // By images a second where these are known, else by steps.
  const auto speed = [&](const std::vector<Cell>& row) {
    if (const auto* images = std::get_if<double>(&row[2])) return std::pair(*images, 0.0);
    const auto* ns = std::get_if<std::int64_t>(&row[1]);
    return std::pair(0.0, ns == nullptr ? 0.0 : 1.0 / static_cast<double>(*ns));
  };
  std::ranges::stable_sort(table.rows, {}, speed);
  document.tables.push_back(std::move(table));
  return true;
}

}  // namespace swinscope
