#include "gui/core/document_file.h"

#include <QDir>
#include <QFileInfo>

#include "advisor/advised_report.h"
#include "analyzer/report/report_files.h"
#include "gui/core/run_command.h"
#include "gui/core/write_whole.h"

namespace swinscope::gui {
namespace {

QString suffix_of(const QString& path) { return QFileInfo(path).suffix().toLower(); }

std::vector<ReportPart> parts_of(const OpenedComparison& comparison) {
  std::vector<ReportPart> parts;
  for (const Experiment& experiment : comparison.experiments) {
    for (ReportPart& part : advised_report_parts(experiment)) {
      part.prefix.insert(0, experiment.folder.filename().string() + ": ");
      parts.push_back(std::move(part));
    }
  }
  add_comparison(parts, comparison.published);
  return parts;
}

std::vector<ReportPart> parts_of(const Session& session) {
  if (session.run != nullptr) return {advised_report_part(*session.run->trace, session.run->trace->path, {})};
  if (session.experiment != nullptr) return advised_report_parts(session.experiment->experiment);
  return parts_of(*session.comparison);
}

QByteArray text_of(const Document& document, const QString& suffix) {
  RenderOptions options;
  options.format = suffix == QLatin1String("json")  ? Format::kJson
                   : suffix == QLatin1String("csv") ? Format::kCsv
                                                    : Format::kMarkdown;
  return QByteArray::fromStdString(render(document, options));
}

// `kind`: of the file, "report".
std::optional<Problem> refuse_name(const QString& path, const QString& kind, const QStringList& suffixes) {
  const QString suffix = suffix_of(path);
  if (suffixes.contains(suffix)) return std::nullopt;
  const QString all_but_last = QStringList(suffixes.begin(), suffixes.end() - 1).join(QStringLiteral(", ."));
  return Problem{QStringLiteral("%1: no %2 is written").arg(path, kind),
                 QStringLiteral("the name's ending says which kind of %1, but “%2” is none").arg(kind, suffix),
                 QStringLiteral("give a name that ends in .%1 or .%2").arg(all_but_last, suffixes.back())};
}

}  // namespace

std::optional<Problem> refuse_report_name(const QString& path) {
  return refuse_name(path, QStringLiteral("report"),
                     {QStringLiteral("html"), QStringLiteral("md"), QStringLiteral("csv"), QStringLiteral("json")});
}

std::optional<Problem> write_report(const Session& session, const QString& path) {
  try {
    const QDir folder = QFileInfo(path).dir();
    for (const ReportFile& file : report_files(parts_of(session), QFileInfo(path).fileName().toStdString())) {
      const QString name = folder.filePath(QString::fromStdString(file.name));
      folder.mkpath(QFileInfo(name).path());
      if (auto problem = write_whole(name, QByteArray::fromStdString(file.content))) return problem;
    }
    return std::nullopt;
  } catch (const Error& error) {
    return problem_of(error);
  } catch (const std::exception& error) {
    return problem_of(error);
  }
}

std::optional<Problem> write_document(const Document& document, const QString& path) {
  if (auto problem = refuse_name(path, QStringLiteral("table"),
                                 {QStringLiteral("md"), QStringLiteral("csv"), QStringLiteral("json")}))
    return problem;
  return write_whole(path, text_of(document, suffix_of(path)));
}

QString report_command(const Session& session) {
  QStringList paths;
  if (session.run != nullptr) {
    paths << session.run->path;
  } else {
    paths = session.experiment != nullptr ? QStringList(session.experiment->path) : session.comparison->paths;
  }
  return run_command({QStringLiteral("report")}, paths);
}

}  // namespace swinscope::gui
