#include "gui/core/palette.h"

#include <array>
#include <cstddef>

namespace swinscope::gui {
namespace {

// Okabe and Ito, "Color Universal Design" (2008), without black. Each also a third lighter and a third darker, so that
// neighbours rarely have the same colour.
constexpr std::array<Color, 7> kOkabeIto = {0xffe69f00, 0xff56b4e9, 0xff009e73, 0xfff0e442,
                                            0xff0072b2, 0xffd55e00, 0xffcc79a7};
constexpr Color kWhite = 0xffffffff;
constexpr Color kBlack = 0xff000000;
constexpr int kThird = 85;  // of 255

// FNV-1a, 32 bits.
std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 0x811c9dc5;
  for (const char c : text)
    value = (value ^ static_cast<unsigned char>(c)) * 0x01000193;
  return value;
}

}  // namespace

Color name_color(std::string_view name) {
  const std::size_t choice = hash(name) % (3 * kOkabeIto.size());
  const Color color = kOkabeIto.at(choice / 3);
  if (choice % 3 == 0) return color;
  return blend(color, choice % 3 == 1 ? kWhite : kBlack, kThird);
}

std::vector<Color> name_colors(const NameTable& names) {
  std::vector<Color> colors(names.size());
  for (NameId id = 0; id < names.size(); ++id)
    colors[id] = name_color(names.text(id));
  return colors;
}

}  // namespace swinscope::gui
