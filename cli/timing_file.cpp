#include "cli/timing_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::cli {
namespace {

constexpr const char* kFormHint =
    "the first line is gpus,step_ms (or step_s, step_us, step_ns), then one line for each repeat, such as 2,30.1";

constexpr const char* kOneValue = "each column has one number, with nothing behind it but the comma";

// A place in the file, for messages.
struct Line {
  const std::filesystem::path& path;
  int number = 0;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& what, const std::string& cause) const {
    throw Error(ErrorKind::kInput, fmt::format("{}: line {}: \"{}\": {}", path.string(), number, text, what), cause,
                kFormHint);
  }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

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

Columns parse_header(const Line& line) {
  const std::vector<std::string_view> names = fields_of(line.text);
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

// The whole text as a number.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::int64_t parse_step_ns(const Line& line, std::string_view text, double unit_ns) {
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
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), {},
                "check the path given with --timing");
  }
  std::map<int, std::vector<std::int64_t>> timing;
  std::optional<Columns> columns;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    const bool is_marked = ++number == 1 && text.starts_with(kByteOrderMark);
    const Line line{path, number, trimmed(std::string_view(text).substr(is_marked ? kByteOrderMark.size() : 0))};
    if (line.text.empty()) continue;
    if (!columns) {
      columns = parse_header(line);
      continue;
    }
    const std::vector<std::string_view> fields = fields_of(line.text);
    if (fields.size() != 2) line.refuse(fmt::format("{} values, not 2", fields.size()), kOneValue);
    const std::optional<int> gpus = number_in<int>(fields[columns->gpus]);
    if (!gpus || *gpus < 1) line.refuse(fmt::format("\"{}\" is no number of GPUs", fields[columns->gpus]), kOneValue);
    timing[*gpus].push_back(parse_step_ns(line, fields[columns->step], columns->unit_ns));
  }
  if (timing.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no step times", path.string()),
                columns ? "there is no line below the names of the columns" : "the file is empty", kFormHint);
  }
  return timing;
}

}  // namespace swinscope::cli
