#include "collector/base/text.h"

#include <iterator>

#include <fmt/format.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::size_t kMaxBytes = 4;

bool is_high_surrogate(char16_t c) { return c >= 0xD800 && c <= 0xDBFF; }
bool is_low_surrogate(char16_t c) { return c >= 0xDC00 && c <= 0xDFFF; }

void append(std::string& to, char32_t code_point) {
  char bytes[kMaxBytes];
  to.append(bytes, encode_utf8(code_point, bytes));
}

}  // namespace

std::size_t encode_utf8(char32_t c, char* to) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) c = kReplacement;
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) {
    to[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    to[0] = static_cast<char>(0xC0U | (c >> 6U));
    to[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    to[0] = static_cast<char>(0xE0U | (c >> 12U));
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<char>(0xF0U | (c >> 18U));
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

std::size_t wide_to_utf8(const wchar_t* text, char* to, std::size_t limit) {
  std::size_t size = 0;
  char bytes[kMaxBytes];
  for (; *text != L'\0'; ++text) {
    const std::size_t length = encode_utf8(static_cast<char32_t>(*text), bytes);
    if (size + length > limit) break;
    for (std::size_t i = 0; i < length; ++i)
      to[size++] = bytes[i];
  }
  return size;
}

std::size_t utf8_size(const wchar_t* text) {
  std::size_t size = 0;
  char bytes[kMaxBytes];
  for (; *text != L'\0'; ++text)
    size += encode_utf8(static_cast<char32_t>(*text), bytes);
  return size;
}

std::string utf16_to_utf8(std::u16string_view text) {
  std::string utf8;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_high_surrogate(text[i]) && i + 1 < text.size() && is_low_surrogate(text[i + 1])) {
      const char32_t high = static_cast<char32_t>(text[i] - 0xD800) << 10U;
      append(utf8, 0x10000 + high + static_cast<char32_t>(text[++i] - 0xDC00));
    } else {
      append(utf8, text[i]);
    }
  }
  return utf8;
}

std::string utf32_to_utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t c : text)
    append(utf8, c);
  return utf8;
}

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\t':
        json += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(json), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          json += c;
        }
    }
  }
  json += '"';
}

}  // namespace swinscope
