#include "gui/core/table_sums.h"

#include <QStringList>
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "analyzer/base/text.h"
#include "analyzer/table/render.h"

namespace swinscope::gui {
namespace {

// Rates, means and quantiles have no sum.
constexpr std::array<std::string_view, 12> kAdditive = {"calls",   "total_ns",   "busy_share_percent", "per_step_ns",
                                                        "host_ns", "gpu_ns",     "gpu_per_step_ns",    "gflop",
                                                        "bytes",   "bytes_read", "bytes_written",      "layers"};

// Nothing where no row has a value.
Cell sum_of(const Table& table, std::size_t column, std::span<const std::size_t> rows) {
  Cell sum;
  for (const std::size_t row : rows) {
    const Cell& cell = table.rows[row][column];
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      const auto* before = std::get_if<std::int64_t>(&sum);
      sum = (before == nullptr ? 0 : *before) + *whole;
    } else if (const auto* real = std::get_if<double>(&cell)) {
      const auto* before = std::get_if<double>(&sum);
      sum = (before == nullptr ? 0 : *before) + *real;
    }
  }
  return sum;
}

// A layer's range encloses those of the layers below it: their host times are no parts of a sum.
bool is_nested(const Table& table) {
  const auto path =
      static_cast<std::size_t>(std::ranges::find(table.columns, "path", &Column::key) - table.columns.begin());
  if (path == table.columns.size()) return false;
  std::unordered_set<std::string_view> all;
  for (const std::vector<Cell>& row : table.rows)
    all.insert(std::get<std::string>(row[path]));
  return std::ranges::any_of(all, [&](std::string_view name) {
    for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1))
      if (all.contains(name.substr(0, dot))) return true;
    return false;
  });
}

}  // namespace

QString sum_line(const Table& table, std::span<const std::size_t> rows) {
  if (rows.size() < 2) return {};
  QStringList parts;
  const bool has_nested = is_nested(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.detail || std::ranges::find(kAdditive, column.key) == kAdditive.end()) continue;
    if (has_nested && column.key == "host_ns") continue;
    const Cell sum = sum_of(table, i, rows);
    if (std::holds_alternative<std::monostate>(sum)) continue;
    QString value = QString::fromStdString(format_cell(sum, column.unit));
    const auto* share = std::get_if<double>(&sum);
    if (column.key == "busy_share_percent" && share != nullptr && *share > 100.05)
      value += QStringLiteral(" (several ran at once)");
    const QString title = QString::fromStdString(column.title);
    parts << (column.unit == Unit::kCount ? value + QLatin1Char(' ') + title : title + QLatin1Char(' ') + value);
  }
  if (parts.isEmpty()) return {};
  return QStringLiteral("Sum of %1 rows: %2")
      .arg(QString::fromStdString(format_count(std::ssize(rows))), parts.join(QStringLiteral(" · ")));
}

}  // namespace swinscope::gui
