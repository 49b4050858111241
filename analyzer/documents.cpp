#include "analyzer/documents.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/tables.h"
#include "analyzer/text.h"

namespace swinscope {
namespace {

Table top_kernels(const Trace& trace, const std::vector<RankSteps>& steps, std::size_t top) {
  Table table = kernel_rows_table(trace, kernel_table(trace, {}, steps), steps, NameStyle::kShort);
  const std::size_t all = table.rows.size();
  keep_top(table, top);
  table.title = fmt::format("Top kernels ({} of {})", table.rows.size(), all);
  return table;
}

}  // namespace

Document analyze_document(const Trace& trace, const AnalyzeDocumentOptions& options) {
  const std::vector<RankSteps> steps = all_steps(trace);
  const std::vector<DeviceBreakdown> devices = time_breakdown(trace);
  const std::vector<HostPhases> host = host_phases(trace, steps);
  const Verdict verdict = judge(trace, steps, host);
  Document document;
  document.schema = "analyze";
  document.headline = {verdict.sentence, fmt::format("  evidence: {}", verdict.evidence)};
  document.facts = {{"kind", "trace", trace.description},
                    {"gpu_events", "GPU events", trace.gpu_event_count(), Unit::kCount},
                    {"ranks", "ranks", static_cast<std::int64_t>(trace.ranks.size()), Unit::kCount}};
  if (options.verdict_facts) {
    document.facts.push_back({"verdict", "verdict", verdict.sentence});
    document.facts.push_back(
        {"bound_by", "bound by", verdict.is_judged ? Cell(std::string(bound_name(verdict.bound))) : Cell()});
    document.facts.push_back({"evidence", "evidence", verdict.evidence});
  }
  document.tables = {step_table(trace, steps)};
  Table cpu = cpu_utilization_table(cpu_utilization(trace, std::vector<Interval>(trace.ranks.size())));
  const bool has_cpu = !cpu.rows.empty();
  if (has_cpu) document.tables.push_back(std::move(cpu));
  if (!host.empty()) document.tables.push_back(input_wait_table(host));
  if (verdict.has_gpu_work) {
    document.tables.push_back(utilization_table(devices));
    if (options.thesis) document.tables.push_back(thesis_table(thesis_utilization(trace)));
  }
  if (verdict.is_judged) document.tables.push_back(bound_table(verdict));
  if (verdict.has_gpu_work) {
    document.tables.push_back(breakdown_table(devices));
    document.tables.push_back(idle_table(devices));
    document.tables.push_back(launch_table(launch_statistics(trace)));
    document.tables.push_back(top_kernels(trace, steps, options.top));
  }
  document.notes = {
      "gpu_busy counts every device activity, gpu_compute all but communication; both over the device's span from its",
      fmt::format("first to its last activity. {} Times are traced times, tracing cost included.",
                  has_cpu ? "cpu_util is the CPU time of the process and those below it, of the cores allowed."
                          : "CPU utilization was not recorded."),
      "What the time is bound by is of the steps, where some were found."};
  return document;
}

}  // namespace swinscope
