// Text from foreign files may be any bytes; everything we store and print is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace swinscope {

bool is_valid_utf8(std::string_view text);

// Each byte that is no part of a well-formed sequence (Unicode 15, table 3-7) becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace swinscope
