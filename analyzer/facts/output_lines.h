// What a program printed, as `scale` keeps it: stdout.log, and beside it when each of its lines was complete.
//
// stdout.times has a line "TIME START LENGTH" for each line of the log that is not empty: nanoseconds since 1970, and
// where its bytes lie. A line ends with \n or \r (progress bars).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

inline constexpr const char* kOutputLog = "stdout.log";
inline constexpr const char* kOutputTimes = "stdout.times";

struct OutputLine {
  std::int64_t time_ns = 0;  // since 1970
  std::string text;          // its first 1,000 bytes, without the sequences that colour terminals
};

// The lines of a run's folder, at most 4 million. Empty where the program printed nothing. Throws Error(kInput) where
// the run has no such files, or damaged ones.
std::vector<OutputLine> read_output(const std::filesystem::path& run);

// A number in a line.
struct LineNumber {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_whole = false;    // and not negative
  bool may_count = false;   // whole, and by its surroundings no time of day, no percentage and no quantity
  bool names_step = false;  // stands behind a word like "step"
  bool has_total = false;   // "12/100"
  std::int64_t value = 0;   // of a whole one
};

std::vector<LineNumber> numbers_in(std::string_view line);

// The line with each number as N: "step N loss N".
std::string without_numbers(std::string_view line);

// The same with whatever aligns numbers or draws a progress bar as one space: equal for lines that differ in these
// alone.
std::string skeleton(std::string_view line);

}  // namespace swinscope
