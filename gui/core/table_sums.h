// The sums of a table's rows, as a line below it.
#pragma once

#include <QString>
#include <span>

#include "analyzer/table/table.h"

namespace swinscope::gui {

// "Sum of 12 rows: 5,432 calls · total 539.1 ms · of busy 98.2 %": of the shown columns that can be added up (calls,
// times per step and in all, bytes, shares of one whole), in their order. More than the whole is explained: events of
// several streams ran at once. Empty where there is none of them, or fewer
// than two rows.
QString sum_line(const Table& table, std::span<const std::size_t> rows);

}  // namespace swinscope::gui
