#include "analyzer/table/svg.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace swinscope {
namespace {

// Blue, vermillion, bluish green, reddish purple, orange, sky blue, black-or-white, yellow.
constexpr std::array<std::string_view, 8> kColors = {"#0072B2", "#D55E00", "#009E73",    "#CC79A7",
                                                     "#E69F00", "#56B4E9", "var(--ink)", "#F0E442"};
// What lies over the colour of a filled mark: nothing, then lines.
constexpr std::array<std::string_view, 4> kPatterns = {"", "M0 6L6 0", "M0 0L6 6", "M0 3H6"};

std::size_t color_of(int series) { return static_cast<std::size_t>(series) % kColors.size(); }

// Tenths of a pixel suffice, and keep the file small and the same everywhere.
std::string px(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:g}", rounded == 0 ? 0.0 : rounded);
}

std::string_view role_class(MarkRole role) {
  switch (role) {
    case MarkRole::kGrid:
      return "grid";
    case MarkRole::kAxis:
      return "axis";
    case MarkRole::kReference:
      return "ref";
    case MarkRole::kError:
      return "err";
    case MarkRole::kTitle:
      return "title";
    case MarkRole::kReach:
      return "reach";
    case MarkRole::kOnSeries:
      return "on";
    case MarkRole::kText:
    case MarkRole::kSeries:
      break;
  }
  return "";
}

std::string class_of(const Mark& mark) {
  if (mark.role != MarkRole::kSeries) return std::string(role_class(mark.role));
  const char kind = mark.shape == MarkShape::kLine ? 'l' : 'f';
  return fmt::format("{}{}{}", kind, color_of(mark.series), mark.is_hollow ? " hollow" : "");
}

std::string attribute(std::string_view name, const std::string& value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, value);
}

std::string pointed_at(std::string_view element, const std::string& attributes, const std::string& what) {
  if (what.empty()) return fmt::format("<{}{}/>\n", element, attributes);
  return fmt::format("<{0}{1}><title>{2}</title></{0}>\n", element, attributes, escape_markup(what));
}

std::string rectangle(const Mark& mark, std::string_view id) {
  const std::string place = fmt::format(R"( x="{}" y="{}" width="{}" height="{}")", px(mark.x), px(mark.y),
                                        px(mark.x2 - mark.x), px(mark.y2 - mark.y));
  const std::string opacity = mark.shade < 1 ? fmt::format("{:.3g}", mark.shade) : std::string();
  std::string svg =
      pointed_at("rect", place + attribute("class", class_of(mark)) + attribute("fill-opacity", opacity), mark.text);
  const std::size_t pattern = static_cast<std::size_t>(mark.series) % kPatterns.size();
  if (mark.role == MarkRole::kSeries && pattern != 0 && mark.shade >= 1) {
    svg += fmt::format("<rect{} fill=\"url(#{}-p{})\" pointer-events=\"none\"/>\n", place, id, pattern);
  }
  return svg;
}

std::string text(const Mark& mark) {
  constexpr std::array<std::string_view, 3> kAnchors = {"", "middle", "end"};
  const std::string turned = mark.y2 != 0 ? fmt::format("rotate(-90 {} {})", px(mark.x), px(mark.y)) : std::string();
  return fmt::format("<text x=\"{}\" y=\"{}\"{}{}{}>{}</text>\n", px(mark.x), px(mark.y),
                     attribute("text-anchor", std::string(kAnchors[static_cast<std::size_t>(mark.anchor)])),
                     attribute("transform", turned), attribute("class", class_of(mark)), escape_markup(mark.text));
}

std::string draw(const Mark& mark, std::string_view id) {
  switch (mark.shape) {
    case MarkShape::kLine:
      return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", px(mark.x), px(mark.y), px(mark.x2),
                         px(mark.y2), attribute("class", class_of(mark)));
    case MarkShape::kCircle:
      return pointed_at("circle",
                        fmt::format(R"( cx="{}" cy="{}" r="{}")", px(mark.x), px(mark.y), px(mark.x2)) +
                            attribute("class", class_of(mark)),
                        mark.text);
    case MarkShape::kRect:
      return rectangle(mark, id);
    case MarkShape::kText:
      break;
  }
  return text(mark);
}

// Unicode scalar values that XML 1.0 allows; control characters but for tab and line ends are not among them.
bool is_forbidden(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r'; }

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (is_forbidden(c)) {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string to_svg(const Chart& chart, double width, double height, std::string_view id) {
  const ChartLayout layout = lay_out(chart, width, height);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-labelledby=\"{2}-t {2}-d\">\n<title id=\"{2}-t\">{3}</title>\n<desc id=\"{2}-d\">{4}</desc>\n<defs>",
      px(layout.width), px(layout.height), id, escape_markup(chart.title), escape_markup(chart.description));
  for (std::size_t i = 1; i < kPatterns.size(); ++i) {
    svg += fmt::format(
        "<pattern id=\"{}-p{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"{}\" "
        "stroke=\"#fff\" "
        "stroke-opacity=\".65\"/></pattern>",
        id, i, kPatterns[i]);
  }
  svg += "</defs>\n";
  for (const Mark& mark : layout.marks)
    svg += draw(mark, id);
  return svg + "</svg>\n";
}

std::string svg_style() {
  std::string css = fmt::format(
      "svg text{{font:{}px system-ui,sans-serif;fill:var(--ink)}}svg .title{{font-weight:600}}"
      "svg .grid{{stroke:var(--grid)}}svg .axis{{stroke:var(--muted)}}"
      "svg .ref{{stroke:var(--muted);stroke-dasharray:5 4}}svg .err{{stroke:var(--ink)}}"
      "svg .hollow{{fill:none;stroke-width:2}}svg .reach{{fill:transparent}}svg .on{{stroke:#fff;stroke-width:2}}\n",
      kChartFontSize);
  for (std::size_t i = 0; i < kColors.size(); ++i)
    css += fmt::format("svg .f{0}{{fill:{1};stroke:{1}}}svg .l{0}{{stroke:{1};stroke-width:2}}\n", i, kColors[i]);
  // Written last, to win over the fills.
  return css + "svg .hollow{fill:none}\n";
}

std::string svg_file(const Chart& chart, double width, double height) {
  std::string svg = to_svg(chart, width, height, "chart");
  const std::string style =
      "<style>svg{--ink:#1a1a1a;--muted:#666;--grid:#ddd;background:#fff}" + svg_style() + "</style>";
  return svg.insert(svg.find("<defs>"), style);
}

}  // namespace swinscope
