#include "analyzer/json_splitter.h"

#include <array>
#include <cctype>

#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxSkeletonBytes = std::size_t{64} << 20;

// Characters that change the state inside an element and outside of its strings.
constexpr std::array<bool, 256> make_structural() {
  std::array<bool, 256> table{};
  for (const char c : {'"', '{', '}', '[', ']'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kStructural = make_structural();

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

void JsonSplitter::feed(std::string_view piece) {
  std::size_t at = 0;
  while (at < piece.size()) {
    switch (where_) {
      case Where::kBefore:
        if (piece[at] == '[') {
          array_document_ = found_ = true;
          skeleton_.assign(1, '[');
          where_ = Where::kEvents;
          ++at;
        } else if (piece[at] == '{') {
          where_ = Where::kOutside;
        } else {
          ++at;  // white space and a byte order mark; the caller has checked what kind of file this is
        }
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
      case Where::kAfter:
        return;
    }
  }
}

void JsonSplitter::add_to_skeleton(char c) {
  if (skeleton_.size() >= kMaxSkeletonBytes) {
    throw Error(ErrorKind::kInput, "more than 64 MiB outside of \"traceEvents\"", "this is no PyTorch trace");
  }
  skeleton_ += c;
}

// The document around the events, one character at a time: it is small.
std::size_t JsonSplitter::outside(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  add_to_skeleton(c);
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    if (in_string_) last_string_ += c;
    return at + 1;
  }
  if (c == '"') {
    in_string_ = true;
    events_key_ = false;
    last_string_.clear();
  } else if (c == ':') {
    events_key_ = depth_ == 1 && !found_ && last_string_ == "traceEvents";
  } else if (c == '[' && events_key_) {
    found_ = true;
    where_ = Where::kEvents;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    if (--depth_ == 0) {
      complete_ = true;
      where_ = Where::kAfter;
    }
  }
  if (!is_space(c) && c != ':') events_key_ = false;
  return at + 1;
}

std::size_t JsonSplitter::between_events(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  if (c == '{' && !scalar_) {
    where_ = Where::kInEvent;
    depth_ = 0;
    return at;
  }
  if (c == ']') {
    skeleton_ += ']';
    depth_ = 1;
    where_ = array_document_ ? Where::kAfter : Where::kOutside;
    complete_ = array_document_;
  } else if (c == ',') {
    scalar_ = false;
  } else if (!is_space(c) && !scalar_) {
    scalar_ = true;
    ++odd_elements_;
  }
  return at + 1;
}

std::size_t JsonSplitter::in_event(std::string_view piece, std::size_t begin) {
  std::size_t at = begin;
  while (at < piece.size()) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
        ++at;
        continue;
      }
      at = piece.find_first_of("\"\\", at);
      if (at == std::string_view::npos) break;
      escaped_ = piece[at] == '\\';
      in_string_ = escaped_;
      ++at;
      continue;
    }
    while (at < piece.size() && !kStructural[static_cast<unsigned char>(piece[at])]) ++at;
    if (at == piece.size()) break;
    const char c = piece[at++];
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (--depth_ == 0) {
      end_event(piece.substr(begin, at - begin));
      return at;
    }
  }
  event_.append(piece.substr(begin));
  if (event_.size() > kMaxEventBytes) {
    throw Error(ErrorKind::kInput, "an event of more than 64 MiB", "this is no PyTorch trace, or it is damaged");
  }
  return piece.size();
}

void JsonSplitter::end_event(std::string_view last_part) {
  where_ = Where::kEvents;
  if (event_.empty()) {
    on_event_(last_part);
    return;
  }
  event_.append(last_part);
  on_event_(event_);
  event_.clear();
}

}  // namespace swinscope
