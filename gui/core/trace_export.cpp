#include "gui/core/trace_export.h"

#include "analyzer/export/kineto.h"
#include "analyzer/export/output.h"
#include "analyzer/export/perfetto.h"
#include "analyzer/export/source.h"
#include "store/shell.h"

namespace swinscope::gui {
namespace {

bool is_json(const QString& path) {
  return path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive) ||
         path.endsWith(QLatin1String(".json.gz"), Qt::CaseInsensitive);
}

void write(const Trace& trace, const QString& path) {
  Selection everything;
  everything.scope = Scope::kTrace;
  const std::atomic<bool> never = false;
  const ExportSource source(trace, everything, read_source_counters(trace, &never));
  if (is_json(path) && trace.ranks.size() > 1) {
    throw Error(ErrorKind::kUsage, path.toStdString() + ": one file for several ranks",
                "a trace in the format of the PyTorch profiler is of one process",
                "give a name that ends in .pftrace, or: swinscope export RUN --format kineto -o FOLDER");
  }
  ExportOutput output(path.toStdString(), true);  // the dialog has asked whether it is to be replaced
  if (is_json(path)) {
    export_kineto(source, 0, output);
  } else {
    export_perfetto(source, output);
  }
  output.finish();
}

}  // namespace

TraceExport export_trace(const OpenedRun& run, const QString& path) {
  const auto word = [](const QString& text) { return QString::fromStdString(path_argument(text.toStdString())); };
  TraceExport result{
      {},
      QStringLiteral("swinscope export %1 --format %2 -o %3")
          .arg(word(run.path), is_json(path) ? QStringLiteral("kineto") : QStringLiteral("perfetto"), word(path))};
  try {
    write(*run.trace, path);
  } catch (const Error& error) {
    result.problem = problem_of(error);
  } catch (const std::exception& error) {
    result.problem = problem_of(error);
  }
  return result;
}

}  // namespace swinscope::gui
