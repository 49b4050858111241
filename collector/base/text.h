// Text of foreign programs in other encodings, and JSON strings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swinscope {

// Writes one code point as UTF-8 (U+FFFD when it is none) and returns the number of bytes, at most 4.
std::size_t encode_utf8(char32_t code_point, char* to);

// Converts a zero-terminated wide string into `to`, at most `limit` bytes, cut between characters. Allocates nothing.
// Returns the bytes written.
std::size_t wide_to_utf8(const wchar_t* text, char* to, std::size_t limit);
// Bytes that wide_to_utf8 needs for the whole text.
std::size_t utf8_size(const wchar_t* text);

std::string utf16_to_utf8(std::u16string_view text);
std::string utf32_to_utf8(std::u32string_view text);

// Appends the text as a JSON string, quotes included.
void append_json_string(std::string& json, std::string_view text);

}  // namespace swinscope
