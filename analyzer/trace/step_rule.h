// What marks a step of a program: `scale --step`, and what an experiment keeps of it.
//
//   auto            the first of the others, in this order, that the first run has (but whole-run, which is asked for)
//   annotated       ranges by which frameworks and people mark steps (analyzer/facts/steps.h, 2 to 5)
//   nvtx:REGEX      the outermost ranges whose name matches, of any domain
//   stdout:REGEX    lines of the standard output that match; a group in the expression is the number of the step
//   launches        launches of one CUDA graph, else the period of the kernel sequence
//   whole-run       the time from the start of the first process to the end of the last one
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/name_pattern.h"

namespace swinscope {

enum class StepSource : std::uint8_t { kAuto, kAnnotated, kRanges, kOutput, kLaunches, kWholeRun };

struct StepRule {
  StepSource source = StepSource::kAnnotated;
  std::string pattern;  // of kRanges and kOutput
  bool operator==(const StepRule&) const = default;
};

// "" is kAnnotated. Throws Error(kUsage) for a text that is none of the above, or whose expression is none.
StepRule parse_step_rule(const std::string& text);
std::string text_of(const StepRule& rule);

// A regular expression for lines (analyzer/base/name_pattern.h).
class LinePattern {
 public:
  // Throws Error(kUsage).
  explicit LinePattern(const std::string& text);

  bool has_group() const;
  // Where it matches the line: the number in the first group that has one, -1 where it has none.
  std::optional<std::int64_t> match(const std::string& line) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

// The text with every character that an expression gives a meaning escaped.
std::string escaped(std::string_view text);

}  // namespace swinscope
