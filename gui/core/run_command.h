// The command that prints in a terminal what a page shows.
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <string_view>

#include "gui/core/filter.h"

namespace swinscope::gui {

// "swinscope kernels RUN --by class --rank 1": `words` begin with the sub-command, whose selection is the filter's. The
// filter's name is not a part of it: commands look for regular expressions in one column.
QString run_command(const QStringList& words, const QStringList& paths, const Filter& filter = {});
// Of a table of the registry; `grouping`: index into RowKind::groupings.
QString table_command(std::string_view analysis, std::size_t grouping, const QString& path, const Filter& filter);

}  // namespace swinscope::gui
