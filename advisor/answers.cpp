#include "advisor/answers.h"

#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "advisor/advice_columns.h"
#include "analyzer/analyses/evidence.h"
#include "store/shell.h"

namespace swinscope {
namespace {

Finding finding_of(const Advisor& advisor, const Advice& advice, const RunFacts& run) {
  const ScopeSql sql(run.trace, run.scope);
  if (advice.is_refused()) return {advice.abstained.front().reason, "", sql.work()};
  const Card* const first = next_card(advice);
  if (first == nullptr) return {"", "", sql.work()};
  std::set<std::string> names;
  for (const EvidenceEvent& event : advisor.evidence_of(*first)) {
    const GpuEvents& gpu = run.trace.ranks[event.rank_index].gpu;
    if (event.event != kNoEvent && gpu.kind[event.event] == GpuKind::kKernel)
      names.emplace(run.trace.text(gpu.name[event.event]));
  }
  return {"", std::string(confidence_name(first->change.confidence)),
          sql.work(std::vector<std::string>(names.begin(), names.end()))};
}

}  // namespace

Document analysis_of(const RunFacts& run, const AnalyzeDocumentOptions& options, bool with_advice) {
  // The terminal says what is next; programs get the tables' columns as reports have them.
  const bool is_brief = !options.verdict_facts;
  std::future<Document> tables = std::async(std::launch::async, [&] { return analyze_document(run, options); });
  // Beside the tables, whose facts it shares.
  std::unique_ptr<const Advisor> advisor;
  if (with_advice) advisor = advisor_if_quick(run, {.first_only = is_brief});
  Document document = tables.get();
  document.run = run.trace.path;
  document.warnings = run.trace.warnings;
  if (!with_advice) return document;
  if (!is_brief) add_advice_columns(document.tables, run, advisor.get());
  const std::string next = advisor != nullptr ? next_line(advisor->advice()) : std::string();
  if (!next.empty()) {
    document.headline.push_back(next);
    document.headline.push_back(fmt::format("  evidence: swinscope advise {}", path_argument(run.trace.path)));
  }
  return document;
}

Document advice_of(const RunFacts& run, const Advisor& advisor, const Advice& advice) {
  Document document = advice_document(run.trace, advice);
  document.finding = finding_of(advisor, advice, run);
  return document;
}

}  // namespace swinscope
