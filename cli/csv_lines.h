// Small CSV files that people write: the first line names the columns, each line below has a value for each. Empty
// lines are passed over, and so is white space around a value.
#pragma once

#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope::cli {

// A place in the file, for messages.
struct CsvLine {
  const std::filesystem::path& path;
  const char* hint;  // what the file should look like
  int number = 0;
  std::string_view text;

  std::vector<std::string_view> fields() const;  // trimmed
  // Throws Error(kInput), naming file and line.
  [[noreturn]] void refuse(const std::string& what, const std::string& cause) const;
};

// The first line goes to `header`, the others to `row`. option: that names the file, "--timing". Throws Error(kInput)
// where the file cannot be read or has no row; `missing`: what it has then none of.
void for_each_csv_line(const std::filesystem::path& path, std::string_view option, const char* hint,
                       std::string_view missing, const std::function<void(const CsvLine&)>& header,
                       const std::function<void(const CsvLine&)>& row);

// The whole text as a number.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace swinscope::cli
