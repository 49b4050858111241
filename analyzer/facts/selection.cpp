#include "analyzer/facts/selection.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope {
namespace {

// A whole number from 1 on, and nothing behind it; 0 for anything else.
std::int64_t step_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number > 0 ? number : 0;
}

}  // namespace

StepRange parse_steps(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::int64_t first = step_number(std::string_view(text).substr(0, colon));
  const std::int64_t last = colon == std::string::npos ? first : step_number(std::string_view(text).substr(colon + 1));
  if (first == 0 || last < first) {
    throw Error(ErrorKind::kUsage, fmt::format("--steps {}: not a range of steps", text),
                "steps are counted from 1, and A:B are those from A to B, both included",
                "give one such as 3:5, or 4 for a single step");
  }
  return {first, last};
}

}  // namespace swinscope
