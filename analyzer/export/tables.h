// The tables that `swinscope export --format csv|parquet` writes: each declared once, column by column with its value,
// so that both formats, the documentation and the tests are of the same tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/source.h"
#include "analyzer/export/table_file.h"

namespace swinscope {

struct ExportTable {
  std::string_view name;
  std::string_view description;
  std::vector<ExportColumn> columns;
  void (*fill)(const ExportSource& source, TableFile& file);
};

// In the order in which they are documented.
const std::vector<ExportTable>& export_tables();

// docs/export-tables.md, which a test holds against this.
std::string export_tables_document();

}  // namespace swinscope
