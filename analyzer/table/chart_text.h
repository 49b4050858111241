// What the layouts of charts share: how wide texts are, and how numbers are written.
#pragma once

#include <string>

#include <fmt/format.h>

#include "analyzer/table/chart.h"

namespace swinscope {

inline constexpr double kLetterWidth = 0.56 * kChartFontSize;  // of digits in the usual sans-serif faces
inline constexpr double kLineHeight = 1.5 * kChartFontSize;

inline double text_width(const std::string& text) {
  int letters = 0;
  for (const char c : text)
    letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;  // what continues a character takes no room
  return letters * kLetterWidth;
}

inline std::string number_text(double value) { return fmt::format("{:.6g}", value == 0 ? 0.0 : value); }

}  // namespace swinscope
