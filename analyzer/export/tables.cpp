#include "analyzer/export/tables.h"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "analyzer/export/event_tables.h"

namespace swinscope {
namespace {

std::string_view type_name(ExportType type) {
  constexpr std::array<std::string_view, 4> kNames = {"int32", "int64", "double", "text"};
  return kNames.at(static_cast<std::size_t>(type));
}

}  // namespace

const std::vector<ExportTable>& export_tables() {
  static const std::vector<ExportTable> tables = [] {
    std::vector<ExportTable> all = {gpu_event_table()};
    for (std::vector<ExportTable>& more : std::array{host_event_tables(), run_tables(), sample_tables()})
      std::ranges::move(more, std::back_inserter(all));
    return all;
  }();
  return tables;
}

std::string export_tables_document() {
  std::string text =
      "# Tables of an export\n\n"
      "`swinscope export RUN --format csv -o DIR` writes one `.csv` file per table, `--format parquet` one `.parquet` "
      "file with the same columns.\nThis page is made from the declarations in `analyzer/export/` by "
      "`scripts/export-docs.sh`.\n\n"
      "- Names end in their unit. Times count from the same moment for all ranks (`ranks.zero_utc_ns`).\n"
      "- An *optional* column is empty (CSV) or null (Parquet) where there is no value.\n"
      "- CSV follows RFC 4180, in UTF-8, with a header line; lines end with LF. Text that begins with `=`, `+`, `-`, "
      "`@`, "
      "a tab or a carriage return\n  has a `'` in front, so that no spreadsheet takes the name of a kernel for a "
      "formula; "
      "Parquet keeps it as it is.\n";
  for (const ExportTable& table : export_tables()) {
    text += fmt::format("\n## {}\n\n{}\n\n| column | type | |\n|---|---|---|\n", table.name, table.description);
    for (const ExportColumn& column : table.columns) {
      text += fmt::format("| `{}` | {}{} | {} |\n", column.name, type_name(column.type),
                          column.is_optional ? ", optional" : "", column.description);
    }
  }
  return text;
}

}  // namespace swinscope
