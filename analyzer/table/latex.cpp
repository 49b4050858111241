#include "analyzer/table/latex.h"

#include <utility>

#include <fmt/format.h>

#include "analyzer/table/render.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr std::size_t kRowsOfAPage = 40;

constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"%", "\\%"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "\\textquotedbl{}"},
    {"µ", "\\textmu{}"},
    {"×", "\\texttimes{}"},
    {"±", "\\textpm{}"},
    {"→", "\\textrightarrow{}"},
    {"≥", "$\\geq$"},
    {"≤", "$\\leq$"},
    {"−", "--"},
    {"…", "\\dots{}"},
};

std::string comment_of(const Table& table) {
  std::string text = fmt::format("% {}.", printable(table.title));
  if (!table.definition.empty()) text += fmt::format(" {}", printable(table.definition));
  return text + "\n";
}

}  // namespace

std::string escape_latex(std::string_view text) {
  std::string plain = printable(text);
  std::string out;
  for (std::size_t i = 0; i < plain.size();) {
    std::size_t length = 1;
    std::string_view written = std::string_view(plain).substr(i, 1);
    for (const auto& [sign, escape] : kEscapes) {
      if (std::string_view(plain).substr(i, sign.size()) != sign) continue;
      length = sign.size();
      written = escape;
      break;
    }
    out += written;
    i += length;
  }
  return out;
}

std::string latex_table(const Table& table) {
  std::string columns;
  std::string head;
  for (const Column& column : table.columns) {
    if (column.detail) continue;
    columns += column.unit == Unit::kText ? 'l' : 'r';
    head += (head.empty() ? "" : " & ") + escape_latex(column.title);
  }
  head += " \\\\\n\\midrule\n";
  const bool is_long = table.rows.size() > kRowsOfAPage;
  const std::string_view kind = is_long ? "longtable" : "tabular";
  std::string out = comment_of(table) + fmt::format("% \\usepackage{{booktabs{}}}\n\\begin{{{}}}{{{}}}\n\\toprule\n",
                                                    is_long ? ",longtable" : "", kind, columns);
  out += head + (is_long ? "\\endhead\n" : "");
  for (const std::vector<Cell>& row : table.rows) {
    std::string line;
    bool is_first = true;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].detail) continue;
      if (!std::exchange(is_first, false)) line += " & ";
      line += escape_latex(format_cell(row[i], table.columns[i].unit));
    }
    // A row that begins with a bracket would be read as the length of the line break before it.
    out += (line.starts_with('[') ? "{}" : "") + line + " \\\\\n";
  }
  return out + fmt::format("\\bottomrule\n\\end{{{}}}\n", kind);
}

}  // namespace swinscope
