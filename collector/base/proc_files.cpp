#include "collector/base/proc_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/shell.h"

namespace swinscope {

std::string read_small_file(const std::string& path, std::size_t limit) {
  std::string content;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return content;
  std::array<char, 4096> block{};
  while (content.size() < limit) {
    const ssize_t got = read(file, block.data(), std::min(block.size(), limit - content.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return content;
}

std::string read_line_of(const std::string& path) {
  std::string content = read_small_file(path);
  while (!content.empty() && content.back() == '\n')
    content.pop_back();
  return content;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), &closedir);
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  std::vector<std::string_view> words;
  std::size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::string> nul_separated(std::string_view text) {
  std::vector<std::string> strings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    strings.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return strings;
}

std::string shell_text(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    text += shell_word(argument);
  }
  return text;
}

}  // namespace swinscope
