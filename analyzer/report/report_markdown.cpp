// A report as Markdown with figures beside it.
#include <fmt/format.h>

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

void add_chart(const ReportChart& chart, const std::string& folder, MarkdownReport& out) {
  const std::string name = fmt::format("{}-{}.svg", out.figures.size() + 1, file_words(chart.chart.title));
  out.text += fmt::format("### {0}\n\n![{0}]({1}/{2})\n\n", escape_markdown(chart.chart.title), folder, name);
  if (!chart.note.empty()) out.text += escape_markdown(chart.note) + "\n\n";
  out.text += markdown_table(chart.table) + '\n';
  const bool has_rows = chart.chart.kind == ChartKind::kWaterfall;
  out.figures.push_back({name, svg_file(chart.chart, has_rows ? kWaterfallWidth : kFigureWidth,
                                        has_rows ? waterfall_height(chart.chart) : kFigureHeight)});
}

void add_section(const ReportSection& section, const std::string& folder, MarkdownReport& out) {
  out.text += fmt::format("## {}\n\n", escape_markdown(section.title));
  for (const std::string& paragraph : section.text)
    out.text += escape_markdown(paragraph) + "\n\n";
  for (const Fact& fact : section.facts)
    out.text +=
        fmt::format("- {}: {}\n", escape_markdown(fact.title), escape_markdown(format_cell(fact.value, fact.unit)));
  if (!section.facts.empty()) out.text += '\n';
  for (const ReportChart& chart : section.charts)
    add_chart(chart, folder, out);
  for (const Table& table : section.tables)
    out.text += markdown_title(table) + markdown_table(table) + '\n';
}

}  // namespace

MarkdownReport render_markdown_report(const Report& report, const std::string& figure_folder) {
  MarkdownReport out;
  out.text = fmt::format("# {}\n\n", escape_markdown(report.title));
  for (const std::string& line : report.verdict) {
    const bool is_command = !line.empty() && line.front() == ' ';
    out.text += is_command ? fmt::format("    {}\n\n", line) : escape_markdown(line) + "\n\n";
  }
  for (const ReportSection& section : report.sections)
    add_section(section, figure_folder, out);
  out.text.pop_back();  // the last line break but one
  return out;
}

}  // namespace swinscope
