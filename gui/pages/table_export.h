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
// The same into that file; whether it was written.
bool export_table(Page& page, const OpenedRun& run, const std::string& schema, const Table& table,
                  const QString& command, const QString& path);

}  // namespace swinscope::gui
