#include "analyzer/report/analysis_documents.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/analyses/clocks.h"
#include "analyzer/analyses/collectives_table.h"
#include "analyzer/analyses/evidence.h"
#include "analyzer/analyses/idle_gaps_table.h"
#include "analyzer/analyses/late_ranks_table.h"
#include "analyzer/analyses/launch_statistics.h"
#include "analyzer/analyses/rank_summary.h"
#include "analyzer/analyses/recording.h"
#include "analyzer/analyses/roofline.h"
#include "analyzer/base/text.h"
#include "analyzer/report/registry.h"
#include "analyzer/report/what_was_run.h"
#include "analyzer/trace/trace_facts.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr const char* kSeeInfo = "run `swinscope info` to see what the trace holds";

Document document_of(const char* schema, const Trace& trace) {
  Document document;
  document.schema = schema;
  document.run = trace.path;
  document.warnings = trace.warnings;
  return document;
}

Document document_of(const char* schema, const RunFacts& run) {
  Document document = document_of(schema, run.trace);
  document.notes = {fmt::format("All figures are of: {}.", run.scope.title())};
  return document;
}

void add_rows(Table table, Document& document) {
  if (!table.rows.empty()) document.tables.push_back(defined(std::move(table)));
}

// "medium" where something makes the figures doubtful.
std::string confidence_of(bool is_doubtful) { return is_doubtful ? "medium" : "high"; }

Cell ratio(double part, double whole) { return whole == 0 ? Cell() : Cell(part / whole); }

bool lacks_cost(const LayerRow& row) {
  return !row.has_cost && (row.operation == "mixed" || row.operation == operation_name(OperationKind::kGemm) ||
                           row.operation == operation_name(OperationKind::kConv) ||
                           row.operation == operation_name(OperationKind::kAttention));
}

// Why there are no rows, and what to do. Throws.
[[noreturn]] void refuse_ranges(const RunFacts& run, const RangeOptions& options, const RangeTable& table) {
  const std::string& path = run.trace.path;
  const bool has_ranges = std::ranges::any_of(run.trace.ranks, [](const Rank& rank) { return rank.ranges.size() > 0; });
  if (!has_ranges) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no ranges", path),
                "the program annotated nothing, or NVTX was not recorded",
                "annotate it with NVTX (Python: pip install nvtx; torch.cuda.nvtx.range) and record again");
  }
  if (table.left_out_operators + table.left_out_python > 0) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no annotations", path),
                fmt::format("its ranges are {} operators and {} Python functions of PyTorch", table.left_out_operators,
                            table.left_out_python),
                table.left_out_operators > 0 ? "--operators shows the operators" : "--python shows the functions");
  }
  if (!options.domain.empty()) {
    std::vector<std::string> domains;
    for (const std::string& domain : table.domains)
      domains.push_back(domain.empty() ? "the default domain, whose name is empty" : domain);
    throw Error(ErrorKind::kFailure, fmt::format("{}: no range in a domain that matches {}", path, options.domain),
                fmt::format("it has ranges in: {}", fmt::join(domains, ", ")), "--domain takes a regular expression");
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: no range lies in the scope", path),
              fmt::format("the figures are of: {}", run.scope.title()), "--scope trace shows those of the whole trace");
}

void add_range_notes(const RangeOptions& options, const RangeTable& table, std::vector<std::string>& notes) {
  if (table.left_out_operators > 0) {
    notes.push_back(
        fmt::format("{} operators of PyTorch are left out: --operators shows them, `swinscope layers` adds "
                    "them up.",
                    table.left_out_operators));
  }
  if (table.left_out_python > 0)
    notes.push_back(fmt::format("{} Python functions are left out: --python shows them.", table.left_out_python));
  if (table.joined_names > 0) {
    notes.push_back(
        fmt::format("{} names that differ only in the number at their end share rows (…*): --numbers-apart "
                    "shows each.",
                    table.joined_names));
  }
  if (table.open_ranges > 0) {
    notes.push_back(fmt::format("{} of the trace's ranges were open when the recording ended, and end with it here.",
                                table.open_ranges));
  }
  if (options.grouping == RangeGrouping::kName)
    notes.emplace_back("A range within one of the same name is a call; its time is part of the outer one's.");
  if (table.unknown_launch_ns > 0)
    notes.emplace_back("The launching call of some GPU events was not recorded: they belong to no range.");
}

}  // namespace

Document kernels_document(const RunFacts& run, const KernelTableOptions& options, NameStyle style) {
  const Trace& trace = run.trace;
  if (trace.gpu_event_count() == 0) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no kernel records", trace.path),
                "no GPU activity was recorded", kSeeInfo);
  }
  KernelTableOptions with_costs = options;
  with_costs.operations = &run.operations();
  Document document = document_of("kernels", run);
  document.tables = {
      defined(kernel_rows_table(trace, run.scope, kernel_table(trace, run.scope, run.devices(), with_costs), style))};
  return document;
}

Document layers_document(const RunFacts& run, const LayerOptions& options) {
  const Trace& trace = run.trace;
  const std::vector<LayerRow> rows = layer_table(run, options);
  if (rows.empty()) {
    throw Error(
        ErrorKind::kFailure, fmt::format("{}: has no layers", trace.path),
        fmt::format("in the scope ({}) there is no annotated operation of a swinscope workload, no module and no "
                    "operator of PyTorch",
                    run.scope.title()),
        "`swinscope ranges RUN` shows whatever ranges there are; `swinscope record --torch-modules` names modules");
  }
  const StepImages images = count_images(trace, run.scope);
  const LayerCoverage coverage = layer_coverage(run);
  std::int64_t flops = 0;
  for (const LayerRow& row : rows)
    flops += row.flops;
  const double gflop = static_cast<double>(flops) / 1e9;
  // Where a product's FLOPs are not known, neither is their sum; what is no product hardly adds to it.
  const bool has_cost = std::ranges::any_of(rows, &LayerRow::has_cost) && std::ranges::none_of(rows, &lacks_cost);
  const bool has_images = images.steps > 0;
  Document document = document_of("layers", run);
  document.facts = {
      {"steps", "steps", has_images ? images.steps : run.scope.step_count(), Unit::kCount},
      {"images", "images", has_images ? Cell(images.images) : Cell(), Unit::kCount},
      {"gflop", "GFLOP", has_cost ? Cell(gflop) : Cell(), Unit::kNumber},
      {"gflop_per_image", "GFLOP per image", has_cost ? ratio(gflop, static_cast<double>(images.images)) : Cell(),
       Unit::kNumber},
      {"gpu_by_layer_percent", "GPU time by layer",
       ratio(100.0 * static_cast<double>(coverage.layer_gpu_ns), static_cast<double>(coverage.step_gpu_ns)),
       Unit::kPercent}};
  document.tables = {defined(layer_rows_table(rows, gpu_peaks(trace)))};
  add_rows(thread_cpu_rows_table(thread_cpu_table(trace)), document);
  return document;
}

Document launches_document(const RunFacts& run) {
  const Trace& trace = run.trace;
  Document document = document_of("launches", run);
  document.tables = {defined(launch_table(launch_statistics(trace, run.scope)))};
  if (document.tables.front().rows.empty()) {
    throw Error(ErrorKind::kFailure, trace.path + ": has no kernel records",
                trace.gpu_event_count() == 0 ? "no GPU activity was recorded"
                                             : "only copies, sets or whole CUDA graphs were recorded",
                kSeeInfo);
  }
  document.notes.emplace_back(
      "API time: duration of the launching call. Queue time: from its end to the kernel's start. Launch delay: from "
      "its");
  document.notes.emplace_back(
      "start to the kernel's start; their sum is the total launch+queue time (TKLQT; AKD is the mean kernel duration: "
      "SKIP, "
      "arXiv 2504.11750).");
  return document;
}

Document gaps_document(const RunFacts& run, NameStyle style) {
  Document document = document_of("gaps", run);
  document.tables = {defined(idle_gaps_table(run, 0, style))};
  if (document.tables.front().rows.empty()) {
    throw Error(ErrorKind::kFailure, run.trace.path + ": has no idle gaps",
                run.trace.gpu_event_count() == 0 ? "no GPU activity was recorded"
                                                 : "its devices are busy all the time, or the scope holds nothing",
                kSeeInfo);
  }
  document.finding = {"", confidence_of(!run.verdict().doubts.empty()), ScopeSql(run.trace, run.scope).gaps()};
  return document;
}

Document roofline_document(const RunFacts& run) {
  const Roofline all = roofline(run);
  if (all.points.empty()) {
    const bool are_layers = !run.layers().empty();
    throw Error(
        ErrorKind::kFailure, run.trace.path + ": has no layer that can stand under a roof",
        are_layers ? "no layer says its FLOPs and bytes, or what this GPU can do at most is not known"
                   : "no layers were recorded",
        "annotated programs (`swin`) say what each operation needs; torch.profiler does with record_shapes=True");
  }
  Document document = document_of("roofline", run);
  document.headline = {roofline_verdict(all, run.scope)};
  const bool is_partial = all.other_gpu_ns > 0 || std::ranges::any_of(all.points, &RooflinePoint::is_estimated);
  document.finding = {"", confidence_of(is_partial), ScopeSql(run.trace, run.scope).work()};
  document.tables = {defined(roofline_table(run)), defined(roofs_table(run))};
  if (all.other_gpu_ns > 0) {
    document.notes.push_back(fmt::format("{} of GPU time are of layers whose cost or roof is not known.",
                                         format_duration(all.other_gpu_ns)));
  }
  document.notes.emplace_back(
      "Roofs are what the vendor promises; `swinscope peaks` measures what this GPU reaches. Layers run one after the "
      "other: what overlaps takes longer than its own work.");
  return document;
}

Document collectives_document(const RunFacts& run) {
  Document document = document_of("collectives", run);
  document.tables = {defined(collectives_table(run))};
  if (document.tables.front().rows.empty()) {
    throw Error(ErrorKind::kFailure, run.trace.path + ": has no collectives",
                fmt::format("no communication kernel was recorded in the scope ({})", run.scope.title()), kSeeInfo);
  }
  std::ranges::move(collective_notes(run), std::back_inserter(document.notes));
  return document;
}

Document ranks_document(const RunFacts& run, bool with_facts) {
  Document document = document_of("ranks", run);
  document.headline = {late_rank_verdict(run)};
  if (with_facts) {
    const std::string abstained = late_rank_abstention(run);
    const bool is_doubtful = !run.waits().doubts().empty() || missing_ranks(run.trace).count > 0;
    document.facts = {{"verdict", "who waits for whom", document.headline.front()}};
    document.finding = {abstained, abstained.empty() ? confidence_of(is_doubtful) : "",
                        ScopeSql(run.trace, run.scope).communication()};
  }
  add_rows(late_ranks_table(run), document);
  add_rows(rank_summary_table(rank_summaries(run)), document);
  std::ranges::move(late_rank_notes(run), std::back_inserter(document.notes));
  document.notes.emplace_back(
      "to median: the rank's compute over the median of all. Compute, exposed communication, exposed copies and idle "
      "are per step.");
  return document;
}

Document ranges_document(const RunFacts& run, const RangeOptions& options) {
  const Trace& trace = run.trace;
  const RangeTable table = range_table(trace, run.scope, options);
  if (table.rows.empty()) refuse_ranges(run, options, table);
  Document document = document_of("ranges", run);
  const auto share = [&](std::int64_t part) {
    return ratio(100.0 * static_cast<double>(part), static_cast<double>(table.gpu_ns));
  };
  document.facts = {
      {"steps", "steps", run.scope.step_count(), Unit::kCount},
      {"gpu_ns", "GPU time", table.gpu_ns, Unit::kDuration},
      {"gpu_in_ranges_percent", "launched in a range", share(table.in_ranges_ns), Unit::kPercent},
      {"gpu_unknown_launch_percent", "launch not recorded", share(table.unknown_launch_ns), Unit::kPercent}};
  if (trace.gpu_event_count() == 0) document.facts.resize(1);
  document.tables = {defined(range_rows_table(trace, run.scope, table.rows))};
  add_range_notes(options, table, document.notes);
  return document;
}

Document info_document(const Trace& trace, bool with_environment) {
  const RunInfo first = trace.ranks.empty() ? RunInfo{} : trace.ranks.front().run;
  const std::int32_t world = world_size(trace);
  Document document = document_of("info", trace);
  document.facts = {{"path", "path", trace.path},
                    {"kind", "kind", trace.description},
                    {"recorded", "recorded", recorded_at(trace)},
                    {"command", "command", first.command.empty() ? Cell() : Cell(first.command)},
                    {"world_size", "world size", world == 0 ? Cell() : Cell(std::int64_t{world}), Unit::kCount},
                    {"ranks_present", "ranks present", rank_count(trace), Unit::kCount},
                    {"files", "files", static_cast<std::int64_t>(trace.files), Unit::kCount},
                    {"gpu_events", "GPU events", trace.gpu_event_count(), Unit::kCount}};
  document.tables.push_back(defined(recorded_ranks_table(trace)));
  add_rows(clocks_table(trace, ClockAlignment(trace)), document);
  add_rows(health_table(trace), document);
  add_rows(drop_table(trace), document);
  if (with_environment) {
    add_rows(collector_table(trace), document);
    document.tables.push_back(defined(environment_table(trace)));
  }
  return document;
}

}  // namespace swinscope
