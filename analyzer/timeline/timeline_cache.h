// Timelines of foreign files, kept in the user's cache: one file for each, beside nothing but others of its kind.
#pragma once

#include <filesystem>
#include <string>

#include "analyzer/timeline/timeline.h"

namespace swinscope {

// Changes when the file changes: its path, size, time of change and the first 64 KiB, and the size and time of a
// write-ahead log beside it. Empty when the file cannot be read.
std::string file_identity(const std::filesystem::path& file);

// Where the timeline of `file` is or would be kept.
std::filesystem::path cache_entry(const std::filesystem::path& folder, const std::filesystem::path& file);

// Keeps a timeline under the file's identity, in one step: readers see the old entry or the new one. Then removes those
// entries that were used least recently, while all take more than 2 GiB. Throws Error.
void keep_timeline(const std::filesystem::path& folder, const std::filesystem::path& file, const std::string& identity,
                   const Timeline& timeline, const std::atomic<bool>* cancel);

// Marks an entry as used now.
void touch_entry(const std::filesystem::path& entry);

}  // namespace swinscope
