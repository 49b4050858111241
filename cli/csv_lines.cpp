#include "cli/csv_lines.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::vector<std::string_view> CsvLine::fields() const {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    fields.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

void CsvLine::refuse(const std::string& what, const std::string& cause) const {
  throw Error(ErrorKind::kInput, fmt::format("{}: line {}: \"{}\": {}", path.string(), number, text, what), cause,
              hint);
}

void for_each_csv_line(const std::filesystem::path& path, std::string_view option, const char* hint,
                       std::string_view missing, const std::function<void(const CsvLine&)>& header,
                       const std::function<void(const CsvLine&)>& row) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), {},
                fmt::format("check the path given with {}", option));
  }
  int number = 0;
  int lines = 0;  // that are not empty
  for (std::string text; std::getline(file, text);) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    const bool is_marked = ++number == 1 && text.starts_with(kByteOrderMark);
    const CsvLine line{path, hint, number,
                       trimmed(std::string_view(text).substr(is_marked ? kByteOrderMark.size() : 0))};
    if (line.text.empty()) continue;
    (++lines == 1 ? header : row)(line);
  }
  if (lines < 2) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no {}", path.string(), missing),
                lines == 1 ? "there is no line below the names of the columns" : "the file is empty", hint);
  }
}

}  // namespace swinscope::cli
