#include "analyzer/report/report_files.h"

#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analyzer/table/latex.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

std::string document_text(const Document& document, std::string_view kind) {
  return render(document, {.format = kind == ".csv" ? Format::kCsv : Format::kJson});
}

// Collects the tables of a report, each under a name of its own.
class Bundle {
 public:
  void add_figures(std::vector<MarkdownFigure> figures) {
    if (figures.empty()) return;
    index_ += "\n## Figures\n\n";
    for (MarkdownFigure& figure : figures) {
      index_ += fmt::format("- [{}](figures/{}): {}\n", figure.name, figure.name, escape_markdown(figure.title));
      files_.push_back({"figures/" + figure.name, std::move(figure.svg)});
    }
    index_ += "\nFor LaTeX: `rsvg-convert -f pdf -o NAME.pdf figures/NAME.svg`, or the package `svg`.\n";
  }

  void begin_tables() { index_ += "\n## Tables\n\n"; }

  void add(const std::string& section, const Table& table) {
    if (table.rows.empty()) return;
    const int count = ++names_[table.key];
    const std::string name = count == 1 ? table.key : fmt::format("{}-{}", table.key, count);
    index_ += fmt::format("- [{0}.csv](tables/{0}.csv), [.tex](tables/{0}.tex): {1}: {2}", name,
                          escape_markdown(section), escape_markdown(table.title));
    index_ += table.definition.empty() ? "\n" : fmt::format(". {}\n", escape_markdown(table.definition));
    Document document;
    document.tables = {table};
    files_.push_back({fmt::format("tables/{}.csv", name), document_text(document, ".csv")});
    files_.push_back({fmt::format("tables/{}.tex", name), latex_table(table)});
  }

  void add_chart(const std::string& section, const ReportChart& chart) {
    Table table = chart.table;
    if (table.title.empty()) table.title = chart.chart.title;
    add(section, table);
  }

  std::vector<ReportFile> take(const std::string& title) {
    files_.insert(files_.begin(), {"index.md", fmt::format("# {}\n\n- [report.html](report.html): everything, to be "
                                                           "read\n- [report.json](report.json): everything, for "
                                                           "programs\n{}",
                                                           escape_markdown(title), index_)});
    return std::move(files_);
  }

  void add_file(std::string name, std::string content) { files_.push_back({std::move(name), std::move(content)}); }

 private:
  std::string index_;
  std::map<std::string, int> names_;
  std::vector<ReportFile> files_;
};

void add_tables(const Report& report, Bundle& bundle) {
  bundle.begin_tables();
  const ReportSummary& summary = report.summary;
  if (summary.waterfall) bundle.add_chart(summary.why_title, *summary.waterfall);
  if (summary.opportunities) bundle.add("What to do next", *summary.opportunities);
  for (const ReportChart& chart : summary.charts)
    bundle.add_chart("First page", chart);
  for (const ReportSection& section : report.sections) {
    for (const std::vector<Table>* tables : {&section.tables, &section.folded}) {
      for (const Table& table : *tables)
        bundle.add(section.title, table);
    }
    for (const ReportChart& chart : section.charts)
      bundle.add_chart(section.title, chart);
  }
}

}  // namespace

std::string report_kind(std::string_view name) {
  std::string kind = fs::path(name).extension().string();
  for (const std::string_view known : {".html", ".md", ".csv", ".json"}) {
    if (kind == known) return kind;
  }
  throw Error(ErrorKind::kUsage, fmt::format("{}: cannot write {} reports", name, kind.empty() ? "such" : kind), {},
              "give a name that ends in .html, .csv, .json or .md");
}

std::vector<ReportFile> report_files(std::vector<ReportPart> parts, const std::string& name) {
  const std::string kind = report_kind(name);
  if (kind == ".csv" || kind == ".json") return {{name, document_text(parts.front().document, kind)}};
  const Report report = build_report(std::move(parts));
  if (kind == ".html") return {{name, render_html(report)}};
  const std::string folder = fs::path(name).replace_extension().concat("_figures").string();
  MarkdownReport markdown = render_markdown_report(report, fs::path(folder).filename().string());
  std::vector<ReportFile> files = {{name, std::move(markdown.text)}};
  for (MarkdownFigure& figure : markdown.figures)
    files.push_back({fmt::format("{}/{}", folder, figure.name), std::move(figure.svg)});
  return files;
}

std::vector<ReportFile> report_bundle(std::vector<ReportPart> parts) {
  const Report report = build_report(std::move(parts));
  Bundle bundle;
  bundle.add_file("report.html", render_html(report));
  bundle.add_file("report.json", report.data + "\n");
  bundle.add_figures(render_markdown_report(report, "figures").figures);
  add_tables(report, bundle);
  return bundle.take(report.title);
}

}  // namespace swinscope
