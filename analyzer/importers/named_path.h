// Paths that experiment.json and point.json name. These files come from others, too: what they name lies below the
// experiment's folder, or it is reached by a link that `swinscope join` made on this machine for who reads it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace swinscope {

// The links that a file tells of, by their names in its folder; what they are is their mark.
using OwnLinks = std::map<std::string, std::string>;

// What tells a symbolic link of the user from any other: the number of its inode and the time of its last change, which
// no archive, copy or other machine brings along. Empty for what is no link, or another user's.
std::string link_mark(const std::filesystem::path& link);

// The place in the folder of `file` that its entry `name` means; nothing has to be there. Throws Error (kInput) with
// file, entry and reason when the name is absolute, goes up with "..", or leads by a link to something that is neither
// below that folder nor below the experiment that the folder is a point of.
std::filesystem::path named_path(const std::filesystem::path& file, const std::string& name, const OwnLinks& own);

// Of what was found in a folder, not named by the user: throws Error (kInput) when it is a link to something that is
// not below that folder.
void refuse_link_out(const std::filesystem::path& found);

}  // namespace swinscope
