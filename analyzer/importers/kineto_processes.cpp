#include "analyzer/importers/kineto_processes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace swinscope {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Words before a number that say which rank something is.
bool is_rank_word(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords = {"tp", "dp", "pp", "ep", "cp", "sp", "worker", "trainer", "node"};
  return word.ends_with("rank") || std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

bool is_host(KinetoKind kind) {
  return kind == KinetoKind::kRuntime || kind == KinetoKind::kDriver || kind == KinetoKind::kOperator ||
         kind == KinetoKind::kAnnotation || kind == KinetoKind::kPython;
}

bool is_step(const KinetoEvent& event, KinetoKind kind) {
  return kind == KinetoKind::kAnnotation && event.name.starts_with("ProfilerStep#");
}

bool is_launch(const KinetoEvent& event, KinetoKind kind) {
  return (kind == KinetoKind::kRuntime || kind == KinetoKind::kDriver) && event.correlation.value_or(0) != 0 &&
         is_launch_call(event.name);
}

std::int64_t ProcessKeys::key(const KinetoEvent& event) {
  if (event.pid_text.empty()) return event.pid.value_or(0);
  if (event.pid_text == last_text_) return last_;
  const auto known = keys_.find(event.pid_text);
  last_text_ = event.pid_text;
  if (known != keys_.end()) return last_ = known->second;
  names_.push_back(last_text_);
  // Process ids of -1 occur.
  last_ = INT64_MIN + std::ssize(names_) - 1;
  keys_.emplace(last_text_, last_);
  return last_;
}

std::string ProcessKeys::name(std::int64_t key) const {
  const std::int64_t index = key < 0 ? key - INT64_MIN : -1;
  return index >= 0 && index < std::ssize(names_) ? names_[static_cast<std::size_t>(index)] : fmt::format("{}", key);
}

std::uint64_t ProcessKeys::pid(std::int64_t key) const {
  if (key >= 0) return static_cast<std::uint64_t>(key);
  const std::string text = name(key);
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1]))
    --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1]))
    --begin;
  std::uint64_t pid = 0;
  std::from_chars(text.data() + begin, text.data() + end, pid);
  return pid;
}

void RankEvidence::take(const KinetoEvent& event, KinetoKind kind, std::int64_t process) {
  if (is_step(event, kind)) with_steps_.insert(process);
  if (process == last_launching_ || !is_launch(event, kind)) return;
  with_launches_.insert(process);
  last_launching_ = process;
}

RankLabel parse_rank_label(std::string_view text) {
  RankLabel label;
  int words = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    std::string word;
    for (; at < text.size() && is_letter(text[at]); ++at)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    std::size_t digits = at;
    while (digits < text.size() && std::string_view(" -_:=#").find(text[digits]) != std::string_view::npos)
      ++digits;
    std::int32_t number = 0;
    const auto [end, code] = std::from_chars(text.data() + digits, text.data() + text.size(), number);
    if (code != std::errc() || number < 0 || !is_rank_word(word)) continue;
    at = static_cast<std::size_t>(end - text.data());
    label.identity += fmt::format("{}{}{:05}", label.identity.empty() ? "" : "-", word, number);
    const bool says_rank = word.ends_with("rank");
    if (says_rank || words++ == 0) label.number = number;
    label.says_rank |= says_rank;
  }
  // The place along one of several axes is no rank.
  if (!label.says_rank && words > 1) label.number.reset();
  return label;
}

}  // namespace swinscope
