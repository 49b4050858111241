#include "analyzer/report/registry.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/clocks.h"
#include "analyzer/analyses/cpu_utilization.h"
#include "analyzer/analyses/launch_statistics.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/analyses/ranges.h"
#include "analyzer/analyses/rank_summary.h"
#include "analyzer/analyses/recording.h"
#include "analyzer/analyses/step_table.h"
#include "analyzer/analyses/thesis_utilization.h"

namespace swinscope {
namespace {

using Run = const RunFacts&;
using Options = const AnalysisOptions&;

Table top_kernels(Run run, Options options) {
  Table table = kernel_rows_table(run.trace, run.scope, run.kernels(), NameStyle::kShort);
  const std::size_t all = table.rows.size();
  if (options.top > 0) keep_top(table, options.top);
  if (options.top > 0) table.title = fmt::format("Top kernels ({} of {})", table.rows.size(), all);
  return table;
}

Table thesis_rows(Run run, Options) {
  return run.devices().empty() ? Table() : thesis_table(thesis_utilization(run.trace, run.scope));
}

Table ranges(Run run, Options) {
  return range_rows_table(run.trace, run.scope, range_table(run.trace, run.scope, {}).rows);
}

using enum AnalysisSection;
using enum AnalysisUse;

constexpr std::array kAnalyses = {
    Analysis{"steps", "Steps", kRanks, kSummary, false, true,
             [](Run run, Options) { return step_table(run.trace, run.scope); }},
    Analysis{"rank_summary", "Ranks beside each other", kRanks, kDetail, true, false,
             [](Run run, Options) { return rank_summary_table(rank_summaries(run)); }},
    Analysis{"cpu_utilization", "CPU utilization", kRanks, kSummary, true, false,
             [](Run run, Options) { return cpu_utilization_table(cpu_utilization(run.trace, run.scope)); }},
    Analysis{"input_wait", "The host's wait for data", kTime, kSummary, true, false,
             [](Run run, Options) { return input_wait_table(run.host()); }},
    Analysis{"utilization", "Utilization", kTime, kSummary, true, false,
             [](Run run, Options) { return utilization_table(run.devices()); }},
    Analysis{"thesis_utilization", "Utilization by the thesis's definition", kTime, kAsked, true, false, &thesis_rows},
    Analysis{"bounds", "Where the time goes", kTime, kSummary, true, false,
             [](Run run, Options) { return bound_table(run.verdict(), run.scope); }},
    Analysis{"breakdown", "Time breakdown", kTime, kSummary, true, false,
             [](Run run, Options) { return breakdown_table(run.devices()); }},
    Analysis{"idle", "Idle, by cause", kTime, kSummary, true, false,
             [](Run run, Options) { return idle_table(run.devices()); }},
    Analysis{"launches", "Launches", kRanks, kSummary, true, true,
             [](Run run, Options) { return launch_table(launch_statistics(run.trace, run.scope)); }},
    Analysis{"kernels", "Kernels", kWork, kSummary, true, true, &top_kernels},
    Analysis{"layers", "Layers", kWork, kDetail, true, false,
             [](Run run, Options) { return layer_rows_table(run.layers()); }},
    Analysis{"ranges", "Ranges", kWork, kReference, true, false, &ranges},
    Analysis{"threads", "CPU time by thread", kRanks, kReference, false, false,
             [](Run run, Options) { return thread_cpu_rows_table(thread_cpu_table(run.trace)); }},
    Analysis{"ranks", "Ranks", kRecording, kDetail, false, false,
             [](Run run, Options) { return recorded_ranks_table(run.trace); }},
    Analysis{"clocks", "Clocks of the ranks", kRecording, kDetail, false, false,
             [](Run run, Options) { return clocks_table(run.trace, run.clocks()); }},
    Analysis{"health", "Health of the trace", kRecording, kDetail, false, false,
             [](Run run, Options) { return health_table(run.trace); }},
    Analysis{"drops", "Lost or unread", kRecording, kDetail, false, false,
             [](Run run, Options) { return drop_table(run.trace); }},
    Analysis{"collector", "Recording", kRecording, kReference, false, false,
             [](Run run, Options) { return collector_table(run.trace); }},
    Analysis{"environment", "Environment", kRecording, kReference, false, false,
             [](Run run, Options) { return environment_table(run.trace); }}};

}  // namespace

std::span<const Analysis> analyses() { return kAnalyses; }

Table table_of(const Analysis& analysis, const RunFacts& run, const AnalysisOptions& options) {
  Table table = analysis.run(run, options);
  if (analysis.is_of_scope) table.title += fmt::format(", {}", run.scope.title());
  return table;
}

bool is_worth_showing(const Analysis& analysis, const Table& table, const RunFacts& run) {
  return !table.rows.empty() || (analysis.is_shown_empty && (!analysis.is_of_scope || !run.devices().empty()));
}

std::string_view section_title(AnalysisSection section) {
  switch (section) {
    case AnalysisSection::kTime:
      return "Where the time goes";
    case AnalysisSection::kWork:
      return "Kernels and layers";
    case AnalysisSection::kRanks:
      return "Ranks";
    case AnalysisSection::kRecording:
      return "Recording";
  }
  return "";
}

}  // namespace swinscope
