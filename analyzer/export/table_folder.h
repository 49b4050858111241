// Writes the tables of an export into a folder, a file for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "analyzer/export/source.h"

namespace swinscope {

enum class TableFormat : std::uint8_t { kCsv, kParquet };

// Returns the files: gpu_events.csv and so on. Throws Error(kUsage) when one exists and `force` is not set.
std::vector<std::filesystem::path> export_table_folder(const ExportSource& source, const std::filesystem::path& folder,
                                                       TableFormat format, bool force);

}  // namespace swinscope
