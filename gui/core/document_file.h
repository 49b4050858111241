// What is shown as a file, in the format that its name says: everything about what is open, or a document.
#pragma once

#include <optional>

#include "gui/core/opened.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

// .html, .md, .csv and .json: why no report can have this name; nothing where one can.
std::optional<Problem> refuse_report_name(const QString& path);
// Goes over all events again: not for the window's thread. Nothing where the file was written.
std::optional<Problem> write_report(const Session& session, const QString& path);
// .md, .csv or .json. Nothing where the file was written.
std::optional<Problem> write_document(const Document& document, const QString& path);
// The `swinscope report` that writes the same, without the file.
QString report_command(const Session& session);

}  // namespace swinscope::gui
