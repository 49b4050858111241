// A table of a page as a CSV, JSON or Markdown file: asks where to, writes it, and says so, or what went wrong, by the
// page's signals.
#pragma once

#include <string>

#include "analyzer/table/table.h"
#include "gui/core/opened.h"
#include "gui/pages/page.h"

namespace swinscope::gui {

// `schema`: of the document, "roofline". `command`: that prints the same rows, without format and file; empty: none.
void ask_and_export(Page& page, const OpenedRun& run, const std::string& schema, const Table& table,
                    const QString& command);
// "swinscope analyze RUN --table roofline": of a table of the registry; empty where a filter leaves rows out.
QString table_command(const OpenedRun& run, const std::string& key, const Filter& filter);

}  // namespace swinscope::gui
