#include "analyzer/importers/json_damage.h"

#include <algorithm>
#include <optional>
#include <string>

namespace swinscope {
namespace {

constexpr std::size_t kMaxDepth = 200;
constexpr std::size_t kMaxEndsTried = 64;
// The end of a lost text may hold the beginning of a way back.
constexpr std::size_t kKeptBytes = 8192;
// So much without a further event must follow what looks like the end of the array.
constexpr std::size_t kEndBytes = 4096;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at]))
    ++at;
  return at;
}

// Checks one value by the grammar of JSON.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  JsonCheck run() {
    while (true) {
      at_ = skip_space(text_, at_);
      if (at_ == text_.size()) return {JsonState::kUnfinished, at_, has_phase_};
      if (const JsonState state = step(); state != JsonState::kUnfinished || at_ == text_.size()) {
        return {state, at_, has_phase_};
      }
      if (expected_ == Expected::kNothing) return {JsonState::kWhole, at_, has_phase_};
    }
  }

 private:
  enum class Expected : std::uint8_t { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd, kNothing };

  // Takes one token; kUnfinished means that more are to come.
  JsonState step() {
    const char c = text_[at_];
    switch (expected_) {
      case Expected::kKeyOrEnd:
        if (c == '}') return close(c);
        [[fallthrough]];
      case Expected::kKey:
        return c == '"' ? string(true) : JsonState::kBroken;
      case Expected::kColon:
        if (c != ':') return JsonState::kBroken;
        expected_ = Expected::kValue;
        ++at_;
        return JsonState::kUnfinished;
      case Expected::kCommaOrEnd:
        if (c == '}' || c == ']') return close(c);
        if (c != ',') return JsonState::kBroken;
        expected_ = open_.back() == '{' ? Expected::kKey : Expected::kValue;
        ++at_;
        return JsonState::kUnfinished;
      case Expected::kValueOrEnd:
        if (c == ']') return close(c);
        [[fallthrough]];
      case Expected::kValue:
        return value(c);
      case Expected::kNothing:
        break;
    }
    return JsonState::kWhole;
  }

  JsonState value(char c) {
    if (c == '"') return string(false);
    if (c == '{' || c == '[') {
      if (open_.size() == kMaxDepth) return JsonState::kBroken;
      open_.push_back(c);
      expected_ = c == '{' ? Expected::kKeyOrEnd : Expected::kValueOrEnd;
      ++at_;
      return JsonState::kUnfinished;
    }
    const std::size_t begin = at_;
    constexpr std::string_view kEnds = ",:{}[]\"";
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) > ' ' &&
           kEnds.find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (at_ == begin) return JsonState::kBroken;
    return end_value();
  }

  JsonState close(char c) {
    if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return JsonState::kBroken;
    open_.pop_back();
    ++at_;
    return end_value();
  }

  JsonState end_value() {
    expected_ = open_.empty() ? Expected::kNothing : Expected::kCommaOrEnd;
    return open_.empty() ? JsonState::kWhole : JsonState::kUnfinished;
  }

  JsonState string(bool is_key) {
    const std::size_t begin = at_ + 1;
    for (std::size_t i = begin; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\') {
        ++i;
      } else if (static_cast<unsigned char>(c) < ' ') {
        at_ = i;
        return JsonState::kBroken;
      } else if (c == '"') {
        if (is_key && open_.size() == 1 && text_.substr(begin, i - begin) == "ph") has_phase_ = true;
        at_ = i + 1;
        if (!is_key) return end_value();
        expected_ = Expected::kColon;
        return JsonState::kUnfinished;
      }
    }
    at_ = text_.size();
    return JsonState::kUnfinished;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string open_;  // the brackets that are
  Expected expected_ = Expected::kValue;
  bool has_phase_ = false;
};

char last_before(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1]))
    --at;
  return at == 0 ? '\0' : text[at - 1];
}

// An object that begins here may be an event: it is one, or what there is of it looks like one.
bool is_event(std::string_view text, std::size_t at, bool is_last) {
  const std::size_t first = skip_space(text, at + 1);
  if (first < text.size() && text[first] != '"') return false;
  const JsonCheck check = check_json(text.substr(at));
  if (check.state == JsonState::kWhole) return check.has_phase;
  // "args": {… is an object of the damaged event itself.
  return check.state == JsonState::kUnfinished && !is_last && last_before(text, at) != ':';
}

std::optional<std::size_t> next_event(std::string_view text, std::size_t from, bool is_last) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
    if (is_event(text, at, is_last)) return at;
  }
  return std::nullopt;
}

enum class EndSign : std::uint8_t { kNone, kLikely, kSure };

// Whether the array of events ends with this bracket: the rest of the document follows.
EndSign end_sign(std::string_view text, std::size_t at, const SalvageOptions& options) {
  const std::size_t next = skip_space(text, at + 1);
  const bool behind_object = last_before(text, at) == '}';
  if (next == text.size()) {
    if (!options.is_last || !options.is_array) return EndSign::kNone;
    return EndSign::kSure;
  }
  if (text[next] == '}') {
    return options.is_last && skip_space(text, next + 1) == text.size() ? EndSign::kSure : EndSign::kNone;
  }
  if (text[next] != ',') return EndSign::kNone;
  const std::size_t key = skip_space(text, next + 1);
  if (key == text.size() || text[key] != '"') return EndSign::kNone;
  if (options.is_last) {
    const std::string rest = "{" + std::string(text.substr(key));
    const JsonCheck check = check_json(rest);
    if (check.state == JsonState::kWhole && skip_space(rest, check.end) == rest.size()) return EndSign::kSure;
  }
  return behind_object && (options.is_last || text.size() - at >= kEndBytes) ? EndSign::kLikely : EndSign::kNone;
}

// Where the array of events seems to end, when no further event was found.
std::optional<std::size_t> find_end(std::string_view text, std::size_t from, const SalvageOptions& options) {
  std::optional<std::size_t> likely;
  std::size_t tried = 0;
  for (std::size_t at = text.rfind(']'); at != std::string_view::npos && at >= from && tried < kMaxEndsTried;
       at = at == 0 ? std::string_view::npos : text.rfind(']', at - 1), ++tried) {
    const EndSign sign = end_sign(text, at, options);
    if (sign == EndSign::kSure) return at;
    if (sign == EndSign::kLikely) likely = at;
  }
  return likely;
}

class Salvager {
 public:
  Salvager(std::string_view text, const SalvageOptions& options, const std::function<void(std::string_view)>& on_event)
      : text_(text), options_(options), on_event_(on_event) {}

  Salvage run() {
    bool lost = options_.is_lost;
    while (lost || !take_sound()) {
      if (!find_way(lost)) break;
      lost = false;
    }
    return result_;
  }

 private:
  // Delivers sound events up to damage; true when there is none before the end of what can be read.
  bool take_sound() {
    std::size_t& at = result_.read;
    while (true) {
      while (at < text_.size() && (is_space(text_[at]) || text_[at] == ','))
        ++at;
      if (at == text_.size() || text_[at] == ']') return true;
      const std::string_view rest = text_.substr(at);
      const JsonCheck check = check_json(rest);
      if (check.state != JsonState::kWhole) return check.state == JsonState::kUnfinished && !options_.is_last;
      const bool is_object = rest.front() == '{';
      result_.odd += is_object ? 0 : 1;
      result_.any_event |= is_object;
      if (is_object) on_event_(rest.substr(0, check.end));
      at += check.end;
    }
  }

  // Passes over damage; false when no way back is there.
  bool find_way(bool lost) {
    const std::size_t from = result_.read + (lost ? 0 : 1);
    std::optional<std::size_t> next = next_event(text_, from, options_.is_last);
    if (!next) next = find_end(text_, from, options_);
    const std::size_t kept = options_.is_last ? 0 : std::min(kKeptBytes, text_.size() - from);
    const std::size_t end = next.value_or(text_.size() - kept);
    // Damage without a phase is an event all the same, unless it was counted with what came before.
    const std::int64_t least = lost && options_.is_counted ? 0 : 1;
    result_.lost += std::max(least, count_phases(text_.substr(result_.read, end - result_.read)));
    result_.read = end;
    result_.is_lost = !next.has_value();
    return next.has_value();
  }

  std::string_view text_;
  const SalvageOptions& options_;
  const std::function<void(std::string_view)>& on_event_;
  Salvage result_;
};

}  // namespace

JsonCheck check_json(std::string_view text) { return Checker(text).run(); }

std::int64_t count_phases(std::string_view text) {
  constexpr std::string_view kKey = "\"ph\"";
  std::int64_t count = 0;
  for (std::size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const std::size_t next = skip_space(text, at + kKey.size());
    if (next < text.size() && text[next] == ':') ++count;
  }
  return count;
}

Salvage salvage_events(std::string_view text, const SalvageOptions& options,
                       const std::function<void(std::string_view)>& on_event) {
  return Salvager(text, options, on_event).run();
}

}  // namespace swinscope
