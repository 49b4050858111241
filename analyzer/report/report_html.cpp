#include <fmt/format.h>

#include "analyzer/report/report.h"
#include "analyzer/table/svg.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

constexpr double kChartWidth = 460;
constexpr double kChartHeight = 280;
constexpr double kWaterfallWidth = 940;  // of two charts, for the names of its rows

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1a1a1a;--muted:#666;--grid:#ddd;--page:#fff;--box:#f6f6f6}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--muted:#a0a0a0;--grid:#444;--page:#161616;--box:#222}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:76rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid var(--grid)}h3{font-size:1rem;margin-bottom:.3rem}
.verdict{background:var(--box);padding:.8rem 1rem;border-left:4px solid #0072B2}.verdict code{white-space:pre-wrap}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem}
.wide{overflow-x:auto}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th{color:var(--muted);font-weight:600;position:sticky;top:0;background:var(--page)}th button{all:unset;cursor:pointer}
th button:focus-visible{outline:2px solid}td.t,th.t{text-align:left;white-space:normal}td.t:first-child{overflow-wrap:anywhere}
.charts{display:flex;flex-wrap:wrap;gap:1.2rem}figure{margin:0}figcaption,.note{color:var(--muted);font-size:.85rem;max-width:460px}
.definition{color:var(--muted);font-size:.85rem;max-width:60rem;margin:0 0 .4rem}
svg{max-width:100%;height:auto}summary{cursor:pointer;color:var(--muted);font-size:.85rem}
@media print{body{margin:0;max-width:none}figure,tr{break-inside:avoid}}
)";

// Clicking a heading sorts by that column; without it the table stays as it was computed.
constexpr std::string_view kScript = R"(
for(const t of document.querySelectorAll("table")){const b=t.tBodies[0];[...t.tHead.rows[0].cells].forEach((h,i)=>{
const k=document.createElement("button");k.textContent=h.textContent;h.textContent="";h.append(k);let up=false;
k.onclick=()=>{up=!up;h.parentNode.querySelectorAll("th").forEach(o=>o.removeAttribute("aria-sort"));
h.setAttribute("aria-sort",up?"ascending":"descending");
[...b.rows].sort((x,y)=>{const p=x.cells[i].dataset.v??x.cells[i].textContent,q=y.cells[i].dataset.v??y.cells[i].textContent;
const d=p!==""&&q!==""&&!isNaN(p)&&!isNaN(q)?p-q:p<q?-1:p>q?1:0;return up?d:-d}).forEach(r=>b.append(r))}})}
)";

std::string sort_value(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format(" data-v=\"{}\"", *integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format(" data-v=\"{}\"", *real);
  return {};
}

std::string html_table(const Table& table) {
  std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
  const auto class_of = [](const Column& column) { return column.unit == Unit::kText ? " class=\"t\"" : ""; };
  for (const Column& column : table.columns) {
    if (!column.detail)
      out += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), escape_markup(column.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].detail) continue;
      out += fmt::format("<td{}{}>{}</td>", class_of(table.columns[i]), sort_value(row[i]),
                         escape_markup(format_cell(row[i], table.columns[i].unit)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_chart(const ReportChart& chart, std::size_t number) {
  const bool has_rows = chart.chart.kind == ChartKind::kWaterfall;
  std::string out =
      "<figure>\n" + to_svg(chart.chart, has_rows ? kWaterfallWidth : kChartWidth,
                            has_rows ? waterfall_height(chart.chart) : kChartHeight, fmt::format("c{}", number));
  out += fmt::format("<figcaption>{}</figcaption>\n", escape_markup(chart.note));
  return out + "<details><summary>The figures</summary>" + html_table(chart.table) + "</details>\n</figure>\n";
}

std::string html_section(const ReportSection& section, std::size_t& charts) {
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n", escape_markup(section.title));
  for (const std::string& paragraph : section.text)
    out += fmt::format("<p>{}</p>\n", escape_markup(paragraph));
  if (!section.facts.empty()) {
    out += "<table>\n<tbody>\n";
    for (const Fact& fact : section.facts) {
      out += fmt::format("<tr><th scope=\"row\" class=\"t\">{}</th><td class=\"t\">{}</td></tr>\n",
                         escape_markup(fact.title), escape_markup(format_cell(fact.value, fact.unit)));
    }
    out += "</tbody></table>\n";
  }
  if (!section.charts.empty()) {
    out += "<div class=\"charts\">\n";
    for (const ReportChart& chart : section.charts)
      out += html_chart(chart, ++charts);
    out += "</div>\n";
  }
  for (const Table& table : section.tables) {
    out += fmt::format("<h3>{}</h3>\n", escape_markup(table.title));
    if (!table.definition.empty())
      out += fmt::format("<p class=\"definition\">{}</p>\n", escape_markup(table.definition));
    out += html_table(table);
  }
  return out + "</section>\n";
}

// JSON within a script element: the end tag must not appear in it, and < is the same as its escape within a string.
std::string embedded_json(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string render_html(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n<style>{}{}</style>\n"
      "</head>\n<body>\n<h1>{}</h1>\n<div class=\"verdict\">\n",
      escape_markup(report.title), kStyle, svg_style(), escape_markup(report.title));
  for (const std::string& line : report.verdict) {
    const bool is_command = !line.empty() && line.front() == ' ';
    out +=
        fmt::format("<p>{0}{1}{2}</p>\n", is_command ? "<code>" : "", escape_markup(line), is_command ? "</code>" : "");
  }
  out += "</div>\n";
  std::size_t charts = 0;
  for (const ReportSection& section : report.sections)
    out += html_section(section, charts);
  out +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
                  embedded_json(report.data), kScript);
  return out;
}

}  // namespace swinscope
