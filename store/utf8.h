// Text from foreign files may be any bytes; everything we store and print is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swinscope {

bool is_valid_utf8(std::string_view text);

// Each byte that is no part of a well-formed sequence (Unicode 15, table 3-7) becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

// At most so many bytes of the text, none of them of a character that does not fit.
std::string cut_text(std::string_view text, std::size_t bytes);

// The text as it may stand in one line of a terminal or a document, whoever wrote it: tabs and line ends become spaces;
// other control characters (C0, DEL, C1: they move cursors, ring, set titles) and those that turn the direction of text
// (U+061C, U+200E/F, U+202A to U+202E, U+2066 to U+2069) or break lines (U+2028/9) become visible: \x1b, \u202e. Bytes
// that are no UTF-8 become U+FFFD.
std::string printable(std::string_view text);

}  // namespace swinscope
