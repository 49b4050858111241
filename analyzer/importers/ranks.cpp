#include "analyzer/importers/ranks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace swinscope {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The number behind `word`, which stands alone in the text: no letter before it; behind it at most one sign.
std::optional<std::int32_t> number_behind(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    std::string_view rest = text.substr(at + word.size());
    constexpr std::string_view kSigns = "-_.= ";
    if (!rest.empty() && kSigns.find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const bool ends = end == rest.data() + rest.size() || !is_letter(*end);
    if (error == std::errc() && number >= 0 && ends) return number;
  }
  return std::nullopt;
}

std::string_view leading_digits(std::string_view text) {
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()));
}

std::string_view without_zeros(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(digits.size() - 1) : digits.substr(first);
}

}  // namespace

std::optional<std::int32_t> rank_in_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 5> kWords = {"rank", "worker", "process", "proc", "r"};
  for (const std::string_view word : kWords) {
    if (const auto number = number_behind(name, word)) return number;
  }
  return std::nullopt;
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view digits_a = leading_digits(a);
      const std::string_view digits_b = leading_digits(b);
      const std::string_view number_a = without_zeros(digits_a);
      const std::string_view number_b = without_zeros(digits_b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      a.remove_prefix(digits_a.size());
      b.remove_prefix(digits_b.size());
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // 01 and 1
}

}  // namespace swinscope
