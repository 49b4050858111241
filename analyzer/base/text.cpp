#include "analyzer/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace swinscope {
namespace {

std::string four_digits(double value, std::string_view unit) {
  const double magnitude = std::abs(value);
  const int decimals = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::string format_duration(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double magnitude = std::abs(value);
  if (magnitude < 1e3) return fmt::format("{} ns", ns);
  if (magnitude < 1e6) return four_digits(value / 1e3, "us");
  if (magnitude < 1e9) return four_digits(value / 1e6, "ms");
  if (magnitude < 3600e9) return four_digits(value / 1e9, "s");
  return four_digits(value / 3600e9, "h");
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(static_cast<double>(bytes)) < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return four_digits(value, kUnits[unit]);
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string format_number(double value) {
  constexpr double kAllDigitsFrom = 9999.5;  // four of them would need an exponent
  constexpr double kAllDigitsTo = 1e15;
  if (std::abs(value) >= kAllDigitsFrom && std::abs(value) < kAllDigitsTo) return format_count(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string counted(std::int64_t count, std::string_view what) {
  if (count == 1) return fmt::format("1 {}", what);
  std::size_t end = what.size();
  for (const std::string_view preposition : {" of ", " at ", " in ", " with ", " without "})
    end = std::min(end, what.find(preposition));
  std::string noun(what.substr(0, end));
  constexpr std::string_view kVowels = "aeiou";
  const auto ends_with_any = [&](std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view e) { return noun.ends_with(e); });
  };
  if (noun.size() > 1 && noun.back() == 'y' && !noun.ends_with("cpy") &&
      kVowels.find(noun[noun.size() - 2]) == std::string_view::npos) {
    noun.replace(noun.size() - 1, 1, "ies");
  } else {
    noun += ends_with_any({"s", "x", "ch", "sh"}) ? "es" : "s";
  }
  return fmt::format("{} {}{}", count, noun, what.substr(end));
}

std::string format_counted(std::int64_t count, std::string_view things) {
  return fmt::format("{} {}", format_count(count), count == 1 ? things.substr(0, things.size() - 1) : things);
}

bool contains_any_case(std::string_view text, std::string_view part) {
  const auto is_same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return part.empty() || std::search(text.begin(), text.end(), part.begin(), part.end(), is_same) != text.end();
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string elide(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width == 0) return std::string(text);
  std::size_t points = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (starts_code_point(text[at]) && ++points == width) break;
    ++at;
  }
  return std::string(text.substr(0, at)) + "…";
}

}  // namespace swinscope
