#include "analyzer/tables.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/text.h"

namespace swinscope {
namespace {

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell int_cell(std::int64_t value) { return value; }

std::string_view method_name(StepMethod method) {
  switch (method) {
    case StepMethod::kNone:
      return "none";
    case StepMethod::kStepRanges:
      return "step ranges";
    case StepMethod::kProfilerStep:
      return "ProfilerStep annotations";
    case StepMethod::kAnnotation:
      return "annotated ranges";
    case StepMethod::kOptimizerStep:
      return "optimizer annotations";
    case StepMethod::kGraphLaunch:
      return "graph launches";
    case StepMethod::kKernelPeriod:
      return "repetition of kernels";
    case StepMethod::kOutputLines:
      return "lines of the output";
  }
  return "";
}

std::string dimensions(const Dim3& dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string styled_name(const Trace& trace, const KernelRow& row, NameStyle style) {
  const Rank& rank = trace.ranks[row.longest_rank_index];
  const bool is_kernel = rank.gpu.kind[row.longest_event] == GpuKind::kKernel;
  if (style == NameStyle::kShort) return is_kernel ? readable_kernel_name(row.name) : row.name;
  if (style == NameStyle::kMangled) return std::string(trace.text(rank.mangled_name(rank.gpu.name[row.longest_event])));
  return row.name;
}

}  // namespace

Table step_table(const Trace& trace, const RunScope& scope) {
  Table table{"steps",
              scope.is_of_repetitions() ? "Repetitions" : "Steps",
              {{"rank", "rank", Unit::kCount},
               {"steps", "measured", Unit::kCount},
               {"warmup_steps", "warm-up", Unit::kCount},
               {"step_ns", scope.is_of_repetitions() ? "repetition time" : "step time", Unit::kDuration},
               {"mean_ns", "mean range", Unit::kDuration, true},
               {"median_ns", "median range", Unit::kDuration},
               {"p99_ns", "p99", Unit::kDuration, true},
               {"min_ns", "min", Unit::kDuration},
               {"max_ns", "max", Unit::kDuration},
               {"method", "method"},
               {"how", "found by"}},
              {}};
  for (std::size_t i = 0; i < scope.steps().size(); ++i) {
    if (!scope.has_rank(i)) continue;
    const RankSteps& steps = scope.steps()[i];
    std::vector<std::int64_t> lengths;
    for (const Interval& step : steps.measured())
      lengths.push_back(step.length());
    const Summary s = summarize(lengths);
    const bool none = lengths.empty();
    const auto duration = [&](std::int64_t ns) { return none ? Cell() : Cell(ns); };
    const auto step_ns = scope.step_ns_of_rank(i);
    table.rows.push_back({int_cell(trace.ranks[i].run.rank), s.count, static_cast<std::int64_t>(steps.first_measured),
                          step_ns ? Cell(*step_ns) : Cell(), duration(std::llround(s.mean())), duration(s.median),
                          duration(s.p99), duration(s.min), duration(s.max), std::string(method_name(steps.method)),
                          steps.steps.empty() && steps.how.empty()
                              ? std::string("no step annotation and no period was found")
                              : steps.how});
  }
  return table;
}

Table utilization_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"utilization",
              "Utilization",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"events", "events", Unit::kCount},
               {"span_ns", "window", Unit::kDuration},
               {"busy_ns", "busy", Unit::kDuration},
               {"gpu_busy_percent", "gpu_busy", Unit::kPercent},
               {"gpu_compute_percent", "gpu_compute", Unit::kPercent},
               {"idle_ns", "idle", Unit::kDuration},
               {"idle_percent", "idle %", Unit::kPercent}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back({int_cell(d.rank), int_cell(d.device), d.events, d.total_ns(), d.busy_ns, 100 * d.gpu_busy(),
                          100 * d.gpu_compute(), d.idle_ns(), percent(d.idle_ns(), d.total_ns())});
  }
  return table;
}

Table cpu_utilization_table(const std::vector<CpuUtilization>& ranks) {
  Table table{"cpu_utilization",
              "CPU utilization",
              {{"rank", "rank", Unit::kCount},
               {"window_ns", "window", Unit::kDuration},
               {"process_cpu_ns", "process", Unit::kDuration},
               {"children_cpu_ns", "its children", Unit::kDuration},
               {"cores_allowed", "cores allowed", Unit::kNumber},
               {"cpu_util_percent", "cpu_util", Unit::kPercent}},
              {}};
  for (const CpuUtilization& r : ranks) {
    const auto used = r.utilization();
    table.rows.push_back({r.rank == kNoRank ? Cell() : int_cell(r.rank), r.window.length(), r.process_cpu_ns,
                          r.children_cpu_ns, r.cores_allowed > 0 ? Cell(r.cores_allowed) : Cell(),
                          used ? Cell(100 * *used) : Cell()});
  }
  return table;
}

Table thesis_table(const std::vector<ThesisUtilization>& ranks) {
  Table table{"thesis_utilization",
              "Utilization by the thesis's definition (share of summed kernel and CPU operation time)",
              {{"rank", "rank", Unit::kCount},
               {"kernel_ns", "kernels", Unit::kDuration},
               {"cpu_operation_ns", "CPU operations", Unit::kDuration},
               {"gpu_share_percent", "GPU share", Unit::kPercent},
               {"cpu_share_percent", "CPU share", Unit::kPercent},
               {"note", "note"}},
              {}};
  for (const ThesisUtilization& r : ranks) {
    const auto gpu = r.gpu_share();
    table.rows.push_back({int_cell(r.rank), r.kernel_ns, r.cpu_self_ns ? Cell(*r.cpu_self_ns) : Cell(),
                          gpu ? Cell(100 * *gpu) : Cell(), gpu ? Cell(100 * (1 - *gpu)) : Cell(),
                          std::string(!gpu                 ? "not available: no CPU operations were recorded"
                                      : r.is_of_cuda_calls ? "of CUDA calls and annotated operations"
                                                           : "")});
  }
  return table;
}

Table breakdown_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"breakdown",
              "Time breakdown",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"compute_ns", "compute", Unit::kDuration},
               {"math_ns", "matrix/attention", Unit::kDuration},
               {"unknown_ns", "unknown kernels", Unit::kDuration},
               {"communication_ns", "communication", Unit::kDuration, true},
               {"exposed_communication_ns", "comm exposed", Unit::kDuration},
               {"exposed_wait_ns", "of it waiting", Unit::kDuration, true},
               {"exposed_transfer_ns", "of it transfer", Unit::kDuration, true},
               {"overlap_percent", "overlap", Unit::kPercent},
               {"memory_ns", "copies and sets", Unit::kDuration, true},
               {"exposed_memory_ns", "copies exposed", Unit::kDuration},
               {"exposed_host_copy_ns", "of it host", Unit::kDuration},
               {"idle_ns", "idle", Unit::kDuration},
               {"idle_percent", "idle %", Unit::kPercent},
               {"sum_ns", "sum", Unit::kDuration}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back(
        {int_cell(d.rank), int_cell(d.device), d.compute_ns, d.math_ns, d.unknown_ns, d.communication_ns,
         d.exposed_communication_ns, d.exposed_wait_ns, d.exposed_wire_ns, optional_cell(d.overlap_percent()),
         d.memory_ns, d.exposed_memory_ns, d.exposed_host_copy_ns, d.idle_ns(), percent(d.idle_ns(), d.total_ns()),
         d.compute_ns + d.unknown_ns + d.exposed_communication_ns + d.exposed_memory_ns + d.idle.total_ns()});
  }
  return table;
}

Table idle_table(const std::vector<DeviceBreakdown>& devices) {
  Table table{"idle",
              "Idle, by cause",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"host_ns", "host", Unit::kDuration},
               {"synchronization_ns", "synchronization", Unit::kDuration},
               {"input_ns", "input", Unit::kDuration},
               {"communication_ns", "communication", Unit::kDuration},
               {"dependency_ns", "dependency", Unit::kDuration},
               {"other_ns", "other", Unit::kDuration},
               {"idle_ns", "sum", Unit::kDuration}},
              {}};
  for (const DeviceBreakdown& d : devices) {
    table.rows.push_back({int_cell(d.rank), int_cell(d.device), d.idle.host_ns, d.idle.synchronization_ns,
                          d.idle.input_ns, d.idle.communication_ns, d.idle.dependency_ns, d.idle.other_ns,
                          d.idle.total_ns()});
  }
  return table;
}

Table input_wait_table(const std::vector<HostPhases>& ranks) {
  Table table{"input_wait",
              "The host's wait for data",
              {{"rank", "rank", Unit::kCount},
               {"steps", "steps", Unit::kCount},
               {"input_ns", "waited", Unit::kDuration},
               {"input_per_step_ns", "per step", Unit::kDuration},
               {"longest_input_ns", "longest in a step", Unit::kDuration},
               {"steps_ns", "steps together", Unit::kDuration},
               {"input_percent", "of the steps", Unit::kPercent}},
              {}};
  for (const HostPhases& r : ranks) {
    table.rows.push_back({int_cell(r.rank), r.steps, r.input_ns, r.input_ns / std::max<std::int64_t>(1, r.steps),
                          r.longest_input_ns, r.step_ns, percent(r.input_ns, r.step_ns)});
  }
  return table;
}

Table launch_table(const std::vector<LaunchRow>& rows) {
  Table table{"launches",
              "Launches",
              {{"rank", "rank", Unit::kCount},
               {"kernels", "kernels", Unit::kCount},
               {"joined", "launch found", Unit::kCount},
               {"launched_before", "before recording", Unit::kCount},
               {"launch_not_recorded", "launch lost", Unit::kCount},
               {"api_total_ns", "API total", Unit::kDuration},
               {"api_median_ns", "API median", Unit::kDuration},
               {"api_p99_ns", "API p99", Unit::kDuration, true},
               {"queue_median_ns", "queue median", Unit::kDuration},
               {"queue_p99_ns", "queue p99", Unit::kDuration, true},
               {"delay_median_ns", "delay median", Unit::kDuration},
               {"delay_p99_ns", "delay p99", Unit::kDuration, true},
               {"tklqt_ns", "total launch+queue time", Unit::kDuration},
               {"akd_ns", "mean kernel", Unit::kDuration},
               {"mean_queue_length", "mean queue", Unit::kNumber},
               {"max_queue_length", "max queue", Unit::kCount}},
              {}};
  for (const LaunchRow& r : rows) {
    table.rows.push_back({int_cell(r.rank), r.kernels, r.joined, r.launched_before,
                          r.kernels - r.joined - r.launched_before, r.api_ns.total, r.api_ns.median, r.api_ns.p99,
                          r.queue_ns.median, r.queue_ns.p99, r.delay_ns.median, r.delay_ns.p99, r.tklqt_ns(),
                          r.mean_kernel_ns, r.mean_queue_length, r.max_queue_length});
  }
  return table;
}

Table layer_rows_table(const std::vector<LayerRow>& rows) {
  const bool has_dims = std::ranges::any_of(rows, [](const LayerRow& r) { return !r.input_dims.empty(); });
  Table table{"layers",
              "Layers",
              {{"path", "path"},
               {"phase", "phase"},
               {"operation", "operation"},
               {"precision", "precision", Unit::kText, true},
               {"calls", "calls", Unit::kCount},
               {"host_ns", "host", Unit::kDuration},
               {"host_median_ns", "host median", Unit::kDuration, true},
               {"gpu_ns", "GPU", Unit::kDuration},
               {"gpu_per_step_ns", "per step", Unit::kDuration},
               {"gpu_events", "GPU events", Unit::kCount, true},
               {"gflop", "GFLOP", Unit::kNumber},
               {"bytes_read", "read", Unit::kBytes},
               {"bytes_written", "written", Unit::kBytes},
               {"gflop_per_s", "GFLOP/s", Unit::kNumber},
               {"gbyte_per_s", "GB/s", Unit::kNumber},
               {"input_dims", "input dimensions", Unit::kText, !has_dims}},
              {}};
  for (const LayerRow& r : rows) {
    const auto rate = [&](std::int64_t amount) {
      // per ns is giga per second
      return r.work_ns() == 0 || !r.has_cost ? Cell()
                                             : Cell(static_cast<double>(amount) / static_cast<double>(r.work_ns()));
    };
    const auto of_cost = [&](Cell cell) { return r.has_cost ? std::move(cell) : Cell(); };
    table.rows.push_back({r.path, r.phase, r.operation, r.precision, r.calls, r.host.total, r.host.median,
                          r.gpu_events == 0 ? Cell() : Cell(r.gpu_ns),
                          r.gpu_events == 0 || r.steps == 0 ? Cell() : Cell(r.gpu_ns / r.steps), r.gpu_events,
                          of_cost(static_cast<double>(r.flops) / 1e9), of_cost(r.bytes_read), of_cost(r.bytes_written),
                          rate(r.flops), rate(r.bytes_read + r.bytes_written), r.input_dims});
  }
  return table;
}

Table thread_cpu_rows_table(const std::vector<ThreadCpuRow>& rows) {
  Table table{"threads",
              "CPU time by thread",
              {{"rank", "rank", Unit::kCount},
               {"tid", "thread", Unit::kValue},
               {"name", "name"},
               {"cpu_ns", "CPU time", Unit::kDuration}},
              {}};
  for (const ThreadCpuRow& r : rows) {
    table.rows.push_back({int_cell(r.rank), int_cell(tid_of(r.global_tid)), r.name, r.cpu_ns});
  }
  return table;
}

Table bound_table(const Verdict& verdict, const RunScope& scope) {
  const std::string per = scope.is_of_steps() ? fmt::format("per {}", scope.unit()) : "per device";
  Table table{
      "bounds",
      fmt::format("Where the time goes (sum {} {})", format_duration(verdict.whole_part_ns), per),
      {{"bound", "bound by"}, {"share_percent", "share", Unit::kPercent}, {"per_step_ns", per, Unit::kDuration}},
      {}};
  if (!verdict.has_parts) return table;
  for (std::size_t i = 0; i < kBounds; ++i) {
    const Bound bound{static_cast<std::uint8_t>(i)};
    table.rows.push_back({std::string(bound_name(bound)), 100 * verdict.share(bound), verdict.part_ns[i]});
  }
  return table;
}

Table kernel_rows_table(const Trace& trace, const RunScope& scope, const std::vector<KernelRow>& rows,
                        NameStyle style) {
  Table table{"kernels",
              "Kernels",
              {{"name", "name"},
               {"full_name", "full name", Unit::kText, true},
               {"rank", "rank", Unit::kCount, rows.empty() || rows.front().rank < 0},
               {"operation", "operation"},
               {"class", "class", Unit::kText, true},
               {"calls", "calls", Unit::kCount},
               {"total_ns", "total", Unit::kDuration},
               {"busy_share_percent", "of busy", Unit::kPercent},
               {"per_step_ns", fmt::format("per {}", scope.unit()), Unit::kDuration},
               {"mean_ns", "mean", Unit::kDuration},
               {"median_ns", "median", Unit::kDuration},
               {"p95_ns", "p95", Unit::kDuration, true},
               {"p99_ns", "p99", Unit::kDuration},
               {"min_ns", "min", Unit::kDuration, true},
               {"max_ns", "max", Unit::kDuration},
               {"bytes", "bytes", Unit::kBytes, true},
               {"achieved_gbps", "GB/s", Unit::kNumber, true},
               {"registers_per_thread", "registers", Unit::kCount, true},
               {"shared_memory_bytes", "shared memory", Unit::kBytes, true},
               {"grid", "grid", Unit::kText, true},
               {"block", "block", Unit::kText, true},
               {"launch_configurations", "configurations", Unit::kCount, true}},
              {}};
  for (const KernelRow& r : rows) {
    const bool is_kernel = r.configs > 0;
    const auto of_kernel = [&](Cell cell) { return is_kernel ? std::move(cell) : Cell(); };
    table.rows.push_back(
        {styled_name(trace, r, style),
         r.name,
         r.rank < 0 ? Cell() : int_cell(r.rank),
         r.operation ? Cell(std::string(operation_name(*r.operation))) : Cell(),
         std::string(class_name(r.gpu_class)),
         r.duration.count,
         r.duration.total,
         100 * r.busy_share,
         r.steps == 0 ? Cell() : Cell(r.per_step_ns()),
         r.duration.mean(),
         r.duration.median,
         r.duration.p95,
         r.duration.p99,
         r.duration.min,
         r.duration.max,
         r.bytes == 0 ? Cell() : Cell(r.bytes),
         r.bytes == 0 ? Cell() : Cell(r.gigabytes_per_second()),
         of_kernel(int_cell(r.config.registers_per_thread)),
         of_kernel(int_cell(std::int64_t{r.config.static_shared_bytes} + r.config.dynamic_shared_bytes)),
         of_kernel(dimensions(r.config.grid)),
         of_kernel(dimensions(r.config.block)),
         of_kernel(r.configs)});
  }
  return table;
}

}  // namespace swinscope
