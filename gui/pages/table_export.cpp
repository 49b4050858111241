#include "gui/pages/table_export.h"

#include <QFileInfo>

#include "gui/core/document_file.h"
#include "gui/widgets/file_dialogs.h"
#include "store/shell.h"

namespace swinscope::gui {

void ask_and_export(Page& page, const OpenedRun& run, const std::string& schema, const Table& table,
                    const QString& command) {
  const QString path = ask_where_to_save(&page, QStringLiteral("Export the table"),
                                         QString::fromStdString(schema) + QStringLiteral(".csv"),
                                         QStringLiteral("Tables (*.csv *.json *.md)"));
  if (!path.isEmpty()) export_table(page, run, schema, table, command, path);
}

bool export_table(Page& page, const OpenedRun& run, const std::string& schema, const Table& table,
                  const QString& command, const QString& path) {
  Document document;
  document.schema = schema;
  document.run = run.path.toStdString();
  if (run.trace != nullptr) document.warnings = run.trace->warnings;
  document.tables.push_back(table);
  if (const auto found = write_document(document, path)) {
    Q_EMIT page.problem(*found);
    return false;
  }
  QString said = QStringLiteral("wrote %1").arg(path);
  if (!command.isEmpty()) {
    said += QStringLiteral(", as does: %1 --format %2 -o %3")
                .arg(command, QFileInfo(path).suffix().toLower(),
                     QString::fromStdString(path_argument(path.toStdString())));
  }
  Q_EMIT page.said(said);
  return true;
}

}  // namespace swinscope::gui
