#include "gui/core/report_file.h"

#include <QFileInfo>

#include "analyzer/report/report.h"
#include "gui/core/write_whole.h"

namespace swinscope::gui {
namespace {

QString suffix_of(const QString& path) { return QFileInfo(path).suffix().toLower(); }

std::vector<ReportPart> parts_of(const OpenedComparison& comparison) {
  std::vector<ReportPart> parts;
  for (const Experiment& experiment : comparison.experiments) {
    for (ReportPart& part : report_parts(experiment)) {
      part.prefix.insert(0, experiment.folder.filename().string() + ": ");
      parts.push_back(std::move(part));
    }
  }
  add_comparison(parts, comparison.published);
  return parts;
}

std::vector<ReportPart> parts_of(const Session& session) {
  if (session.run != nullptr) return {report_part(*session.run->trace, session.run->trace->path, {})};
  if (session.experiment != nullptr) return report_parts(session.experiment->experiment);
  return parts_of(*session.comparison);
}

const Document& document_of(const Session& session) {
  if (session.run != nullptr) return session.run->analyzed.document;
  return session.experiment != nullptr ? session.experiment->document : session.comparison->document;
}

std::string report_text(const Session& session, const QString& suffix) {
  if (suffix == QLatin1String("html")) return render_html(build_report(parts_of(session)));
  RenderOptions options;
  options.format = suffix == QLatin1String("json")  ? Format::kJson
                   : suffix == QLatin1String("csv") ? Format::kCsv
                                                    : Format::kMarkdown;
  return render(document_of(session), options);
}

}  // namespace

std::optional<Problem> refuse_report_name(const QString& path) {
  const QString suffix = suffix_of(path);
  for (const char* known : {"html", "md", "csv", "json"}) {
    if (suffix == QLatin1String(known)) return std::nullopt;
  }
  return Problem{QStringLiteral("%1: no report is written").arg(path),
                 QStringLiteral("the name's ending says which kind of report, but “%1” is none").arg(suffix),
                 QStringLiteral("give a name that ends in .html, .md, .csv or .json")};
}

std::optional<Problem> write_report(const Session& session, const QString& path) {
  try {
    return write_whole(path, QByteArray::fromStdString(report_text(session, suffix_of(path))));
  } catch (const Error& error) {
    return problem_of(error);
  } catch (const std::exception& error) {
    return problem_of(error);
  }
}

QString report_source(const Session& session) {
  if (session.run != nullptr) return session.run->path;
  return session.experiment != nullptr ? session.experiment->path : session.comparison->paths.join(QLatin1Char(' '));
}

}  // namespace swinscope::gui
