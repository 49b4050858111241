// Small files of /proc and /sys, the texts in them, and the names in folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// The whole file, at most `limit` bytes; empty when it cannot be read.
std::string read_small_file(const std::string& path, std::size_t limit = std::size_t{1} << 20U);

// The same without a final newline.
std::string read_line_of(const std::string& path);

// The names in a folder, in no order; none when it cannot be read. Throws std::bad_alloc, where the C++ library's
// iterators of folders end the program.
std::vector<std::string> names_in(const std::string& folder);

// The decimal number that is the whole text.
std::optional<std::int64_t> parse_integer(std::string_view text);

// The words of a text, which blanks and newlines separate.
std::vector<std::string_view> words_of(std::string_view text);

// The NUL-separated strings of /proc/<pid>/cmdline or environ.
std::vector<std::string> nul_separated(std::string_view text);

// Arguments as one would type them in a shell: quoted where they have to be.
std::string shell_text(const std::vector<std::string>& arguments);

}  // namespace swinscope
