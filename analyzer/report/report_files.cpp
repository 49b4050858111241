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

std::string csv_of(const Table& table) {
  Document document;
  document.tables = {table};
  return document_text(document, ".csv");
}

// The files of a bundle, with the index that says what each of them is.
class Bundle {
 public:
  explicit Bundle(const std::string& title) {
    index_ = fmt::format(
        "# {}\n\n- [report.html](report.html): everything, to be read\n- [report.json](report.json): everything, for "
        "programs\n",
        escape_markdown(title));
  }

  void add_file(std::string name, std::string content) { files_.push_back({std::move(name), std::move(content)}); }

  void add_figures(std::vector<MarkdownFigure> figures) {
    if (figures.empty()) return;
    index_ +=
        "\n## Figures\n\nFor LaTeX: NAME.pdf beside each, which `rsvg-convert -f pdf -o NAME.pdf NAME.svg` makes.\n\n";
    for (MarkdownFigure& figure : figures) {
      const std::string name = "figures/" + fs::path(figure.name).stem().string();
      index_ += fmt::format("- [{0}.svg]({0}.svg), [.csv]({0}.csv): {1}\n", name, escape_markdown(figure.title));
      add_file(name + ".svg", std::move(figure.svg));
      add_file(name + ".csv", csv_of(figure.table));
    }
  }

  void add_tables(const std::vector<ReportSection>& sections) {
    index_ += "\n## Tables\n\nFor LaTeX: `\\usepackage{booktabs,longtable}`, then `\\input{tables/NAME.tex}`.\n\n";
    for (const ReportSection& section : sections) {
      for (const std::vector<Table>* tables : {&section.tables, &section.folded}) {
        for (const Table& table : *tables)
          add_table(section.title, table);
      }
    }
  }

  std::vector<ReportFile> take() {
    files_.insert(files_.begin(), {"index.md", std::move(index_)});
    return std::move(files_);
  }

 private:
  void add_table(const std::string& section, const Table& table) {
    if (table.rows.empty()) return;
    const int count = ++counts_[table.key];
    const std::string name = "tables/" + (count == 1 ? table.key : fmt::format("{}-{}", table.key, count));
    index_ += fmt::format("- [{0}.csv]({0}.csv), [.tex]({0}.tex): {1}: {2}", name, escape_markdown(section),
                          escape_markdown(table.title));
    index_ += table.definition.empty() ? "\n" : fmt::format(". {}\n", escape_markdown(table.definition));
    add_file(name + ".csv", csv_of(table));
    add_file(name + ".tex", latex_table(table));
  }

  std::string index_;
  std::map<std::string, int> counts_;  // tables of a key
  std::vector<ReportFile> files_;
};

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
  Bundle bundle(report.title);
  bundle.add_file("report.html", render_html(report));
  bundle.add_file("report.json", report.data + "\n");
  bundle.add_figures(render_markdown_report(report, "figures").figures);
  bundle.add_tables(report.sections);
  return bundle.take();
}

}  // namespace swinscope
