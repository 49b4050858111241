#include "analyzer/trace/step_rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

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

LinePattern::LinePattern(const std::string& text) : compiled_(compiled_expression("--step", text)) {}

bool LinePattern::has_group() const { return compiled_->NumberOfCapturingGroups() > 0; }

std::optional<std::int64_t> LinePattern::match(const std::string& line) const {
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(compiled_->NumberOfCapturingGroups()) + 1);
  if (!compiled_->Match(line, 0, line.size(), re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const char* end = groups[g].data() + groups[g].size();
    const char* begin = std::find_if(groups[g].data(), end, is_digit);  // "step 12" in the group is as good
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
