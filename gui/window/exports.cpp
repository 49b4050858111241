#include "gui/window/exports.h"

#include <QFileInfo>

#include "gui/core/document_file.h"
#include "gui/core/trace_export.h"
#include "gui/core/write_whole.h"
#include "gui/widgets/file_dialogs.h"
#include "gui/widgets/page_picture.h"
#include "store/shell.h"

namespace swinscope::gui {

QString ask_image_path(QWidget* parent, const QString& page_id) {
  return ask_where_to_save(parent, QStringLiteral("Export the page as an image"),
                           QStringLiteral("swinscope-%1.png").arg(page_id), QStringLiteral("Images (*.png *.svg)"));
}

QString ask_report_path(QWidget* parent) {
  return ask_where_to_save(parent, QStringLiteral("Export a report"), QStringLiteral("report.html"),
                           QStringLiteral("Reports (*.html *.md *.csv *.json)"));
}

QString ask_events_path(QWidget* parent) {
  return ask_where_to_save(parent, QStringLiteral("Export the events"), QStringLiteral("trace.pftrace"),
                           QStringLiteral("Perfetto (*.pftrace);;Chrome and PyTorch, one rank (*.json *.json.gz)"));
}

bool Exports::write_image(QWidget& page, const PictureTitle& title, const QString& path) {
  const bool is_svg = QFileInfo(path).suffix().toLower() == QLatin1String("svg");
  if (const auto failure = write_whole(path, is_svg ? picture_as_svg(page, title) : picture_as_png(page, title))) {
    Q_EMIT problem(*failure);
    return false;
  }
  Q_EMIT said(QStringLiteral("wrote %1").arg(path));
  return true;
}

void Exports::write_report(const Session& session, const QString& path) {
  if (const auto refusal = refuse_report_name(path)) return Q_EMIT problem(*refusal);
  working_.start([session, path] { return gui::write_report(session, path); },
                 [this, path, command = report_command(session)](const std::optional<Problem>& failure) {
                   if (failure) return Q_EMIT problem(*failure);
                   Q_EMIT said(QStringLiteral("wrote %1, as does: %2 -o %3")
                                   .arg(path, command, QString::fromStdString(path_argument(path.toStdString()))));
                 });
}

void Exports::write_events(const RunPointer& run, const QString& path) {
  Q_EMIT said(QStringLiteral("writing %1…").arg(path));
  working_.start([run, path] { return export_trace(*run, path); },
                 [this, path](const TraceExport& exported) {
                   Q_EMIT said({});
                   if (exported.problem) return Q_EMIT problem(*exported.problem);
                   Q_EMIT said(QStringLiteral("wrote %1, as does: %2").arg(path, exported.command));
                 });
}

}  // namespace swinscope::gui
