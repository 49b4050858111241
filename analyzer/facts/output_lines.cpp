#include "analyzer/facts/output_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kMostLines = 4'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Without the escape sequences of terminals (ESC [ … letter).
std::string plain(std::string_view text) {
  std::string cleaned;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~'))
        ++i;
      continue;
    }
    if (static_cast<unsigned char>(text[i]) >= ' ' || text[i] == '\t') cleaned += text[i];
  }
  return cleaned;
}

std::string lower(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low;
}

// The letters before a place, with what may stand between a word and its number passed over: "step: [", "iter=".
std::string word_before(std::string_view line, std::size_t place) {
  constexpr std::string_view kBetween = " \t:=[(#-_/\"'";
  while (place > 0 && kBetween.find(line[place - 1]) != std::string_view::npos)
    --place;
  std::size_t begin = place;
  while (begin > 0 && is_letter(line[begin - 1]))
    --begin;
  std::string word = lower(line.substr(begin, place - begin));
  if (const std::size_t last = word.rfind('_'); last != std::string::npos) word = word.substr(last + 1);  // global_step
  return word;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 12> kStepWords = {
    "step", "steps", "iter", "iters", "iteration", "it", "batch", "i", "minibatch", "update", "cycle", "timestep"};
// Whole numbers behind these are measured, not counted.
constexpr std::array<std::string_view, 26> kQuantities = {
    "time", "elapsed", "eta",  "seconds",   "sec",  "secs",   "ms",    "memory",    "mem",
    "loss", "lr",      "acc",  "accuracy",  "size", "tokens", "bytes", "samples",   "images",
    "seed", "took",    "rate", "remaining", "port", "pid",    "rank",  "throughput"};

// Whether the digits from begin to end are a time of day or a date: "14:09:34", "2026-11-27".
bool is_clock(std::string_view line, std::size_t begin, std::size_t end) {
  const auto joins = [](char c) { return c == ':' || c == '-'; };
  const bool before = begin >= 2 && joins(line[begin - 1]) && is_digit(line[begin - 2]);
  const bool behind = end + 1 < line.size() && joins(line[end]) && is_digit(line[end + 1]);
  return before || behind;
}

void judge(std::string_view line, LineNumber& number) {
  const std::string_view digits = line.substr(number.begin, number.end - number.begin);
  number.is_whole =
      number.is_whole && std::from_chars(digits.data(), digits.data() + digits.size(), number.value).ec == std::errc();
  const std::string word = word_before(line, number.begin);
  number.names_step = is_one_of(word, kStepWords);
  number.has_total = number.end < line.size() && line[number.end] == '/';
  const bool has_unit = number.end < line.size() && (is_letter(line[number.end]) || line[number.end] == '%');
  number.may_count =
      number.is_whole && !has_unit && !is_clock(line, number.begin, number.end) && !is_one_of(word, kQuantities);
}

// Behind the digits of a number: its fraction and exponent.
std::size_t end_of_number(std::string_view line, std::size_t at, bool& is_whole) {
  const auto digits = [&] {
    while (at < line.size() && is_digit(line[at]))
      ++at;
  };
  digits();
  if (at + 1 < line.size() && line[at] == '.' && is_digit(line[at + 1])) {
    is_whole = false;
    ++at;
    digits();
  }
  if (at < line.size() && (line[at] == 'e' || line[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < line.size() && (line[exponent] == '+' || line[exponent] == '-')) ++exponent;
    if (exponent < line.size() && is_digit(line[exponent])) {
      is_whole = false;
      at = exponent;
      digits();
    }
  }
  return at;
}

// "nan" and "inf" as words: what a loss becomes.
std::size_t length_of_no_number(std::string_view line, std::size_t at) {
  if (at > 0 && (is_letter(line[at - 1]) || is_digit(line[at - 1]))) return 0;
  const std::string word = lower(line.substr(at, 3));
  if (word != "nan" && word != "inf") return 0;
  return at + 3 < line.size() && (is_letter(line[at + 3]) || is_digit(line[at + 3])) ? 0 : 3;
}

[[noreturn]] void refuse(const fs::path& file, const std::string& cause) {
  throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", file.string()), cause,
              "measure the run again: `swinscope scale` keeps what the program prints");
}

}  // namespace

std::vector<LineNumber> numbers_in(std::string_view line) {
  std::vector<LineNumber> numbers;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const std::size_t length = length_of_no_number(line, i); length > 0) {
      const bool has_sign = i > 0 && (line[i - 1] == '-' || line[i - 1] == '+');
      numbers.push_back({has_sign ? i - 1 : i, i + length});
      i += length - 1;
      continue;
    }
    if (!is_digit(line[i])) continue;
    LineNumber number{i, i};
    bool is_whole = true;
    number.end = end_of_number(line, i, is_whole);
    const bool has_sign = i > 0 && (line[i - 1] == '-' || line[i - 1] == '+') &&
                          (i == 1 || (!is_letter(line[i - 2]) && !is_digit(line[i - 2])));
    number.is_whole = is_whole && !has_sign;
    judge(line, number);
    if (has_sign) --number.begin;
    i = number.end - 1;
    numbers.push_back(number);
  }
  return numbers;
}

std::string without_numbers(std::string_view line) {
  std::string text;
  std::size_t done = 0;
  for (const LineNumber& number : numbers_in(line)) {
    text += line.substr(done, number.begin - done);
    text += 'N';
    done = number.end;
  }
  text += line.substr(done);
  return text;
}

std::string skeleton(std::string_view line) {
  constexpr std::string_view kBar = "#=>-.*_~| \t";  // what progress bars are drawn with, and what aligns numbers
  const std::string text = without_numbers(line);
  std::string bones;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() &&
           (kBar.find(text[end]) != std::string_view::npos || static_cast<unsigned char>(text[end]) > '~'))
      ++end;
    if (end == i) {
      bones += text[i++];
      continue;
    }
    if (!bones.empty() && end < text.size()) bones += ' ';
    i = end;
  }
  return bones;
}

std::vector<OutputLine> read_output(const fs::path& run) {
  const fs::path log_path = run / kOutputLog;
  const fs::path times_path = run / kOutputTimes;
  std::error_code ignored;  // a pipe would be waited for
  if (!fs::is_regular_file(log_path, ignored)) refuse(log_path, "what the program printed was not kept");
  if (!fs::is_regular_file(times_path, ignored)) refuse(times_path, "when the program printed its lines was not kept");
  std::ifstream log(log_path, std::ios::binary);
  std::ifstream times(times_path);
  if (!log || !times) refuse(run, "what the program printed cannot be read");
  const std::uintmax_t log_size = fs::file_size(log_path, ignored);
  std::vector<OutputLine> lines;
  std::string text;
  for (std::uint64_t start = 0, length = 0; lines.size() < kMostLines;) {
    OutputLine line;
    if (!(times >> line.time_ns >> start >> length)) break;
    if (line.time_ns < 0 || start > log_size || length > log_size - start ||
        (!lines.empty() && line.time_ns < lines.back().time_ns))
      refuse(times_path, fmt::format("line {} names no part of {}", lines.size() + 1, kOutputLog));
    text.resize(std::min<std::uint64_t>(length, kLongestLine));
    log.seekg(static_cast<std::streamoff>(start));
    log.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!log) refuse(log_path, "its end is missing");
    line.text = plain(text);
    if (!line.text.empty()) lines.push_back(std::move(line));
  }
  if (!times.eof() && lines.size() < kMostLines)
    refuse(times_path, fmt::format("line {} is no time", lines.size() + 1));
  return lines;
}

}  // namespace swinscope
