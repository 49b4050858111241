// A regular expression that a user gives for names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace swinscope {

// The expression with each \d and, within [ ], \d, \w and \s as POSIX writes them.
std::string posix_pattern(std::string_view text);

// POSIX extended regular expressions: glibc matches them without recursion, so that no name can exhaust the stack.
class NamePattern {
 public:
  // As posix_pattern() reads it; (?i) at the beginning: letters match whatever their case. Throws Error(kUsage), which
  // names `option`, when the text is no regular expression.
  NamePattern(std::string_view option, const std::string& text);

  // Whether it matches somewhere in the text.
  bool matches(const std::string& text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace swinscope
