// POSIX extended regular expressions, as options take them: glibc matches them without recursion, so that no name can
// exhaust the stack.
#pragma once

#include <string>

#include <regex.h>

namespace swinscope {

class Pattern {
 public:
  // Throws Error(kUsage) naming `option` when `text` is no regular expression.
  Pattern(const std::string& option, const std::string& text);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  Pattern(Pattern&&) = delete;
  Pattern& operator=(Pattern&&) = delete;
  ~Pattern() { regfree(&compiled_); }

  // Whether it is found somewhere in `text`.
  bool matches(const std::string& text) const { return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0; }

 private:
  regex_t compiled_{};
};

}  // namespace swinscope
