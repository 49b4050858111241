#include "store/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace swinscope {
namespace {

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Length of the well-formed sequence at `at`, 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
  if (lead >= 0xC2 && lead <= 0xDF) return is_continuation(text, at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    // E0 must not be overlong, ED must not be a surrogate
    const bool second_ok = (lead != 0xE0 || second >= 0xA0) && (lead != 0xED || second <= 0x9F);
    return second_ok && is_continuation(text, at + 1) && is_continuation(text, at + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    // F0 must not be overlong, F4 must not pass U+10FFFF
    const bool second_ok = (lead != 0xF0 || second >= 0x90) && (lead != 0xF4 || second <= 0x8F);
    return second_ok && is_continuation(text, at + 1) && is_continuation(text, at + 2) && is_continuation(text, at + 3)
               ? 4
               : 0;
  }
  return 0;
}

// The number of the well-formed sequence `text`.
std::uint32_t code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (text.size() == 1) return lead;
  std::uint32_t point = lead & (0xFFU >> (text.size() + 1));
  for (const char c : text.substr(1))
    point = point << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

bool turns_or_breaks_text(std::uint32_t point) {
  return point == 0x61C || point == 0x200E || point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      ++at;
    } else {
      valid.append(text.substr(at, length));
      at += length;
    }
  }
  return valid;
}

std::string cut_text(std::string_view text, std::size_t bytes) {
  std::size_t size = std::min(text.size(), bytes);
  while (size > 0 && is_continuation(text, size))
    --size;
  return std::string(text.substr(0, size));
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const std::uint32_t point = length == 0 ? 0xFFFD : code_point(text.substr(at, length));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (point == '\t' || point == '\n' || point == '\r') {
      out += ' ';
    } else if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
      out += fmt::format("\\x{:02x}", point);
    } else if (turns_or_breaks_text(point)) {
      out += fmt::format("\\u{:04x}", point);
    } else {
      out.append(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace swinscope
