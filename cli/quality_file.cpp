#include "cli/quality_file.h"

#include <cmath>

#include <fmt/format.h>

#include "cli/csv_lines.h"

namespace swinscope::cli {
namespace {

constexpr const char* kFormHint =
    "the first line is such as precision,top-1 [%], then one line for each measurement, such as fp8,77.2";
constexpr const char* kTwo = "a line has a value of what was swept, a comma, and one number";

}  // namespace

Quality read_quality(const std::filesystem::path& path) {
  Quality quality;
  const auto two_of = [](const CsvLine& line) {
    std::vector<std::string_view> fields = line.fields();
    if (fields.size() != 2) line.refuse(fmt::format("{} values, not 2", fields.size()), kTwo);
    if (fields[0].empty() || fields[1].empty()) line.refuse("a value is missing", kTwo);
    return fields;
  };
  for_each_csv_line(
      path, "--quality", kFormHint, "measurements",
      [&](const CsvLine& line) {
        const std::vector<std::string_view> fields = two_of(line);
        quality.factor = fields[0];
        quality.name = fields[1];
      },
      [&](const CsvLine& line) {
        const std::vector<std::string_view> fields = two_of(line);
        const std::optional<double> number = number_in<double>(fields[1]);
        if (!number || !std::isfinite(*number)) line.refuse(fmt::format("\"{}\" is no number", fields[1]), kTwo);
        quality.measured[std::string(fields[0])].push_back(*number);
      });
  return quality;
}

}  // namespace swinscope::cli
