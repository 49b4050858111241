#include "analyzer/json_splitter.h"

#include <array>
#include <bit>
#include <cctype>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxSkeletonBytes = std::size_t{64} << 20;
constexpr int kMaxSkeletonDepth = 100;  // whoever parses it may recurse

// Which of 64 characters are what: a bit for each, the lowest for the first.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t braces = 0;
};
constexpr std::size_t kBlockBytes = 64;

Block look_at(std::string_view text) {
  Block block;
  std::array<char, kBlockBytes> padded{};
  if (text.size() < kBlockBytes) {
    text.copy(padded.data(), text.size());
    text = {padded.data(), kBlockBytes};
  }
#ifdef __SSE2__
  for (unsigned at = 0; at < kBlockBytes; at += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(part, _mm_set1_epi8(c)); };
    const auto bits = [&](__m128i found) {
      return std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(found))} << at;
    };
    block.quotes |= bits(is('"'));
    block.backslashes |= bits(is('\\'));
    block.braces |= bits(_mm_or_si128(is('{'), is('}')));
  }
#else
  for (unsigned at = 0; at < kBlockBytes; ++at) {
    block.quotes |= std::uint64_t{text[at] == '"'} << at;
    block.backslashes |= std::uint64_t{text[at] == '\\'} << at;
    block.braces |= std::uint64_t{text[at] == '{' || text[at] == '}'} << at;
  }
#endif
  return block;
}

// The bits from each odd one set in `bits` (first, third, ...) up to the next: from opening quotes to before closing
// ones.
std::uint64_t between_pairs(std::uint64_t bits) {
  for (unsigned distance = 1; distance < 64; distance *= 2)
    bits ^= bits << distance;
  return bits;
}

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
      case Where::kInOddElement:
        at = in_odd_element(piece, at);
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
  if (in_string(c)) {
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
    if (++depth_ > kMaxSkeletonDepth) {
      throw Error(ErrorKind::kInput, "brackets nested more than 100 deep outside of \"traceEvents\"",
                  "this is no PyTorch trace, or it is damaged");
    }
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
  if (c == '{') {
    where_ = Where::kInEvent;
    depth_ = 0;
    return at;
  }
  if (c == ']') {
    skeleton_ += ']';
    depth_ = 1;
    where_ = array_document_ ? Where::kAfter : Where::kOutside;
    complete_ = array_document_;
  } else if (c != ',' && !is_space(c)) {
    ++odd_elements_;
    where_ = Where::kInOddElement;
    depth_ = 0;
    return at;
  }
  return at + 1;
}

// An element that is no object, up to the comma or bracket behind it. It is not kept.
std::size_t JsonSplitter::in_odd_element(std::string_view piece, std::size_t at) {
  const char c = piece[at];
  if (in_string(c)) return at + 1;
  if (depth_ == 0 && (c == ',' || c == ']')) {
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
      depth_ += text[i] == '{' ? 1 : -1;
      if (depth_ == 0) {
        end_event(piece.substr(begin, at + i + 1 - begin));
        return at + i + 1;
      }
    }
  }
  event_.append(piece.substr(begin));
  if (event_.size() > kMaxEventBytes) {
    throw Error(ErrorKind::kInput, "an event of more than 64 MiB", "this is no PyTorch trace, or it is damaged");
  }
  return piece.size();
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
  if (event_.empty()) {
    on_event_(last_part);
    return;
  }
  event_.append(last_part);
  on_event_(event_);
  event_.clear();
}

}  // namespace swinscope
