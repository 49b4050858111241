#include "cli/timing_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/csv_lines.h"

namespace swinscope::cli {
namespace {

constexpr const char* kFormHint =
    "the first line is gpus,step_ms (or step_s, step_us, step_ns), then one line for each repeat, such as 2,30.1";

constexpr const char* kOneValue = "each column has one number, with nothing behind it but the comma";

struct TimeUnit {
  std::string_view column;
  double ns;
};
constexpr std::array<TimeUnit, 4> kUnits = {{{"step_s", 1e9}, {"step_ms", 1e6}, {"step_us", 1e3}, {"step_ns", 1}}};

struct Columns {
  std::size_t gpus = 0;
  std::size_t step = 0;
  double unit_ns = 0;
};

Columns parse_header(const CsvLine& line) {
  const std::vector<std::string_view> names = line.fields();
  std::optional<std::size_t> gpus;
  std::optional<std::size_t> step;
  double unit_ns = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto unit = std::ranges::find(kUnits, names[i], &TimeUnit::column);
    std::optional<std::size_t>& column = names[i] == "gpus" ? gpus : step;
    if (names[i] != "gpus" && unit == kUnits.end()) {
      line.refuse(fmt::format("\"{}\" is no column", names[i]),
                  "the columns are gpus and one of step_s, step_ms, step_us, step_ns");
    }
    if (column) line.refuse("a column is there twice", "there is one column gpus and one step time");
    column = i;
    if (unit != kUnits.end()) unit_ns = unit->ns;
  }
  if (!gpus) line.refuse("there is no column gpus", "it says which point a line belongs to");
  if (!step) line.refuse("there is no step time", "its unit must be named: step_s, step_ms, step_us or step_ns");
  return {*gpus, *step, unit_ns};
}

std::int64_t parse_step_ns(const CsvLine& line, std::string_view text, double unit_ns) {
  const std::optional<double> number = number_in<double>(text);
  if (!number || !std::isfinite(*number)) line.refuse(fmt::format("\"{}\" is no number", text), kOneValue);
  constexpr double kLongestNs = 1e15;  // eleven days
  const double ns = *number * unit_ns;
  if (ns < 0.5 || ns > kLongestNs)
    line.refuse(fmt::format("{} is no step time", text),
                "it is a positive number, of at least half a nanosecond and at "
                "most eleven days");
  return std::llround(ns);
}

}  // namespace

std::map<int, std::vector<std::int64_t>> read_timing(const std::filesystem::path& path) {
  std::map<int, std::vector<std::int64_t>> timing;
  Columns columns;
  for_each_csv_line(
      path, "--timing", kFormHint, "step times", [&](const CsvLine& line) { columns = parse_header(line); },
      [&](const CsvLine& line) {
        const std::vector<std::string_view> fields = line.fields();
        if (fields.size() != 2) line.refuse(fmt::format("{} values, not 2", fields.size()), kOneValue);
        const std::optional<int> gpus = number_in<int>(fields[columns.gpus]);
        if (!gpus || *gpus < 1)
          line.refuse(fmt::format("\"{}\" is no number of GPUs", fields[columns.gpus]), kOneValue);
        timing[*gpus].push_back(parse_step_ns(line, fields[columns.step], columns.unit_ns));
      });
  return timing;
}

}  // namespace swinscope::cli
