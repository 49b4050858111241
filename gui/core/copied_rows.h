// Rows of a table as text for a spreadsheet: a line of titles, then a line for each row, cells separated by tabs. All
// durations of a column are in one unit, and so are all sizes: that of the largest, which stands in the title.
#pragma once

#include <QString>
#include <span>

#include "analyzer/table/table.h"

namespace swinscope::gui {

// `columns` and `rows` are indexes into the table's.
QString copied_rows(const Table& table, std::span<const std::size_t> columns, std::span<const std::size_t> rows);

}  // namespace swinscope::gui
