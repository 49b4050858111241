// The rows of an analysis of the registry as the window shows them: through the filter, and what they stand for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/registry.h"
#include "gui/core/calls.h"
#include "gui/core/filter.h"

namespace swinscope::gui {

// What the calls of a row are of: a kernel by its full name, or a layer by its path, of one phase where that is not
// empty, and the layers below it.
struct Called {
  std::string name;
  std::string phase;
  bool operator==(const Called&) const = default;
};

// What the window says of the rows of an analysis beyond what the registry does.
struct RowKind {
  std::string_view analysis;  // its key
  const char* noun;           // of a row
  std::string_view order;     // the column that the table is sorted by at first; empty: it comes in its order
  const char* absence;        // why a run may have none, and what to do
  std::string_view name;      // the column of Called::name; empty: rows stand for no calls
  std::string_view phase;     // that of Called::phase
  std::vector<Call> (*calls)(const RunFacts& run, const Filter& filter, const Called& called, std::size_t grouping);
  // What a row may be, the first one at first; empty: one thing only.
  std::span<const char* const> groupings;
};
const RowKind& row_kind(std::string_view analysis);

// table_of() of the whole registry's options, or what the grouping (index into RowKind::groupings) makes of it. Of a
// stream only what ran on it: what the host did is of none.
Table rows_of(const Analysis& analysis, const RunFacts& run, const Filter& filter, std::size_t grouping = 0);
// Keeps the rows with the text in a name, without regard to case; all where rows have no names.
void keep_named(Table& table, const QString& text);

// Of a row that stands for calls.
Called called_by(const RowKind& kind, const Table& table, int row);
// The row that stands for them; -1 for none.
int find_row(const RowKind& kind, const Table& table, const Called& called);

}  // namespace swinscope::gui
