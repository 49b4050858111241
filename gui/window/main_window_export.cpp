// What the window writes: its page as a picture, a report, the events for other viewers; with the command that does the
// same where there is one.
#include <QClipboard>
#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QGuiApplication>
#include <QStatusBar>

#include "gui/core/document_file.h"
#include "gui/core/trace_export.h"
#include "gui/core/write_whole.h"
#include "gui/pages/page.h"
#include "gui/pages/pages.h"
#include "gui/widgets/file_dialogs.h"
#include "gui/widgets/page_picture.h"
#include "gui/window/main_window.h"
#include "store/shell.h"

namespace swinscope::gui {
namespace {

// The program may be a test without a version.
QString program_text() {
  const QString version = QCoreApplication::applicationVersion();
  return version.isEmpty() ? QStringLiteral("swinscope") : QStringLiteral("swinscope ") + version;
}

}  // namespace

void MainWindow::choose_image() {
  const QString path =
      ask_where_to_save(this, QStringLiteral("Export the page as an image"),
                        QStringLiteral("swinscope-%1.png").arg(page_id()), QStringLiteral("Images (*.png *.svg)"));
  if (!path.isEmpty()) export_image(path);
}

void MainWindow::choose_report() {
  const QString path = ask_where_to_save(this, QStringLiteral("Export a report"), QStringLiteral("report.html"),
                                         QStringLiteral("Reports (*.html *.md *.csv *.json)"));
  if (!path.isEmpty()) export_report(path);
}

void MainWindow::copy_command() {
  const QString command = page().command();
  if (command.isEmpty()) return;
  QGuiApplication::clipboard()->setText(command);
  QString said = QStringLiteral("copied: %1").arg(command);
  if (!filter_.filter().name.isEmpty())
    said += QStringLiteral(" (which prints what the filter's name leaves out, too)");
  statusBar()->showMessage(said);
}

void MainWindow::choose_trace() {
  const QString path =
      ask_where_to_save(this, QStringLiteral("Export the events"), QStringLiteral("trace.pftrace"),
                        QStringLiteral("Perfetto (*.pftrace);;Chrome and PyTorch, one rank (*.json *.json.gz)"));
  if (!path.isEmpty()) export_events(path);
}

// What the picture is of: the page and its place, the run, the part of it, and when.
PictureTitle MainWindow::picture_title() const {
  PictureTitle title{plain_text(QString::fromUtf8(all_pages()[static_cast<std::size_t>(find_page(page_id()))].title)),
                     run_name()};
  if (!page().place().isEmpty()) title.title += QStringLiteral(", ") + page().place();
  if (title.of.isEmpty()) title.of = QStringLiteral("nothing is open");
  if (!(filter_.filter() == Filter())) title.of += QStringLiteral(", filtered");
  title.of += QStringLiteral("; %1, %2").arg(program_text(), QDateTime::currentDateTime().toString(Qt::ISODate));
  return title;
}

bool MainWindow::export_image(const QString& path) {
  const bool is_svg = QFileInfo(path).suffix().toLower() == QLatin1String("svg");
  const PictureTitle title = picture_title();
  if (const auto problem = write_whole(path, is_svg ? picture_as_svg(page(), title) : picture_as_png(page(), title))) {
    show_problem(*problem);
    return false;
  }
  statusBar()->showMessage(QStringLiteral("wrote %1").arg(path));
  return true;
}

void MainWindow::export_report(const QString& path) {
  if (!can_perform(ActionId::kExportReport)) return;
  if (const auto problem = refuse_report_name(path)) return show_problem(*problem);
  exporting_.start(
      [session = session_, path] { return write_report(session, path); },
      [this, path, command = report_command(session_)](const std::optional<Problem>& problem) {
        if (problem) return show_problem(*problem);
        statusBar()->showMessage(QStringLiteral("wrote %1, as does: %2 -o %3")
                                     .arg(path, command, QString::fromStdString(path_argument(path.toStdString()))));
      });
}

void MainWindow::export_events(const QString& path) {
  if (!can_perform(ActionId::kExportTrace)) return;
  statusBar()->showMessage(QStringLiteral("writing %1…").arg(path));
  exporting_.start([run = session_.run, path] { return export_trace(*run, path); },
                   [this, path](const TraceExport& exported) {
                     statusBar()->clearMessage();
                     if (exported.problem) return show_problem(*exported.problem);
                     statusBar()->showMessage(QStringLiteral("wrote %1, as does: %2").arg(path, exported.command));
                   });
}

}  // namespace swinscope::gui
