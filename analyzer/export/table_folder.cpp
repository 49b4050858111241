#include "analyzer/export/table_folder.h"

#include <memory>

#include <fmt/format.h>

#include "analyzer/export/csv_file.h"
#include "analyzer/export/output.h"
#include "analyzer/export/parquet_file.h"
#include "analyzer/export/tables.h"

namespace swinscope {

std::vector<std::filesystem::path> export_table_folder(const ExportSource& source, const std::filesystem::path& folder,
                                                       TableFormat format, bool force) {
  prepare_export_folder(folder, force);
  std::vector<std::filesystem::path> files;
  for (const ExportTable& table : export_tables()) {
    const bool is_csv = format == TableFormat::kCsv;
    files.push_back(folder / fmt::format("{}.{}", table.name, is_csv ? "csv" : "parquet"));
    ExportOutput output(files.back(), force);
    std::unique_ptr<TableFile> file;
    if (is_csv) {
      file = std::make_unique<CsvFile>(output, table.columns);
    } else {
      file = std::make_unique<ParquetFile>(output, table.columns);
    }
    table.fill(source, *file);
    file->finish();
    output.finish();
  }
  return files;
}

}  // namespace swinscope
