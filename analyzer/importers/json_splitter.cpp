#include "analyzer/importers/json_splitter.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "analyzer/importers/json_blocks.h"
#include "analyzer/importers/json_damage.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxSkeletonBytes = std::size_t{64} << 20;
constexpr int kMaxSkeletonDepth = 100;  // whoever parses it may recurse

constexpr std::string_view kSpaces = " \t\n\v\f\r";
bool is_space(char c) { return kSpaces.find(c) != std::string_view::npos; }

}  // namespace

void JsonSplitter::feed(std::string_view piece) {
  std::size_t at = 0;
  while (at < piece.size()) {
    switch (where_) {
      case Where::kBefore:
        at = before(piece, at);
        break;
      case Where::kOutside:
        at = outside(piece, at);
        break;
      case Where::kEvents:
        at = between_events(piece, at);
        break;
      case Where::kInEvent:
        at = in_event(piece, at);
        break;
      case Where::kInOddElement:
        at = in_odd_element(piece, at);
        break;
      case Where::kLost:
        at = lost(piece, at);
        break;
      case Where::kAfter:
        at = after(piece, at);
        break;
      case Where::kIgnored:
        document_.bytes_behind += piece.size() - at;
        return;
    }
  }
}

void JsonSplitter::finish() {
  // Each turn takes out what is broken and ends elsewhere, or with nothing left to do.
  while (where_ == Where::kInEvent || where_ == Where::kInOddElement || where_ == Where::kLost) {
    if (where_ == Where::kInEvent && check_json(element_).state == JsonState::kUnfinished) return;  // cut off
    salvage(true);
    if (where_ == Where::kLost) break;
  }
  if (where_ == Where::kOutside) finish_outside();
}

std::size_t JsonSplitter::before(std::string_view piece, std::size_t at) {
  // White space and a byte order mark are passed over; the caller has checked what kind of file this is.
  if (piece[at] == '[') {
    array_document_ = document_.found_events = true;
    document_.skeleton.assign(1, '[');
    begin_elements();
  } else if (piece[at] == '{') {
    where_ = Where::kOutside;
    return at;
  }
  return at + 1;
}

// Behind a document: another one, white space, or what belongs to nothing.
std::size_t JsonSplitter::after(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  if (is_space(c) || c == '\0') return at + 1;
  if (c == '{' || c == '[') {
    if (on_document_) on_document_(document_);
    document_ = {};
    array_document_ = events_key_ = false;
    skeleton_limit_ = kSoftLimit;
    depth_ = 0;
    where_ = Where::kBefore;
  } else {
    where_ = Where::kLost;
    lost_is_counted_ = true;
  }
  return at;
}

void JsonSplitter::begin_elements() {
  where_ = Where::kEvents;
  in_string_ = escaped_ = is_suspect_ = false;
  depth_ = 0;
}

void JsonSplitter::add_to_skeleton(char c) {
  if (document_.skeleton.size() >= skeleton_limit_) grow_skeleton();
  if (where_ == Where::kOutside) document_.skeleton += c;
}

// A broken string before the events hides their beginning.
void JsonSplitter::grow_skeleton() {
  if (skeleton_limit_ < kMaxSkeletonBytes) {
    skeleton_limit_ *= 2;
    if (!document_.found_events && check_json(document_.skeleton).state == JsonState::kBroken) find_events_textually();
  } else if (document_.found_events) {
    where_ = Where::kIgnored;
    document_.broken_skeleton = true;
  } else {
    throw Error(ErrorKind::kInput, "more than 64 MiB outside of \"traceEvents\"", "this is no PyTorch trace");
  }
}

// Goes on behind the first "traceEvents": [ of a skeleton that is no JSON.
bool JsonSplitter::find_events_textually() {
  constexpr std::string_view kKey = "\"traceEvents\"";
  const std::string text = document_.skeleton;
  for (std::size_t at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at + 1)) {
    std::size_t next = at + kKey.size();
    for (const char expected : {':', '['}) {
      while (next < text.size() && is_space(text[next]))
        ++next;
      if (next == text.size() || text[next] != expected) {
        next = std::string::npos;
        break;
      }
      ++next;
    }
    if (next == std::string::npos) continue;
    document_.skeleton.resize(next);
    document_.found_events = document_.broken_skeleton = true;
    begin_elements();
    feed(std::string_view(text).substr(next));
    return true;
  }
  return false;
}

void JsonSplitter::finish_outside() {
  if (check_json(document_.skeleton).state != JsonState::kBroken) return;
  document_.broken_skeleton = true;
  if (!document_.found_events) {
    if (find_events_textually()) finish();
    return;
  }
  // A quote too many behind the events hides the end of the document, which is there.
  const std::size_t last = document_.skeleton.find_last_not_of(" \t\r\n");
  document_.complete = last != std::string::npos && document_.skeleton[last] == '}';
}

// Whether c belongs to a string that has begun, its closing quote included.
bool JsonSplitter::in_string(char c) {
  if (!in_string_) return false;
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
  }
  return true;
}

// The document around the events, one character at a time: it is small.
std::size_t JsonSplitter::outside(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  add_to_skeleton(c);
  if (where_ != Where::kOutside) return at;
  if (in_string(c)) {
    if (in_string_) last_string_ += c;
    return at + 1;
  }
  if (c == '"') {
    in_string_ = true;
    events_key_ = false;
    last_string_.clear();
  } else if (c == ':') {
    events_key_ = depth_ == 1 && !document_.found_events && last_string_ == "traceEvents";
  } else if (c == '[' && events_key_) {
    document_.found_events = true;
    begin_elements();
  } else if (c == '{' || c == '[') {
    if (++depth_ > kMaxSkeletonDepth && document_.found_events) {
      document_.broken_skeleton = true;
      where_ = Where::kIgnored;
    } else if (depth_ > kMaxSkeletonDepth) {
      throw Error(ErrorKind::kInput, "brackets nested more than 100 deep outside of \"traceEvents\"",
                  "this is no PyTorch trace, or it is damaged");
    }
  } else if (c == '}' || c == ']') {
    if (--depth_ == 0) {
      document_.complete = true;
      where_ = Where::kAfter;
    }
  }
  if (!is_space(c) && c != ':') events_key_ = false;
  return at + 1;
}

std::size_t JsonSplitter::between_events(std::string_view piece, std::size_t at) {
  while (piece[at] == ',' || is_space(piece[at])) {
    if (++at == piece.size()) return at;
  }
  const char c = piece[at];
  if (c == '{') {
    where_ = Where::kInEvent;
    depth_ = 0;
    return at;
  }
  if (c == ']' && document_.complete) {
    where_ = Where::kIgnored;  // what stood behind the document has an end of its own
  } else if (c == ']') {
    document_.skeleton += ']';
    depth_ = 1;
    where_ = array_document_ ? Where::kAfter : Where::kOutside;
    document_.complete = array_document_;
  } else {
    constexpr std::string_view kOtherStarts = "\"[-+.0123456789tfnNIi";
    where_ = kOtherStarts.find(c) == std::string_view::npos ? Where::kLost : Where::kInOddElement;
    lost_is_counted_ = false;
    depth_ = 0;
    return at;
  }
  return at + 1;
}

// An element that is no object, up to the comma or bracket behind it.
std::size_t JsonSplitter::in_odd_element(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  const bool was_in_string = in_string_;
  if (!in_string(c)) {
    if (depth_ == 0 && (c == ',' || c == ']')) {
      if (document_.odd_elements++ == 0) document_.first_odd = element_.front();
      element_.clear();
      where_ = Where::kEvents;
      return at;
    }
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      --depth_;
    }
  }
  element_ += c;
  const bool is_control = static_cast<unsigned char>(c) < ' ';
  if (was_in_string && is_control) {
    where_ = Where::kLost;
    lost_is_counted_ = false;
  } else {
    check_size();
  }
  return at + 1;
}

std::size_t JsonSplitter::in_event(std::string_view piece, std::size_t begin) {
  for (std::size_t at = begin; at < piece.size(); at += kBlockBytes) {
    const std::string_view text = piece.substr(at, kBlockBytes);
    const Block block = look_at(text);
    const std::uint64_t quotes = block.quotes & ~escaped(block.backslashes, text.size());
    const std::uint64_t inside = between_pairs(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
    in_string_ = inside >> 63U != 0;
    for (std::uint64_t braces = block.braces & ~inside; braces != 0; braces &= braces - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(braces));
      if (text[i] == '{') {
        if (depth_++ > 0 && !follows_colon(piece.substr(begin, at + i - begin))) is_suspect_ = true;
      } else if (--depth_ == 0) {
        end_event(piece.substr(begin, at + i + 1 - begin));
        return at + i + 1;
      }
    }
  }
  element_.append(piece.substr(begin));
  check_size();
  return piece.size();
}

// Whether an object within an event is the value of a key, as its arguments are. One in a list may be; or the brace
// that ends the event before is missing.
bool JsonSplitter::follows_colon(std::string_view before) const {
  for (const std::string_view text : {before, std::string_view(element_)}) {
    const std::size_t last = text.find_last_not_of(" \n\t\r");
    if (last != std::string_view::npos) return text[last] == ':';
  }
  return false;
}

// An element that does not end may be sound and large, or damaged.
void JsonSplitter::check_size() {
  if (element_.size() <= element_limit_) return;
  if (check_json(element_).state != JsonState::kUnfinished) {
    salvage(false);
  } else if (element_.size() > kMaxEventBytes) {
    throw Error(ErrorKind::kInput, "an event of more than 64 MiB", "this is no PyTorch trace, or it is damaged");
  } else {
    element_limit_ = std::min(2 * element_.size(), kMaxEventBytes);
  }
}

std::size_t JsonSplitter::lost(std::string_view piece, std::size_t at) {
  const std::size_t count = std::min(piece.size() - at, kSoftLimit);
  element_.append(piece.substr(at, count));
  if (element_.size() > kSoftLimit) salvage(false);
  return at + count;
}

// Takes the sound events out of what has come, and goes on behind the damage.
void JsonSplitter::salvage(bool is_last) {
  const std::string text = std::exchange(element_, {});
  const SalvageOptions options{where_ == Where::kLost, lost_is_counted_, is_last, array_document_};
  const bool behind = document_.complete;
  const Salvage found = salvage_events(text, options, on_event_);
  document_.lost_events += found.lost;
  document_.odd_elements += found.odd;
  if (behind && !found.any_event && found.lost == 0) document_.bytes_behind += found.read;
  begin_elements();
  element_limit_ = kSoftLimit;
  const std::string_view rest = std::string_view(text).substr(found.read);
  if (found.is_lost) {
    where_ = Where::kLost;
    lost_is_counted_ = true;
    element_ = rest;
  } else {
    feed(rest);
  }
}

// The characters of a block that a backslash precedes; `escaped_` is carried from block to block.
std::uint64_t JsonSplitter::escaped(std::uint64_t backslashes, std::size_t size) {
  std::uint64_t result = escaped_ ? 1 : 0;
  escaped_ = false;
  backslashes &= ~result;
  while (backslashes != 0) {
    const auto i = static_cast<std::size_t>(std::countr_zero(backslashes));
    if (i + 1 == size) {
      escaped_ = true;
      break;
    }
    result |= std::uint64_t{2} << i;
    backslashes &= ~(std::uint64_t{3} << i);
  }
  return result;
}

void JsonSplitter::end_event(std::string_view last_part) {
  where_ = Where::kEvents;
  in_string_ = escaped_ = false;
  if (std::exchange(is_suspect_, false)) {
    element_.append(last_part);
    const JsonCheck check = check_json(element_);
    if (check.state != JsonState::kWhole || check.end != element_.size()) {
      salvage(false);
      return;
    }
    last_part = {};
  }
  if (element_.empty()) {
    on_event_(last_part);
    return;
  }
  element_.append(last_part);
  on_event_(element_);
  element_.clear();
  element_limit_ = kSoftLimit;
}

}  // namespace swinscope
