// Which files a path stands for, and what kind of file each is, by its first bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/importers/job.h"
#include "store/error.h"

namespace swinscope {

// Whether the file is a SQLite file rather than one to import. Throws Error(kInput) when it can be no trace at all.
bool is_trace_database(const std::filesystem::path& path);

// The trace files that a path stands for: itself, or those in the folder, by name in natural order; of a point of an
// experiment those of its traced run. A file that is also there without compression counts once, which `notes` says.
// Throws Error(kInput) when there is none, or one is a link out of the folder.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path,
                                               std::vector<std::string>* notes = nullptr);

// Why a file of a folder, which was read with this outcome, is no trace rather than a damaged one; empty when it is
// one: programs leave other JSON files beside their traces.
std::string why_foreign(const std::filesystem::path& path, const std::optional<Error>& error,
                        const std::vector<FileProcess>& processes);

}  // namespace swinscope
