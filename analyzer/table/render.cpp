#include "analyzer/table/render.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/base/text.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell))
    return is_valid_utf8(*text) ? *text : replace_invalid_utf8(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) return *real;
  return nullptr;
}

Json to_json(const Table& table) {
  Json rows = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[table.columns[i].key] = to_json(row[i]);
    rows.push_back(std::move(object));
  }
  return rows;
}

// null for what is not said.
void add_finding(const Document& document, Json& json) {
  const auto text = [](const std::string& of) { return of.empty() ? Json() : to_json(Cell(of)); };
  const bool is_said = document.finding->abstained.empty() && !document.headline.empty();
  json["verdict"] = is_said ? text(document.headline.front()) : Json();
  json["abstained"] = text(document.finding->abstained);
  json["confidence"] = text(document.finding->confidence);
  json["evidence"] = text(document.finding->evidence);
}

std::string render_json(const Document& document) {
  Json json;
  json["schema"] = fmt::format("swinscope.{}/1", document.schema);
  json["run"] = document.run;
  json["warnings"] = document.warnings;
  json["definition"] = Json::object();
  for (const Table& table : document.tables) {
    if (!table.definition.empty()) json["definition"][table.key] = table.definition;
  }
  if (document.finding) add_finding(document, json);
  if (document.tables.size() == 1 && document.facts.empty()) {
    json["data"] = to_json(document.tables.front());
  } else {
    Json data = Json::object();
    for (const Fact& fact : document.facts)
      data[fact.key] = to_json(fact.value);
    for (const Table& table : document.tables)
      data[table.key] = to_json(table);
    json["data"] = std::move(data);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Spreadsheets compute what begins like this; an apostrophe before it keeps it text.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && text != "-";
}

// RFC 4180, with LF line ends.
std::string csv_field(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  const auto* value = std::get_if<std::string>(&cell);
  if (value == nullptr) return {};
  std::string text = (is_formula(*value) ? "'" : "") + printable(*value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string render_csv(const Document& document) {
  std::string out;
  const bool several = document.tables.size() > 1 || !document.facts.empty();
  if (!document.facts.empty()) {
    out += "# facts\nname,value\n";
    for (const Fact& fact : document.facts)
      out += fmt::format("{},{}\n", fact.key, csv_field(fact.value));
  }
  for (const Table& table : document.tables) {
    if (several) out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", table.key);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ",", table.columns[i].key);
    out += '\n';
    for (const std::vector<Cell>& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i)
        out += fmt::format("{}{}", i == 0 ? "" : ",", csv_field(row[i]));
      out += '\n';
    }
  }
  return out;
}

std::string markdown_rows(const Table& table, bool with_details) {
  std::string head = "|";
  std::string line = "|";
  const auto is_shown = [&](std::size_t i) { return with_details || !table.columns[i].detail; };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!is_shown(i)) continue;
    head += fmt::format(" {} |", escape_markdown(table.columns[i].title));
    line += table.columns[i].unit == Unit::kText ? " --- |" : " ---: |";
  }
  std::string out = head + '\n' + line + '\n';
  for (const std::vector<Cell>& row : table.rows) {
    out += '|';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_shown(i)) out += fmt::format(" {} |", escape_markdown(format_cell(row[i], table.columns[i].unit)));
    }
    out += '\n';
  }
  return out;
}

std::string render_markdown(const Document& document) {
  std::string out;
  for (const std::string& line : document.headline)
    out += fmt::format("**{}**\n\n", escape_markdown(line));
  for (const std::string& warning : document.warnings)
    out += fmt::format("> warning: {}\n\n", escape_markdown(warning));
  for (const Fact& fact : document.facts) {
    out += fmt::format("- {}: {}\n", fact.title, escape_markdown(format_cell(fact.value, fact.unit)));
  }
  for (const Table& table : document.tables) {
    out += fmt::format("{}{}{}", out.empty() ? "" : "\n", markdown_title(table), markdown_rows(table, true));
  }
  for (const std::string& note : document.notes)
    out += fmt::format("\n{}\n", escape_markdown(note));
  return out;
}

std::string pad(const std::string& text, std::size_t width, bool left_aligned) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return left_aligned ? text + space : space + text;
}

// The columns shown to people, and their cells as text.
struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> widths;
};

TextTable text_table(const Table& table) {
  TextTable text;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].detail) continue;
    shown.push_back(i);
    text.columns.push_back(table.columns[i]);
    text.columns.back().title = printable(table.columns[i].title);  // that of a factor is its user's
    text.widths.push_back(display_width(text.columns.back().title));
  }
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      cells.push_back(printable(format_cell(row[shown[k]], text.columns[k].unit)));
      text.widths[k] = std::max(text.widths[k], display_width(cells.back()));
    }
    text.rows.push_back(std::move(cells));
  }
  return text;
}

std::size_t line_width(const TextTable& text) {
  std::size_t total = 2 * (text.widths.empty() ? 0 : text.widths.size() - 1);
  for (const std::size_t w : text.widths)
    total += w;
  return total;
}

// Takes width from the widest text column until the table fits. False, with the widths as they were, when it cannot.
bool shrink(TextTable& text, std::size_t width) {
  constexpr std::size_t kMinTextWidth = 16;
  const std::vector<std::size_t> natural = text.widths;
  for (std::size_t total = line_width(text); total > width;) {
    std::size_t widest = text.widths.size();
    for (std::size_t k = 0; k < text.widths.size(); ++k) {
      const bool can_shrink = text.columns[k].unit == Unit::kText && text.widths[k] > kMinTextWidth;
      if (can_shrink && (widest == text.widths.size() || text.widths[k] > text.widths[widest])) widest = k;
    }
    if (widest == text.widths.size()) {
      text.widths = natural;
      return false;
    }
    const std::size_t cut = std::min(total - width, text.widths[widest] - kMinTextWidth);
    text.widths[widest] -= cut;
    total -= cut;
  }
  return true;
}

// The columns of each block of a table: one block when it fits, otherwise as many as it takes, each beginning with the
// first column. Width 0: no limit.
std::vector<std::vector<std::size_t>> blocks_of(TextTable& text, std::size_t width) {
  std::vector<std::vector<std::size_t>> blocks(1);
  if (width == 0 || shrink(text, width)) {
    for (std::size_t k = 0; k < text.columns.size(); ++k)
      blocks.front().push_back(k);
    return blocks;
  }
  for (std::size_t& w : text.widths)
    w = std::min(w, std::max<std::size_t>(width / 2, 1));
  std::size_t used = 0;
  for (std::size_t k = 0; k < text.columns.size(); ++k) {
    if (blocks.back().size() > 1 && used + 2 + text.widths[k] > width) {
      blocks.push_back({0});
      used = text.widths.front();
    }
    used += (blocks.back().empty() ? 0 : 2) + text.widths[k];
    blocks.back().push_back(k);
  }
  return blocks;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string render_table(const Table& table, const RenderOptions& options) {
  TextTable text = text_table(table);
  const char* bold = options.color ? "\x1b[1m" : "";
  const char* dim = options.color ? "\x1b[2m" : "";
  const char* plain = options.color ? "\x1b[0m" : "";
  std::string out = fmt::format("{}{}{}\n", bold, printable(table.title), plain);
  for (const std::vector<std::size_t>& block : blocks_of(text, options.width)) {
    const auto line = [&](const auto& cell_of) {
      std::string cells;
      for (const std::size_t k : block) {
        if (!cells.empty()) cells += "  ";
        cells += pad(elide(cell_of(k), text.widths[k]), text.widths[k], text.columns[k].unit == Unit::kText);
      }
      return without_trailing_space(cells) + "\n";
    };
    out += fmt::format("{}{}{}", dim, line([&](std::size_t k) { return text.columns[k].title; }), plain);
    for (const auto& row : text.rows)
      out += line([&](std::size_t k) { return row[k]; });
  }
  if (text.rows.empty()) out += "(no rows)\n";
  return out;
}

std::string render_text(const Document& document, const RenderOptions& options) {
  std::string out;
  for (std::size_t i = 0; i < document.headline.size(); ++i) {
    const bool first = i == 0 && options.color;
    out += fmt::format("{}{}{}\n", first ? "\x1b[1m" : "", printable(document.headline[i]), first ? "\x1b[0m" : "");
  }
  std::size_t width = 0;
  for (const Fact& fact : document.facts)
    width = std::max(width, display_width(fact.title));
  if (!document.facts.empty() && !out.empty()) out += '\n';
  for (const Fact& fact : document.facts) {
    out += fmt::format("{}  {}\n", pad(fact.title, width, true), printable(format_cell(fact.value, fact.unit)));
  }
  for (const Table& table : document.tables) {
    if (!out.empty()) out += '\n';
    out += render_table(table, options);
  }
  if (!document.notes.empty()) out += '\n';
  for (const std::string& note : document.notes)
    out += printable(note) + "\n";
  return out;
}

}  // namespace

std::string format_cell(const Cell& cell, Unit unit) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    switch (unit) {
      case Unit::kDuration:
        return format_duration(*integer);
      case Unit::kBytes:
        return format_bytes(*integer);
      case Unit::kCount:
        return format_count(*integer);
      default:
        return fmt::format("{}", *integer);
    }
  }
  const double real = std::get<double>(cell);
  if (unit == Unit::kPercent) return fmt::format("{:.1f} %", real);
  if (unit == Unit::kDuration) return format_duration(static_cast<std::int64_t>(std::llround(real)));
  if (unit == Unit::kNumber) return format_number(real);
  return fmt::format("{}", real);
}

std::string markdown_table(const Table& table) { return markdown_rows(table, false); }

std::string markdown_title(const Table& table) {
  std::string out = fmt::format("### {}\n\n", escape_markdown(table.title));
  if (!table.definition.empty()) out += escape_markdown(table.definition) + "\n\n";
  return out;
}

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = R"(|\<>*_`[]&)";  // without brackets there is no link and no image
  std::string out;
  for (const char c : printable(text)) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string render(const Document& document, const RenderOptions& options) {
  switch (options.format) {
    case Format::kJson:
      return render_json(document);
    case Format::kCsv:
      return render_csv(document);
    case Format::kMarkdown:
      return render_markdown(document);
    case Format::kTable:
      break;
  }
  return render_text(document, options);
}

}  // namespace swinscope
