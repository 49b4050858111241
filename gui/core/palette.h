// Colours of events: by name, from the colours of Okabe and Ito that people with any colour vision can tell apart.
// Colours are 0xffRRGGBB, as in QImage::Format_RGB32.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

using Color = std::uint32_t;

// A name has the same colour in every trace and in every run of the program.
Color name_color(std::string_view name);
// Of each name of the timeline, by NameId. To dim what a filter leaves out, hand the rasteriser a changed copy.
std::vector<Color> name_colors(const NameTable& names);
// `alpha` / 255 of `over`, the rest of `under`.
constexpr Color blend(Color under, Color over, int alpha) {
  const auto part = static_cast<std::uint32_t>(alpha);
  Color result = 0xff000000U;
  for (const unsigned shift : {0U, 8U, 16U}) {
    const std::uint32_t a = (under >> shift) & 0xFFU;
    const std::uint32_t b = (over >> shift) & 0xFFU;
    result |= ((a * (255 - part) + b * part + 127) / 255) << shift;
  }
  return result;
}

}  // namespace swinscope::gui
