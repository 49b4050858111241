#include "analyzer/trace/step_rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <regex.h>

#include "analyzer/base/name_pattern.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::string_view kRangesPrefix = "nvtx:";
constexpr std::string_view kOutputPrefix = "stdout:";
constexpr std::array<std::pair<std::string_view, StepSource>, 4> kWords = {{{"auto", StepSource::kAuto},
                                                                            {"annotated", StepSource::kAnnotated},
                                                                            {"launches", StepSource::kLaunches},
                                                                            {"whole-run", StepSource::kWholeRun}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string safe;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

struct LinePattern::Compiled {
  explicit Compiled(const std::string& text) {
    const int code = regcomp(&regex, posix_pattern(text).c_str(), REG_EXTENDED);
    if (code == 0) return;
    std::array<char, 256> reason{};
    regerror(code, &regex, reason.data(), reason.size());
    throw Error(ErrorKind::kUsage, fmt::format("--step {}: not a regular expression", text), reason.data(),
                "escape ( ) [ ] { } . * + ? with a backslash to match them literally");
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  Compiled(Compiled&&) = delete;
  Compiled& operator=(Compiled&&) = delete;
  ~Compiled() { regfree(&regex); }

  regex_t regex{};
};

LinePattern::LinePattern(const std::string& text) : compiled_(std::make_shared<const Compiled>(text)) {}

bool LinePattern::has_group() const { return compiled_->regex.re_nsub > 0; }

std::optional<std::int64_t> LinePattern::match(const std::string& line) const {
  std::array<regmatch_t, 10> groups{};
  if (regexec(&compiled_->regex, line.c_str(), groups.size(), groups.data(), 0) != 0) return std::nullopt;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (groups.at(g).rm_so < 0) continue;
    const char* begin = line.c_str() + groups.at(g).rm_so;
    const char* end = line.c_str() + groups.at(g).rm_eo;
    begin = std::find_if(begin, end, is_digit);  // "step 12" in the group is as good
    std::int64_t number = 0;
    if (std::from_chars(begin, end, number).ec == std::errc()) return number;
  }
  return -1;
}

StepRule parse_step_rule(const std::string& text) {
  if (text.empty()) return {};
  for (const auto& [word, source] : kWords) {
    if (text == word) return {source, {}};
  }
  for (const auto& [prefix, source] :
       {std::pair(kRangesPrefix, StepSource::kRanges), std::pair(kOutputPrefix, StepSource::kOutput)}) {
    if (!text.starts_with(prefix)) continue;
    StepRule rule{source, text.substr(prefix.size())};
    if (rule.pattern.empty()) {
      throw Error(ErrorKind::kUsage, fmt::format("--step {}: there is no regular expression behind it", text), {},
                  source == StepSource::kRanges ? "give the name of the ranges, such as nvtx:^iteration$"
                                                : "give what the lines look like, such as 'stdout:step ([0-9]+)'");
    }
    const LinePattern checked(rule.pattern);
    return rule;
  }
  throw Error(
      ErrorKind::kUsage, fmt::format("--step {}: unknown", text),
      "it is auto, nvtx:REGEX, stdout:REGEX, launches or whole-run",
      fmt::format("for ranges of that name: --step nvtx:{0}; for lines of the standard output: --step stdout:{0}",
                  text));
}

std::string text_of(const StepRule& rule) {
  if (rule.source == StepSource::kRanges) return fmt::format("{}{}", kRangesPrefix, rule.pattern);
  if (rule.source == StepSource::kOutput) return fmt::format("{}{}", kOutputPrefix, rule.pattern);
  const auto word = std::ranges::find(kWords, rule.source, &std::pair<std::string_view, StepSource>::second);
  return std::string(word->first);
}

}  // namespace swinscope
