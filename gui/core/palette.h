// Colours of events: by category, from the colours of Okabe and Ito that people with any colour vision can tell apart,
// in three shades by name. Colours are 0xffRRGGBB, as in QImage::Format_RGB32.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

using Color = std::uint32_t;

// What an event is, told by its name alone, so that an operator and its kernels have one colour.
enum class EventCategory : std::uint8_t {
  kMatrix,  // matrix products and convolutions
  kAttention,
  kNorm,  // normalization, softmax, sums
  kElementwise,
  kLayout,  // moves data about: transposes, gathers, resampling
  kOptimizer,
  kCommunication,
  kCopy,  // copies and sets
  kLaunch,
  kWait,   // CUDA calls that wait for the GPU
  kCall,   // other CUDA calls
  kOther,  // other kernels, and ranges
};
inline constexpr int kEventCategories = 12;
std::string_view category_name(EventCategory category);
EventCategory category_of(std::string_view name);
Color category_color(EventCategory category);

// A name has the same colour in every trace and in every run of the program. Digits do not count: "step 1" and "step 2"
// look alike.
Color name_color(std::string_view name);
// Of each name of the timeline, by NameId. To dim what a filter leaves out, hand the rasteriser a changed copy.
std::vector<Color> name_colors(const NameTable& names);
// Those that the names of the timeline have, in their order.
std::vector<EventCategory> categories_of(const NameTable& names);
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
