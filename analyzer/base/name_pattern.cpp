#include "analyzer/base/name_pattern.h"

#include <array>

#include <fmt/format.h>
#include <regex.h>

#include "store/error.h"

namespace swinscope {

struct NamePattern::Compiled {
  Compiled(std::string_view option, const std::string& text) {
    const int code = regcomp(&regex, text.c_str(), REG_EXTENDED | REG_NOSUB);
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
