#include "advisor/advised_report.h"

#include <fmt/format.h>

#include "advisor/advice_columns.h"
#include "advisor/loss_columns.h"
#include "analyzer/importers/opened_traces.h"
#include "store/shell.h"

namespace swinscope {

ReportPart advised_report_part(const Trace& trace, const std::string& path, const Selection& selection) {
  ReportPart part = report_part(trace, path, selection);
  const RunFacts run(trace, selection);
  const std::unique_ptr<const Advisor> advisor = advisor_if_quick(run);
  add_advice_columns(part.document.tables, run, advisor.get());
  add_advice_columns(part.details, run, advisor.get());
  if (advisor == nullptr || advisor->advice().cards.empty()) return part;
  const Document document = advice_document(trace, advise(*advisor));
  part.further.push_back({"Opportunities", document.notes, document.facts, {}, document.tables});
  part.document.headline.push_back(document.headline.front());
  part.document.headline.push_back(fmt::format("  evidence: swinscope advise {}", path_argument(path)));
  return part;
}

std::vector<ReportPart> advised_report_parts(const Experiment& experiment) {
  OpenedTraces traces;
  std::vector<ReportPart> parts = report_parts(experiment, traces, advised_report_part);
  ReportPart& part = parts.front();
  if (part.series) add_loss_columns(experiment, part.series->rows, traces, part.document);
  return parts;
}

}  // namespace swinscope
