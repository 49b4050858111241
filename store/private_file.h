// Files and folders that only their owner can read: a trace holds the command lines of all its processes, and what
// people write there.
#pragma once

#include <filesystem>
#include <string>

namespace swinscope {

// Makes the folder and those missing above it, for their owner alone (0700); a folder that exists stays as it is. True
// when the folder itself is new. Throws Error (kFailure) when it cannot be made, or is no folder.
bool make_private_folder(const std::filesystem::path& folder);

// Makes the last folder of the path, and nothing when it exists already: false. Of several processes one makes it.
// Throws Error (kFailure).
bool make_new_folder(const std::filesystem::path& folder);

// Creates an empty file for its owner alone (0600) and opens it for writing. Nothing that is there already is opened or
// followed, symbolic links included. -1 with errno when it cannot be created, EEXIST when the name is taken.
int create_private_file(const std::filesystem::path& path) noexcept;

// Replaces the file in one step, by way of a new one beside it: readers see the old text or the new one. The file is
// its owner's alone. Throws Error (kFailure); then the file is as it was.
void replace_private_file(const std::filesystem::path& path, const std::string& text);

// A new file beside `path` with the text, hidden, for its owner alone; to be renamed or removed. Throws Error
// (kFailure).
std::filesystem::path write_beside(const std::filesystem::path& path, const std::string& text);

}  // namespace swinscope
