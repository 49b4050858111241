#include "analyzer/base/name_pattern.h"

#include <array>
#include <cctype>

#include <fmt/format.h>
#include <regex.h>

#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::string_view kIgnoreCase = "(?i)";

// What a class of characters stands for within [ ]; "" where the letter names none.
std::string_view within_brackets(char letter) {
  if (letter == 'd') return "0-9";
  if (letter == 'w') return "_[:alnum:]";
  return letter == 's' ? "[:space:]" : std::string_view();
}

}  // namespace

std::string posix_pattern(std::string_view text) {
  std::string posix;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next != '\0') {
      const std::string_view set = within_brackets(next);
      if (in_brackets && !set.empty()) {
        posix += set;
      } else if (next == 'd') {
        posix += "[0-9]";
      } else if (in_brackets && std::ispunct(static_cast<unsigned char>(next)) != 0 && next != ']' && next != '-') {
        posix += next;  // a backslash escapes nothing there
      } else {
        posix += {c, next};
      }
      ++i;
      continue;
    }
    if (c == '[' && !in_brackets) {
      in_brackets = true;
      posix += c;
      if (next == '^') posix += text[++i];
      if (i + 1 < text.size() && text[i + 1] == ']') posix += text[++i];  // the first one ends nothing
      continue;
    }
    if (in_brackets && c == '[' && next == ':') {
      const std::size_t end = text.find(":]", i + 2);
      if (end != std::string_view::npos) {
        posix += text.substr(i, end + 2 - i);
        i = end + 1;
        continue;
      }
    }
    if (c == ']') in_brackets = false;
    posix += c;
  }
  return posix;
}

struct NamePattern::Compiled {
  Compiled(std::string_view option, const std::string& text) {
    const bool ignores_case = text.starts_with(kIgnoreCase);
    const std::string posix = posix_pattern(std::string_view(text).substr(ignores_case ? kIgnoreCase.size() : 0));
    const int code = regcomp(&regex, posix.c_str(), REG_EXTENDED | REG_NOSUB | (ignores_case ? REG_ICASE : 0));
    if (code == 0) return;
    std::array<char, 256> reason{};
    regerror(code, &regex, reason.data(), reason.size());
    throw Error(ErrorKind::kUsage, fmt::format("{} {}: not a regular expression", option, text), reason.data(),
                "escape ( ) [ ] { } . * + ? with a backslash to match them literally");
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  Compiled(Compiled&&) = delete;
  Compiled& operator=(Compiled&&) = delete;
  ~Compiled() { regfree(&regex); }

  regex_t regex{};
};

NamePattern::NamePattern(std::string_view option, const std::string& text)
    : compiled_(std::make_shared<const Compiled>(option, text)) {}

bool NamePattern::matches(const std::string& text) const {
  return regexec(&compiled_->regex, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace swinscope
