// A regular expression that a user gives for names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace swinscope {

// A regular expression as RE2 reads it (https://github.com/google/re2/wiki/Syntax): no back references and no
// look-around, so that the time to match is linear in the text and neither a name nor an expression exhausts memory or
// the stack. Throws Error(kUsage), which names `option`, when the text is none.
std::shared_ptr<const re2::RE2> compiled_expression(std::string_view option, const std::string& text,
                                                    bool ignores_case = false);

class NamePattern {
 public:
  // Throws Error(kUsage) as compiled_expression().
  NamePattern(std::string_view option, const std::string& text, bool ignores_case = false)
      : compiled_(compiled_expression(option, text, ignores_case)) {}

  // Whether it matches somewhere in the text.
  bool matches(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace swinscope
