#include "analyzer/pattern.h"

#include <array>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope {

Pattern::Pattern(const std::string& option, const std::string& text) {
  const int code = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code == 0) return;
  std::array<char, 256> reason{};
  regerror(code, &compiled_, reason.data(), reason.size());
  throw Error(ErrorKind::kUsage, fmt::format("{} {}: not a regular expression", option, text), reason.data(),
              "escape ( ) [ ] { } . * + ? with a backslash to match them literally");
}

}  // namespace swinscope
