// Files that are read whole because they are small by their nature: JSON of experiments, tables of rates, ledgers. They
// come from others, too, and may be anything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace swinscope {

constexpr std::size_t kMostSmallFileBytes = std::size_t{16} << 20U;

// The content of a regular file of at most kMostSmallFileBytes. Throws Error (kInput) with the reason and `hint` for
// what is missing, a folder, a pipe or a device (of which none is waited for or read), larger, or cannot be read.
std::string read_small_file(const std::filesystem::path& path, const std::string& hint);

}  // namespace swinscope
