#include "analyzer/base/name_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "store/error.h"

namespace swinscope {

std::shared_ptr<const re2::RE2> compiled_expression(std::string_view option, const std::string& text,
                                                    bool ignores_case) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignores_case);
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (compiled->ok()) return compiled;
  throw Error(ErrorKind::kUsage, fmt::format("{} {}: not a regular expression", option, text), compiled->error(),
              "escape ( ) [ ] { } . * + ? with a backslash to match them literally");
}

bool NamePattern::matches(std::string_view text) const {
  return re2::RE2::PartialMatch({text.data(), text.size()}, *compiled_);
}

}  // namespace swinscope
