// Where a figure of a run's table is from: the page that shows more of it, of the rank that its row is of.
#pragma once

#include <QString>

#include "analyzer/table/table.h"
#include "gui/core/evidence.h"

namespace swinscope::gui {

// Of a part of "where the time goes", by its name.
Evidence evidence_of_bound(const QString& part);
// Of a cell of a table of the registry whose rows stand for no calls, by the key of its column. Without a page: it was
// read from the recording, and nothing lies behind it.
Evidence evidence_of_cell(const Table& table, std::size_t row, std::string_view column);

}  // namespace swinscope::gui
