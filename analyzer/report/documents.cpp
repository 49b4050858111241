#include "analyzer/report/documents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/evidence.h"
#include "analyzer/analyses/key_figures.h"
#include "analyzer/analyses/step_changes.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/text.h"
#include "analyzer/report/registry.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

std::vector<std::string> headline_of(const RunFacts& run) {
  std::vector<std::string> lines = {run.verdict().sentence, fmt::format("  evidence: {}", run.verdict().evidence)};
  for (const std::string& doubt : run.verdict().doubts)
    lines.push_back("  note: " + doubt);
  if (const std::string note = step_change_note(run); !note.empty()) lines.push_back("  note: " + note);
  return lines;
}

// The figures that cards show, too.
void add_key_figures(const RunFacts& run, Document& document) {
  const KeyFigures figures = key_figures(run);
  const auto add = [&](const char* key, const char* title, auto value, Unit unit) {
    if (value) document.facts.push_back({key, title, Cell(*value), unit});
  };
  const auto percent = [](const std::optional<double>& share) {
    return share ? std::optional(100 * *share) : std::nullopt;
  };
  const std::string step = fmt::format("{} time, slowest rank", run.scope.unit());
  add("step_ns", step.c_str(), figures.step_ns, Unit::kDuration);
  add("images_per_s", "images/s", figures.images_per_second, Unit::kNumber);
  add("gpu_busy_percent", "GPU busy, mean", percent(figures.gpu_busy), Unit::kPercent);
  add("idle_percent", "idle, mean", percent(figures.idle), Unit::kPercent);
  add("exposed_communication_percent", "exposed communication, mean", percent(figures.exposed_communication),
      Unit::kPercent);
}

void add_verdict_facts(const RunFacts& run, Document& document) {
  const Verdict& verdict = run.verdict();
  const auto name = [](const std::optional<Bound>& bound) {
    return bound ? Cell(std::string(bound_name(*bound))) : Cell();
  };
  document.facts.push_back({"verdict", "verdict", verdict.sentence});
  document.facts.push_back({"bound_by", "bound by", name(verdict.bound)});
  document.facts.push_back({"second_bound", "second", name(verdict.second)});
  document.facts.push_back({"lead_percent", "lead over the second",
                            verdict.bound && verdict.second
                                ? Cell(100 * (verdict.share(*verdict.bound) - verdict.share(*verdict.second)))
                                : Cell(),
                            Unit::kPercent});
  document.facts.push_back({"abstained", "no verdict because", verdict.bound ? Cell() : Cell(verdict.abstained)});
  document.facts.push_back({"evidence_command", "evidence", verdict.evidence});
  if (verdict.has_parts) {
    document.facts.push_back({"bounds_sum_ns", "sum of the parts", verdict.whole_part_ns, Unit::kDuration});
  }
  std::string doubts;
  for (const std::string& doubt : verdict.doubts)
    doubts += (doubts.empty() ? "" : "; ") + doubt;
  document.facts.push_back({"doubts", "doubts", doubts.empty() ? Cell() : Cell(doubts)});
}

std::vector<std::string> notes_of(const RunFacts& run, bool has_cpu) {
  std::vector<std::string> notes = {
      fmt::format("Figures are of: {}, where their title does not say otherwise.", run.scope.title())};
  if (run.scope.is_of_repetitions()) {
    notes.emplace_back(
        "No step is marked: a repetition is a period of the kernel sequence, as likely a layer as a step; --step REGEX "
        "names the ranges that mark steps.");
  }
  if (!run.devices().empty()) {
    notes.emplace_back(
        "GPU busy counts every device activity, GPU compute all except communication; both of the device's window.");
  }
  notes.emplace_back(has_cpu
                         ? "CPU utilization is the CPU time of the process and those below it, of the cores allowed."
                         : "CPU utilization was not recorded.");
  notes.emplace_back("Times are traced times, tracing cost included.");
  return notes;
}

// Each asks for the facts that it needs; those that several need are found once (RunFacts).
std::vector<Table> tables_of(const RunFacts& run, const AnalyzeDocumentOptions& options) {
  const AnalysisUse last = options.thesis ? AnalysisUse::kAsked : AnalysisUse::kSummary;
  std::vector<const Analysis*> wanted;
  for (const Analysis& analysis : analyses()) {
    if (analysis.use <= last) wanted.push_back(&analysis);
  }
  std::vector<std::optional<Table>> found(wanted.size());
  parallel_for(wanted.size(), processors(), [&](std::size_t i) {
    Table table = table_of(*wanted[i], run, {options.top});
    if (is_worth_showing(*wanted[i], table, run)) found[i] = std::move(table);
  });
  std::vector<Table> tables;
  for (std::optional<Table>& table : found) {
    if (table) tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace

Document analyze_document(const RunFacts& run, const AnalyzeDocumentOptions& options) {
  const Trace& trace = run.trace;
  std::vector<Table> tables = tables_of(run, options);  // first: on several threads
  Document document;
  document.schema = "analyze";
  document.headline = headline_of(run);
  document.facts = {{"kind", "trace", trace.description},
                    {"scope", "figures are of", run.scope.title()},
                    {"gpu_events", "GPU events in the trace", trace.gpu_event_count(), Unit::kCount},
                    {"ranks", "ranks", rank_count(trace), Unit::kCount}};
  add_key_figures(run, document);
  if (options.verdict_facts) {
    const Verdict& verdict = run.verdict();
    add_verdict_facts(run, document);
    document.finding = {verdict.bound ? "" : verdict.abstained, std::string(verdict.confidence()),
                        evidence_of(verdict, ScopeSql(trace, run.scope))};
  }
  for (Table& table : tables)
    document.tables.push_back(std::move(table));
  const bool has_cpu = std::ranges::any_of(document.tables, [](const Table& t) { return t.key == "cpu_utilization"; });
  document.notes = notes_of(run, has_cpu);
  return document;
}

Document tables_document(const RunFacts& run, const std::vector<std::string>& keys, std::size_t top) {
  Document document;
  document.schema = "tables";
  for (const std::string& key : keys) {
    const auto analysis = std::ranges::find(analyses(), key, &Analysis::key);
    Table table = table_of(*analysis, run, {top});
    if (table.rows.empty()) {
      document.facts.push_back({key, std::string(analysis->title), std::string("not recorded, or there was none")});
    } else {
      document.tables.push_back(std::move(table));
    }
  }
  document.notes.push_back(
      fmt::format("Figures are of: {}, where their title does not say otherwise.", run.scope.title()));
  return document;
}

}  // namespace swinscope
