// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swinscope {

// Four significant digits with the unit that fits: "196.4 ms", "5.456 ms", "832 ns".
std::string format_duration(std::int64_t ns);
// "3.17 MiB"
std::string format_bytes(std::int64_t bytes);
// "180,144"
std::string format_count(std::int64_t count);
// Four significant digits, and all before the point: "0.8333", "13.5", "14,340"; never an exponent below 10^15.
std::string format_number(double value);
// "1 rank", "12 ranks"; `things` is a plural that loses its s.
std::string format_counted(std::int64_t count, std::string_view things);

// "1 kernel event", "8 GPUs of deviceProperties", "2000 copies": the noun, before any "of", "at", "in",
// "with" or "without", in the plural.
std::string counted(std::int64_t count, std::string_view what);

// Whether `part` stands in `text`, whatever the case of ASCII letters: "h200" in "NVIDIA H200".
bool contains_any_case(std::string_view text, std::string_view part);

// Columns that the text takes on a terminal: code points, which is right for the Latin text and the symbols that occur
// here.
std::size_t display_width(std::string_view text);
// At most `width` columns, with an ellipsis in place of what was cut from the end.
std::string elide(std::string_view text, std::size_t width);

}  // namespace swinscope
