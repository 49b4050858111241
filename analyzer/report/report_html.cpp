#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/report/report.h"
#include "analyzer/report/report_page.h"
#include "analyzer/table/svg.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

struct Size {
  double width;
  double height;
};
constexpr Size kChartSize = {460, 280};
constexpr Size kSummarySize = {420, 175};
constexpr double kWaterfallWidth = 940;  // of two charts, for the names of its rows
constexpr double kSummaryWaterfallWidth = 660;

// Through the whole report.
struct Numbering {
  std::size_t charts = 0;
  std::string said;  // the note of the charts before
};

std::string raw_value(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return {};
}

std::string sort_value(const Cell& cell) {
  const std::string value = raw_value(cell);
  return value.empty() ? value : fmt::format(R"( data-v="{}")", value);
}

// Rows begin..end below the head of the table.
std::string html_rows(const Table& table, std::size_t begin, std::size_t end) {
  constexpr std::size_t kShort = 8;  // rows that fit on what is left of a page, as a rule
  std::string out = fmt::format("<div class=\"wide{}\"><table data-table=\"{}\">\n<thead><tr>",
                                end - begin > kShort ? "" : " short", escape_markup(table.key));
  const auto class_of = [](const Column& column) { return column.unit == Unit::kText ? " class=\"t\"" : ""; };
  for (const Column& column : table.columns) {
    if (!column.detail) {
      out += fmt::format(R"(<th scope="col" data-key="{}"{}>{}</th>)", escape_markup(column.key), class_of(column),
                         escape_markup(column.title));
    }
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = begin; r < end; ++r) {
    out += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].detail) continue;
      const Cell& cell = table.rows[r][i];
      out += fmt::format("<td{}{}>{}</td>", class_of(table.columns[i]), sort_value(cell),
                         escape_markup(format_cell(cell, table.columns[i].unit)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_table(const Table& table) {
  const std::size_t shown = std::min(table.rows.size(), kShownRows);
  std::string out = html_rows(table, 0, shown);
  if (shown == table.rows.size()) return out;
  const auto rest = static_cast<std::int64_t>(table.rows.size() - shown);
  return out + fmt::format("<details class=\"more\"><summary>{}</summary>\n{}</details>\n",
                           format_counted(rest, "more rows"), html_rows(table, shown, table.rows.size()));
}

std::string html_folded(const Table& table) {
  return fmt::format(
      "<details class=\"whole\"><summary>{}: {}</summary>\n<p class=\"definition\">{}</p>\n{}</details>\n",
      escape_markup(table.title), format_counted(std::ssize(table.rows), "rows"), escape_markup(table.definition),
      html_rows(table, 0, table.rows.size()));
}

// `note`: below it, where it is not said for all of them.
std::string html_chart(const ReportChart& chart, Size size, double waterfall_width, bool note, std::size_t number) {
  const bool has_rows = chart.chart.kind == ChartKind::kWaterfall;
  if (has_rows) size = {waterfall_width, waterfall_height(chart.chart)};
  std::string out = fmt::format("<figure{}>\n", has_rows ? " class=\"waterfall\"" : "");
  out += to_svg(chart.chart, size.width, size.height, fmt::format("c{}", number));
  if (note && !chart.note.empty()) out += fmt::format("<figcaption>{}</figcaption>\n", escape_markup(chart.note));
  return out + "<details class=\"figures\"><summary>The figures</summary>" + html_table(chart.table) +
         "</details>\n</figure>\n";
}

// What is the note of all charts but waterfalls stands once, before the first of them in the report.
std::string html_charts(const std::vector<ReportChart>& charts, Size size, Numbering& numbering) {
  if (charts.empty()) return {};
  const std::string note = common_note(charts);
  const bool is_new = !note.empty() && std::exchange(numbering.said, note) != note;
  std::string out = is_new ? fmt::format("<p class=\"note\">{}</p>\n", escape_markup(note)) : "";
  out += "<div class=\"charts\">\n";
  for (const ReportChart& chart : charts)
    out += html_chart(chart, size, kWaterfallWidth, chart.note != note, ++numbering.charts);
  return out + "</div>\n";
}

std::string html_facts(const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string out = "<table class=\"facts\">\n<tbody>\n";
  for (const Fact& fact : facts) {
    const std::string text = escape_markup(format_cell(fact.value, fact.unit));
    const std::string value = raw_value(fact.value);
    out += fmt::format(
        "<tr><th scope=\"row\" class=\"t\">{}</th><td class=\"t\">{}</td></tr>\n", escape_markup(fact.title),
        value.empty()
            ? text
            : fmt::format(R"(<span data-key="{}" data-v="{}">{}</span>)", escape_markup(fact.key), value, text));
  }
  return out + "</tbody></table>\n";
}

// Those that begin with white space are commands and notes to the one before.
std::string html_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    const bool is_remark = !line.empty() && line.front() == ' ';
    out += is_remark ? fmt::format("<p class=\"evidence\"><code>{}</code></p>\n",
                                   escape_markup(line.substr(line.find_first_not_of(' '))))
                     : fmt::format("<p>{}</p>\n", escape_markup(line));
  }
  return out;
}

std::string html_cards(const ReportSummary& summary) {
  if (summary.figures.empty()) return {};
  std::string out =
      fmt::format("<p class=\"note\">{}</p>\n<div class=\"cards\">\n", escape_markup(summary.figures_title));
  for (const Fact& fact : summary.figures) {
    out += fmt::format("<div class=\"card\"><span>{}</span><b data-key=\"{}\" data-v=\"{}\">{}</b></div>\n",
                       escape_markup(fact.title), escape_markup(fact.key), raw_value(fact.value),
                       escape_markup(format_cell(fact.value, fact.unit)));
  }
  return out + "</div>\n";
}

std::string html_summary(const ReportSummary& summary, Numbering& numbering) {
  std::string out = "<section class=\"first\" id=\"summary\">\n" + html_cards(summary);
  out += fmt::format("<div class=\"two\">\n<div>\n<h2>{}</h2>\n", escape_markup(summary.why_title));
  out += html_lines(summary.why);
  if (summary.waterfall)
    out += html_chart(*summary.waterfall, kSummarySize, kSummaryWaterfallWidth, true, ++numbering.charts);
  const bool has_row = summary.charts.size() > 1;  // of charts below both columns
  if (!has_row) out += html_charts(summary.charts, kChartSize, numbering);
  out += "</div>\n<div>\n";
  if (!summary.next.empty() || summary.opportunities) {
    out += "<h2>What to do next</h2>\n" + html_lines(summary.next);
    if (summary.opportunities) {
      out += fmt::format("<p class=\"note\">{}:</p>\n", escape_markup(summary.opportunities->title));
      out += html_table(*summary.opportunities);
    }
  }
  out += "<h2>What was run</h2>\n" + html_facts(summary.what_was_run) + "</div>\n</div>\n";
  if (has_row) out += html_charts(summary.charts, kSummarySize, numbering);
  return out + "</section>\n";
}

std::string html_contents(const std::vector<ReportSection>& sections) {
  std::string out = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n";
  for (std::size_t i = 0; i < sections.size(); ++i)
    out += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, escape_markup(sections[i].title));
  return out + "</ol>\n</nav>\n";
}

std::string html_section(const ReportSection& section, std::size_t number, Numbering& numbering) {
  std::string out = fmt::format("<section id=\"s{}\">\n<h2>{}</h2>\n", number, escape_markup(section.title));
  out += html_lines(section.text) + html_facts(section.facts) + html_charts(section.charts, kChartSize, numbering);
  for (const Table& table : section.tables) {
    out += fmt::format("<h3>{}</h3>\n", escape_markup(table.title));
    if (!table.definition.empty())
      out += fmt::format("<p class=\"definition\">{}</p>\n", escape_markup(table.definition));
    out += html_table(table);
  }
  for (const Table& table : section.folded)
    out += html_folded(table);
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
  const std::string title = escape_markup(report.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"swinscope\">\n<title>{0}</title>\n<style>{1}{2}</style>\n"
      "</head>\n<body>\n<h1>{0}</h1>\n",
      title, kReportStyle, svg_style());
  Numbering numbering;
  out += html_summary(report.summary, numbering) + html_contents(report.sections);
  for (std::size_t i = 0; i < report.sections.size(); ++i)
    out += html_section(report.sections[i], i + 1, numbering);
  out +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
                  embedded_json(report.data), kReportScript);
  return out;
}

}  // namespace swinscope
