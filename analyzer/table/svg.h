// Charts as SVG. Colours are those of Okabe and Ito ("Color Universal Design", 2008), and every series has a pattern or
// mark of its own, so that nothing depends on telling colours apart.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/table/chart.h"

namespace swinscope {

// Text for HTML and XML: <, >, &, and quotes become entities; characters that XML forbids become U+FFFD.
std::string escape_markup(std::string_view text);

// One <svg> element with <title> and <desc>. `id` distinguishes the charts of a page. Its colours come from
// svg_style().
std::string to_svg(const Chart& chart, double width, double height, std::string_view id);

// CSS rules for the classes that to_svg uses; the text and line colours are the custom properties --ink, --muted and
// --grid.
std::string svg_style();

// A file of its own: to_svg with its style, for light backgrounds.
std::string svg_file(const Chart& chart, double width, double height);

}  // namespace swinscope
