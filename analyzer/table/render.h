// Documents (a heading, warnings, tables) as text for people, JSON, CSV or Markdown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/table/table.h"

namespace swinscope {

struct Fact {
  std::string key;
  std::string title;
  Cell value;
  Unit unit = Unit::kText;
};

// How far a verdict can be relied on, for programs that read it.
struct Finding {
  std::string abstained;   // why nothing can be said; empty: something is
  std::string confidence;  // "high", "medium" or "low"; empty where nothing is said
  std::string evidence;    // SQL for `swinscope query RUN`, whose rows give the figures; empty: there is none
};

struct Document {
  std::string schema;                 // "kernels" -> "swinscope.kernels/1"
  std::string run;                    // the path as the user gave it
  std::vector<std::string> headline;  // for people, first: the verdict
  std::vector<Fact> facts;
  std::vector<std::string> warnings;
  std::vector<Table> tables;
  std::vector<std::string> notes;                 // for people, last: definitions, what is not shown
  std::optional<Finding> finding = std::nullopt;  // of those that state a verdict: the first line of the headline
};

enum class Format { kTable, kJson, kCsv, kMarkdown };

struct RenderOptions {
  Format format = Format::kTable;
  bool color = false;
  // Columns of the terminal; 0: never cut (a pipe or a file).
  std::size_t width = 0;
};

// In JSON, `data` is the array of rows when the document is one table without facts, otherwise an object with the facts
// and one array per table; of a finding `verdict`, `abstained`, `confidence` and `evidence` stand beside them, null
// where there is none; `definition` is an object with those of the tables that have one. Definitions and warnings are
// part of JSON and Markdown only: a terminal has no room for the former, and the latter belong on stderr.
std::string render(const Document& document, const RenderOptions& options);

// Without the columns that are details. Ends with a line break.
std::string markdown_table(const Table& table);
// The title as a heading of third order and, where the table has one, its definition; each with an empty line behind.
std::string markdown_title(const Table& table);
// Text for Markdown: what has a meaning there is escaped, a line break becomes a space.
std::string escape_markdown(std::string_view text);

// One value as people read it.
std::string format_cell(const Cell& cell, Unit unit);

}  // namespace swinscope
