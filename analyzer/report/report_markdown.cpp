// A report as Markdown with figures beside it.
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/report/report.h"
#include "analyzer/table/svg.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

constexpr double kFigureWidth = 560;
constexpr double kFigureHeight = 320;
constexpr double kWaterfallWidth = 900;

// "GPU and CPU utilization" -> "gpu-and-cpu-utilization"
std::string file_words(std::string_view title) {
  std::string words;
  for (const char c : title) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_word) {
      words += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!words.empty() && words.back() != '-') {
      words += '-';
    }
  }
  while (!words.empty() && words.back() == '-')
    words.pop_back();
  return words;
}

// A blank line before a table, else it is none within HTML.
std::string folded(const std::string& summary, const std::string& text) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", escape_markup(summary), text);
}

// The first rows; the others have to be unfolded.
std::string short_table(const Table& table) {
  if (table.rows.size() <= kShownRows) return markdown_table(table) + '\n';
  Table first = table;
  keep_top(first, kShownRows);
  Table rest = table;
  rest.rows.erase(rest.rows.begin(), rest.rows.begin() + kShownRows);
  return markdown_table(first) + '\n' +
         folded(format_counted(std::ssize(rest.rows), "more rows"), markdown_table(rest));
}

void add_chart(const ReportChart& chart, bool has_note, const std::string& folder, MarkdownReport& out) {
  const std::string name = fmt::format("{}-{}.svg", out.figures.size() + 1, file_words(chart.chart.title));
  out.text += fmt::format("### {0}\n\n![{0}]({1}/{2})\n\n", escape_markdown(chart.chart.title), folder, name);
  if (has_note && !chart.note.empty()) out.text += escape_markdown(chart.note) + "\n\n";
  out.text += folded("The figures", markdown_table(chart.table));
  const bool has_rows = chart.chart.kind == ChartKind::kWaterfall;
  std::string svg = svg_file(chart.chart, has_rows ? kWaterfallWidth : kFigureWidth,
                             has_rows ? waterfall_height(chart.chart) : kFigureHeight);
  out.figures.push_back({name, chart.chart.title, std::move(svg), chart.table});
}

void add_charts(const std::vector<ReportChart>& charts, const std::string& folder, MarkdownReport& out) {
  const std::string note = common_note(charts);
  if (!note.empty() && out.text.find(escape_markdown(note)) == std::string::npos)
    out.text += escape_markdown(note) + "\n\n";
  for (const ReportChart& chart : charts)
    add_chart(chart, chart.note != note, folder, out);
}

void add_facts(const std::vector<Fact>& facts, MarkdownReport& out) {
  for (const Fact& fact : facts)
    out.text +=
        fmt::format("- {}: {}\n", escape_markdown(fact.title), escape_markdown(format_cell(fact.value, fact.unit)));
  if (!facts.empty()) out.text += '\n';
}

void add_lines(const std::vector<std::string>& lines, MarkdownReport& out) {
  for (const std::string& line : lines) {
    const bool is_remark = !line.empty() && line.front() == ' ';
    out.text += is_remark ? fmt::format("    {}\n\n", line) : escape_markdown(line) + "\n\n";
  }
}

void add_summary(const ReportSummary& summary, const std::string& folder, MarkdownReport& out) {
  if (!summary.figures.empty()) out.text += escape_markdown(summary.figures_title) + "\n\n";
  add_facts(summary.figures, out);
  out.text += fmt::format("## {}\n\n", escape_markdown(summary.why_title));
  add_lines(summary.why, out);
  if (summary.waterfall) add_chart(*summary.waterfall, true, folder, out);
  if (!summary.next.empty() || summary.opportunities) {
    out.text += "## What to do next\n\n";
    add_lines(summary.next, out);
    if (summary.opportunities) {
      out.text += fmt::format("{}:\n\n{}\n", escape_markdown(summary.opportunities->title),
                              markdown_table(*summary.opportunities));
    }
  }
  out.text += "## What was run\n\n";
  add_facts(summary.what_was_run, out);
  add_charts(summary.charts, folder, out);
}

// Links to headings are made in many ways: names suffice.
void add_contents(const std::vector<ReportSection>& sections, MarkdownReport& out) {
  out.text += "## Contents\n\n";
  for (std::size_t i = 0; i < sections.size(); ++i)
    out.text += fmt::format("{}. {}\n", i + 1, escape_markdown(sections[i].title));
  out.text += '\n';
}

void add_section(const ReportSection& section, const std::string& folder, MarkdownReport& out) {
  out.text += fmt::format("## {}\n\n", escape_markdown(section.title));
  add_lines(section.text, out);
  add_facts(section.facts, out);
  add_charts(section.charts, folder, out);
  for (const Table& table : section.tables)
    out.text += markdown_title(table) + short_table(table);
  for (const Table& table : section.folded) {
    const std::string definition = table.definition.empty() ? "" : escape_markdown(table.definition) + "\n\n";
    out.text += folded(fmt::format("{}: {}", table.title, format_counted(std::ssize(table.rows), "rows")),
                       definition + markdown_table(table));
  }
}

}  // namespace

MarkdownReport render_markdown_report(const Report& report, const std::string& figure_folder) {
  MarkdownReport out;
  out.text = fmt::format("# {}\n\n", escape_markdown(report.title));
  add_summary(report.summary, figure_folder, out);
  add_contents(report.sections, out);
  for (const ReportSection& section : report.sections)
    add_section(section, figure_folder, out);
  out.text.pop_back();  // the last line break but one
  return out;
}

}  // namespace swinscope
